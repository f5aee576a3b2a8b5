"""``framefleet clips SESSION``: cuts the appearances of objects out of the videos of an earlier run."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from framefleet.app.cli import options
from framefleet.app.cli.sessions import Writing, add_session_argument, choose_detections, number_of, session_databases
from framefleet.app.terminal import print_line
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice, UsageError, literal
from framefleet.engine.settings.kinds import Moment, Moments
from framefleet.engine.store import appearances, facts
from framefleet.engine.store.clips import ClipNaming, plan_clips, write_clips
from framefleet.engine.store.session import SessionReader

MANY = 1000
"""More clips than this are refused: they are too many to look at, and they may fill the disk."""


def run(argv: Sequence[str]) -> int:
    """Write the clips. Exit status 0: all are written; 1: those of a video could not be written, or nothing appears.

    Raises FramefleetError if the session cannot be read, or the options do not fit it.
    """
    arguments = _parser().parse_args(argv)
    padding, gap = _seconds(arguments.padding, "--padding"), _seconds(arguments.gap, "--gap")
    databases = session_databases(arguments.session)
    folder, failed, written = arguments.out or databases[-1].parent / "clips", False, 0
    for database in databases:
        some_failed, count = _write(database, arguments, folder, padding, gap)
        failed, written = failed or some_failed, written + count
    if not written and not failed:
        print("framefleet: nothing appears in the videos: try a lower --confidence or other --class", file=sys.stderr)
    return 1 if failed or not written else 0


def _write(database: Path, arguments: argparse.Namespace, folder: Path, padding: float, gap: float) -> tuple[bool, int]:
    """Write the clips of a session. Returns whether some could not be written, and the number of files."""
    failed, written = False, 0
    with SessionReader(database) as reader:
        choose_detections(reader, arguments.confidence, arguments.classes)
        sources = reader.sources() if arguments.source is None else [options.named_source(reader.sources(), arguments.source)]
        videos = [source for source in sources if source.kind in (SourceKind.VIDEO, SourceKind.LIVE)]
        if not videos:
            what = f"{database} has no videos" if arguments.source is None else f"{sources[0].path} is not a video that was detected"
            raise UsageError(literal(f"{what}: clips are cut out of videos"))
        silent = [each for each in videos if each.kind is SourceKind.LIVE and not facts.RecordedFiles.of(reader.facts, each.number).files]
        if silent:
            what = f"left out, because they were not recorded: {number_of(len(silent), 'stream')}; see 'framefleet detect --record'"
            print_line(f"framefleet: {what}", sys.stderr)
            videos = [each for each in videos if each not in silent]
        if pictures := sum(source.kind is SourceKind.IMAGES for source in sources):
            print_line(f"framefleet: left out: {number_of(pictures, 'source')} of pictures; clips are cut out of videos", sys.stderr)
        if arguments.by == appearances.By.TRACK and not any(reader.tracks(source.number) for source in videos):
            raise UsageError(literal(f"{database} has no tracks: run 'framefleet track {arguments.session}' first, or give --by class"))
        plans = [(source, plan_clips(reader, source, appearances.By(arguments.by), padding, gap)) for source in videos]
        count = sum(len(clips) for _, clips in plans)
        if count > MANY:
            raise UsageError(
                literal(f"these are {count:,} clips, more than {MANY:,}: choose classes, a higher --confidence or a longer --gap")
            )
        naming = ClipNaming.of(reader)
        for source, clips in plans:
            if not clips:
                continue
            files = len(clips) + sum(len({*clip.best}) for clip in clips) * arguments.stills
            notes: list[Notice] = []
            try:
                with closing(Writing(arguments.quiet)) as writing:
                    paths = write_clips(
                        *(reader, source, clips, folder),
                        naming=naming,
                        exact=arguments.exact,
                        stills=arguments.stills,
                        overwrite=arguments.overwrite,
                        progress=partial(_show, writing, source.name, files),
                        notes=notes,
                        waiting=lambda other: print_line(f"framefleet: waiting until {other} has written to {folder}", sys.stderr),
                    )
                for path in paths:
                    print_line(path)
                written += len(paths)
            except ExportError as error:
                print_line(f"framefleet: {error}", sys.stderr)
                failed = True
            for note in notes:
                print_line(f"framefleet: {note}", sys.stderr)
    return failed, written


def _show(writing: Writing, source: str, files: int, done: int) -> None:
    writing.tell(f"clips of {source}, {done} of {files}", done, files)


def _parser() -> argparse.ArgumentParser:
    parser = options.make_parser(
        "clips",
        "Cut the appearances of objects out of the videos of an earlier run. Clips are copied without encoding, so they begin at the\n"
        "keyframe before and, with B-frames, end up to four frames late; --exact encodes them.",
        arguments="SESSION",
        examples=("detections --class person --padding 2s", "detections --by track --class car --exact --stills --out cars"),
    )
    add_session_argument(parser)
    words = "labels or class ids: person,car … (all)"
    parser.add_argument("--class", "--classes", dest="classes", type=options.some_names, metavar="LIST", help=words)
    words = "a clip for each time a class is seen, joined where they overlap, or for each track (class)"
    parser.add_argument("--by", choices=[*map(str, appearances.By)], default=appearances.By.CLASS.value, help=words)
    moment = options.checked(Moments().read)
    parser.add_argument("--padding", type=moment, default="2s", metavar="TIME", help="time before and after each appearance (2s)")
    parser.add_argument("--gap", type=moment, default="1s", metavar="TIME", help="longest time without the class within an appearance (1s)")
    parser.add_argument("--confidence", type=options.fraction, metavar="0..1", help="least confidence of detections that count (the run's)")
    parser.add_argument("--source", metavar="NAME", help="only this video")
    parser.add_argument("--exact", action="store_true", help="encode, so that clips begin and end exactly")
    parser.add_argument("--stills", action="store_true", help="also write the frame of each appearance's highest confidence")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the files (clips beside the database)")
    parser.add_argument("--overwrite", action="store_true", help="replace files of the same names that Framefleet did not write")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def _seconds(moment: Moment, option: str) -> float:
    if moment.seconds is None:
        raise UsageError(literal(f"{option} is a time: write {moment.frames}s"))
    return float(moment.seconds)
