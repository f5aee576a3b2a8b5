"""All tables of texts, joined. Each part of the engine has one: a file of this folder with ``TEXTS``."""

from framefleet.engine.notices import (
    backends,
    bench,
    cluster,
    cuda,
    detection,
    devices,
    evaluation,
    general,
    media,
    model,
    plugins,
    pool,
    processes,
    run,
    settings,
    store,
    tracking,
    zones,
)

PARTS = (
    *(general, settings, processes, model, detection, tracking, zones, cuda, devices, media),
    *(plugins, backends, pool, cluster, store, evaluation, bench, run),
)

TEXTS = {code: text for part in PARTS for code, text in part.TEXTS.items()}
