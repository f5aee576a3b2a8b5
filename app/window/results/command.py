"""The command that writes the same files as the Export dialog."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from framefleet.engine.store.exporters.common.options import DEFAULTS, Every, ExportOptions, Least
from framefleet.engine.store.facts import SHOWN
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.view import View

ZONES = "ZONES.json"
"""Stands for a file with the lines and zones, which the panel of lines and zones exports."""


def command_of(view: View, sources: Sequence[str], forms: Sequence[str], folder: Path, options: ExportOptions) -> str:
    """Return ``framefleet results …`` as text for a shell. sources: their names, none = all.

    Raises ExportError if the session cannot be read.
    """
    with SessionReader(view.path, created=view.created) as reader:
        labels, stored = reader.labels, float(reader.facts.get(SHOWN, 0.0))
    words = ["framefleet", "results", str(view.path), "--format", ",".join(forms), "--out", str(folder)]
    for name in sources:
        words += ["--source", name]
    if view.span is not None:
        words += [word for flag, moment in (("--from", view.span.begin), ("--to", view.span.end)) if moment for word in (flag, str(moment))]
    if view.confidence != stored:
        words += ["--confidence", f"{view.confidence:g}"]
    if view.classes is not None:
        words += ["--classes", ",".join(labels[number] if labels[number].isprintable() else str(number) for number in sorted(view.classes))]
    if view.tracks is not None:
        words += ["--tracks", ",".join(map(str, sorted(view.tracks))) or "any"]
    return shlex.join([*words, *_options(options)])


def _options(options: ExportOptions) -> Iterator[str]:
    if options.interval != DEFAULTS.interval:
        yield from ("--interval", f"{options.interval:g}s")
    if options.bom:
        yield "--bom"
    if options.one_table:
        yield "--one-table"
    if options.coco_ids:
        yield "--coco-ids"
    if options.pictures is not None:
        yield from ("--pictures", options.pictures)
    if options.every != Every():
        yield from ("--every", _amount(options.every))
    if options.least_seen != Least():
        yield from ("--least-seen", _amount(options.least_seen))
    if options.between is not None:
        yield from ("--between", ",".join(f"{share:g}" for share in options.between))
    if options.category_map:
        yield from ("--category-map", ",".join(f"{label}={category}" for label, category in options.category_map.items()))
    if options.draw != DEFAULTS.draw:
        yield from ("--draw", ",".join(sorted(options.draw)))
    if options.zones is not None:
        yield from ("--zones", ZONES)


def _amount(value: Every | Least) -> str:
    return str(value.frames) if value.seconds is None else f"{value.seconds:g}s"
