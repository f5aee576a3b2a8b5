"""All tables of texts, joined. Each part of the engine that says something has one: a file of this folder with ``TEXTS``."""

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
    *(general, settings, processes, model, tracking, zones, cuda, detection, devices, media),
    *(plugins, backends, pool, store, evaluation, run, bench, cluster),
)

TEXTS = {code: text for part in PARTS for code, text in part.TEXTS.items()}
