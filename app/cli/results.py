"""``framefleet results SESSION``: writes the stored results of an earlier run in any format."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from framefleet.app.cli import options, sessions
from framefleet.app.terminal import print_line
from framefleet.engine.notices import UsageError, literal
from framefleet.engine.settings.checks import part_problem
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.store.exporters.options import Every
from framefleet.engine.store.reader import Span
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.store.zones import require_any_tracks


def run(argv: Sequence[str]) -> int:
    """Write the files. Exit status 0: all files are written; 1: a file could not be written.

    Raises FramefleetError if the session cannot be read or has no results, a class is unknown, or the folder cannot be made.
    """
    parser = options.make_parser(
        "results",
        "Write the stored results of an earlier run in other formats.",
        arguments="SESSION",
        examples=(
            "detections --format csv,coco",
            "detections --confidence 0.5 --classes person,car --out people",
            "detections --zones crossing.json --interval 15m",
            "detections --source a.mp4 --from 1:30 --to 2:00 --format video",
        ),
    )
    sessions.add_session_argument(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the files (beside the database)")
    sessions.add_format_options(parser)
    parser.add_argument("--every", type=options.checked(Every.read), metavar="N|TIME", help="yolo: every Nth frame, or a frame every 1s")
    parser.add_argument("--confidence", type=options.fraction, metavar="0..1", help="least confidence written (the run's)")
    parser.add_argument("--classes", type=options.some_names, metavar="LIST", help="labels or class ids to write: person,car … (all)")
    parser.add_argument("--source", action="append", metavar="NAME", help="only this source; several: repeat the option (all)")
    options.add_settings(parser, "begin", "end")
    tracks = "only detections of these tracks: 3,7 …, or any: of any track (all)"
    parser.add_argument("--tracks", type=_tracks, metavar="any|LIST", help=tracks)
    parser.add_argument("--uncorrected", action="store_true", help="the model's results, without what a person corrected")
    options.add_settings(parser, "clock", "time_zone")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.set_defaults(format=None)
    arguments = parser.parse_args(argv)
    arguments.format = arguments.format or (["zones"] if arguments.zones else ["jsonl"])
    settings = options.chosen_settings(arguments)
    clock, span = _clock(settings), Span(settings.get("begin"), settings.get("end"))
    if problem := part_problem(span.begin, span.end):
        raise UsageError(problem)
    databases = sessions.session_databases(arguments.session)
    if len(databases) > 1:
        databases = [each for each in databases if _has_source(each, arguments.source)] or databases[-1:]
    results = [each for each in databases if _has_results(each, arguments.source)]
    if not results:
        raise UsageError(literal(_why_none(databases[-1], arguments.source)))
    return max(_write(each, arguments, clock, span) for each in results)


def _has_source(database: Path, names: Sequence[str] | None) -> bool:
    """Whether a part of a session has one of the sources that the user wants; the last part says which sources there are."""
    with SessionReader(database) as reader:
        known = {name for source in reader.sources() for name in (source.name, source.path)}
    return names is None or bool(known & set(names))


def _has_results(database: Path, names: Sequence[str] | None) -> bool:
    """Whether a session has results of a source that the user wants: frames, or that the whole video has none."""
    with SessionReader(database) as reader:
        return any(source.kind is not None and (source.complete or reader.count(source.number)) for source in _chosen(reader, names))


def _why_none(database: Path, names: Sequence[str] | None) -> str:
    """Why a session has no results of the sources that the user wants."""
    with SessionReader(database) as reader:
        errors = [source.error for source in _chosen(reader, names) if source.error is not None]
    why = str(errors[0]) if errors else "no frame of a source is stored"
    more = f"; {sessions.number_of(len(errors) - 1, 'other source')} failed, too" if len(errors) > 1 else ""
    return f"{database} has no results: {why}{more}"


def _chosen(reader: SessionReader, names: Sequence[str] | None) -> list[StoredSource]:
    """The sources that the user wants. Raises UsageError if there is none of a name."""
    sources = reader.sources()
    numbers = None if names is None else {options.named_source(sources, name).number for name in names}
    return [source for source in sources if numbers is None or source.number in numbers]


def _write(database: Path, arguments: argparse.Namespace, clock: ClockSettings | None, span: Span) -> int:
    """Write the files of a session. Returns the exit status."""
    part = span if span != Span() else None
    whole = SessionReader(database, corrected=not arguments.uncorrected, span=part, tracks=arguments.tracks)
    with whole as reader, reader.steady():
        sessions.choose_detections(reader, arguments.confidence, arguments.classes)
        _check_tracks(reader, arguments.tracks)
        chosen = replace(sessions.export_options(arguments, reader.labels, reader.facts), clock=clock)
        folder = sessions.folder_of_part(database, arguments.out)
        sources = _chosen(reader, arguments.source)
        chosen_sources = arguments.source and {source.number for source in sources}
        counted = []
        if chosen.zones is not None:
            require_any_tracks(reader, sources)
            counted = sessions.count_sources(reader, chosen.zones, chosen_sources)
        exported, written = sessions.export(
            reader, folder, arguments.format, arguments.quiet, chosen, chosen_sources, arguments.overwrite, whole=not chosen_sources
        )
        if clock is not None:
            sessions.note_untimed(reader, sources, clock)
        last = sessions.Summary(reader, chosen.least_seen, chosen_sources).line()
    for line in sessions.counts_lines(counted, arguments.verbose):
        print_line(line)
    sessions.print_exported(exported, arguments.verbose)
    if last:
        print_line(last)
    return 0 if written and not any("error" in each for each in counted) else 1


@options.checked
def _tracks(text: str) -> frozenset[int]:
    """Read a list of tracks, or ``any``, which is the empty set."""
    return frozenset() if text == "any" else frozenset(options.numbers(text))


def _check_tracks(reader: SessionReader, wanted: frozenset[int] | None) -> None:
    """Raise UsageError if the user wants tracks that no source has."""
    numbers = [source.number for source in reader.sources()]
    if wanted is None or not numbers:
        return
    if not any(reader.is_tracked(number) for number in numbers):
        raise UsageError(literal(f"{reader.path} has no tracks: 'framefleet track {reader.path.parent}' adds them"))
    if missing := sorted(wanted.difference(*({track for track, *_ in reader.tracks(number)} for number in numbers))):
        raise UsageError(literal(f"no source has track {missing[0]}: give numbers that are in the column track of --format csv"))


def _clock(settings: Mapping[str, Any]) -> ClockSettings | None:
    """The clock times in place of the stored ones, None if no option asks for them."""
    clock, zone = settings.get("clock"), settings.get("time_zone")
    if clock is None and zone is not None:
        raise UsageError(literal("--time-zone is for --clock"))
    return None if clock is None else ClockSettings(clock, zone)
