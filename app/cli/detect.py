"""``framefleet detect SOURCE…``: detects objects in files and writes the results."""

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Self, TypeVar

from framefleet.app.cli import options, sessions
from framefleet.app.cli.options import make_parser
from framefleet.app.cli.runs import CLUSTER, Run, add_run_options, connected, reported
from framefleet.app.terminal import print_line
from framefleet.engine.media.live.address import LiveAddress, hide
from framefleet.engine.media.live.messages import RecordSettings
from framefleet.engine.media.sources import expand_sources, is_folder, is_picture, pictures_in, unreadable_pictures
from framefleet.engine.media.types import Sampling, SourceKind
from framefleet.engine.model.files import class_ids
from framefleet.engine.model.load import check_model
from framefleet.engine.notices import SourceError, UsageError, literal
from framefleet.engine.pool import events
from framefleet.engine.pool.live_sources import LiveSource
from framefleet.engine.run.alerts import AlertRule, Alerts, AlertSettings
from framefleet.engine.run.resume import storing
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import Hint, Parallel, RunSettings, Track, table
from framefleet.engine.store import destinations, schema
from framefleet.engine.store.exporters.options import view_facts, view_options
from framefleet.engine.store.facts import SHARD, SHOWN, ZONES
from framefleet.engine.store.files import lock_session, note_session, session_parts
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import EngineInfo
from framefleet.engine.zones import file, shapes

_Source = TypeVar("_Source")


@dataclass(frozen=True)
class Shard:
    """One part of the sources. number: from 1 to ``count``."""

    number: int
    count: int

    @classmethod
    def read(cls, text: str) -> Self:
        """Read ``i/n``, such as ``2/8``. Raises UsageError."""
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
        number, count = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= count:
            raise UsageError(literal(f"'{text}' is not a shard: write i/n with i from 1 to n, such as 2/8 for the second of eight jobs"))
        return cls(number, count)

    @property
    def folder(self) -> str:
        """The name of the folder for the results."""
        return f"shard-{self.number}-of-{self.count}"

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def choose(self, sources: Sequence[Path], named: Sequence[Path]) -> dict[int, Path]:
        """Return the sources of this shard, by their position in ``sources``.

        A digest of the path below the common folder of ``named`` decides. So the choice is the same on machines that have the folder in
        different places, and a file that is added changes the shard of no other file. named: the paths that the user gave.
        """
        base = _common_folder(named)
        digests = (blake2b(os.fsencode(_relative(path, base)), digest_size=8).digest() for path in sources)
        shards = (int.from_bytes(digest, "big") % self.count + 1 for digest in digests)
        return {position: path for position, (path, shard) in enumerate(zip(sources, shards, strict=True)) if shard == self.number}


def _common_folder(named: Sequence[Path]) -> str:
    try:
        return os.path.commonpath([path if path.is_dir() else path.parent for path in map(_absolute, named)])
    except ValueError:  # on different drives
        return ""


def _relative(path: Path, base: str) -> str:
    return (_absolute(path).relative_to(base) if base else _absolute(path)).as_posix()


def _absolute(path: Path) -> Path:
    return Path(schema.absolute(str(Path.cwd()), str(path)))


MODEL_OPTIONS = {".cfg": "--model", ".onnx": "--model", ".weights": "--weights", ".names": "--labels"}
"""The option for a model's file with each suffix."""


def run(argv: Sequence[str]) -> int:
    """Detect in the sources, and write the results.

    Exit status 0: no frame failed; 1: some frames, sources or results failed; 2: no source could be used; 128 + signal: interrupted.

    Raises FramefleetError if the model, the settings or the folder for the results cannot be used.
    """
    arguments = detect_parser().parse_args(argv)
    return reported(lambda run: _detect(run, arguments), arguments.json, arguments.quiet)


def _detect(run: Run, arguments: argparse.Namespace) -> None:
    live = live_sources(arguments)
    if cfg := next((source for source in arguments.sources if source.suffix.lower() in MODEL_OPTIONS), None):
        raise UsageError(
            literal(f"{cfg} belongs to a model and cannot be searched for objects: give it with {MODEL_OPTIONS[cfg.suffix.lower()]}")
        )
    settings, labels = settings_of(arguments)
    exporting = sessions.export_options(arguments, labels)
    alerts = _alerts(arguments, settings, labels, exporting.zones)
    sources, out = [] if live else _sources(arguments.sources, arguments.out / sessions.DATABASE), arguments.out
    if arguments.format == ["video"] and sources and all(is_folder(source) or is_picture(source) for source in sources):
        raise UsageError(literal("--format video draws into videos, and these are pictures: choose jsonl or coco"))
    shown = settings.engine.stored_confidence  # the run below may store weaker ones
    facts = {SHOWN: str(shown), **view_facts(exporting)}
    if exporting.zones is not None:
        facts[ZONES] = file.zones_text(exporting.zones)
    chosen, shard = dict(enumerate(sources)), arguments.shard
    if shard is not None:
        chosen, out, facts = shard.choose(sources, arguments.sources), out / shard.folder, {**facts, SHARD: str(shard)}
        if not arguments.quiet:
            print_line(f"framefleet: shard {shard} has {len(chosen)} of {len(sources)} sources, results go to {out}", sys.stderr)
    earlier = set(session_parts(out / sessions.DATABASE)) if live else set()
    with lock_session(out / sessions.DATABASE) as lock:
        settings = storing(settings, None if arguments.restart else out / sessions.DATABASE)
        if (out / sessions.DATABASE).exists():
            _check_part(chosen.values(), Sampling(settings.begin, settings.end, settings.every))
        with connected(arguments.cluster, arguments.quiet) as cluster:
            started = time.monotonic()
            session = run.detect(
                settings,
                out / sessions.DATABASE,
                labels,
                chosen,
                arguments.restart,
                lock,
                facts,
                cluster,
                exporting.zones,
                streams=live,
                alerts=alerts,
            )
            seconds = time.monotonic() - started
        if session.withdrawn:
            return
        note_session(session.database)
        least = shown if shown > settings.engine.stored_confidence else 0.0
        parts = _parts(session, earlier) if live and run.interruption.number is None else []
        with SessionReader(session.database, least) as reader:
            exporting = replace(exporting, **view_options(reader.facts))  # also those of an earlier run
            counting = exporting.zones if run.interruption.number is None else None
            counted = [sessions.count_sources(reader, counting, session.sources)] if counting is not None else []
            if settings.clock_settings.clock is not None:
                stored = [source for source in reader.sources() if source.number in session.sources]
                sessions.note_untimed(reader, stored, settings.clock_settings)
            exported = run.export(reader, out, arguments.format, exporting, arguments.overwrite)
            for part in parts:
                with SessionReader(part, least) as moved:
                    if counting is not None:
                        counted.append(sessions.count_sources(moved, counting, session.sources))
                    exported += run.export(moved, sessions.folder_of_part(part, out), arguments.format, exporting, arguments.overwrite)
            if others := len(session_parts(session.database)) - len(parts) if live else 0:
                words = f"{sessions.number_of(others, 'part')} of the session, of earlier hours, beside it"
                print_line(f"framefleet: {words}: 'framefleet results {out}' takes all", sys.stderr)
            untracked = [] if settings.track is Track.NONE else sessions.untracked_lines(reader, session.sources)
            found = (
                None
                if arguments.json or run.interruption.number is not None
                else sessions.Summary(reader, exporting.least_seen, session.sources, parts)
            )
    counts = sessions.counts_together(counted) if counted else []
    if arguments.zones:
        run.figures["zones"] = sessions.without_notes(counts)
        run.written = run.written and not any("error" in each for each in counts)
    if arguments.json:
        return
    last = "" if found is None else found.line(seconds, session.inferred_before)
    files = _lines(session, {} if found is None else found.found)
    many = len(session.sources) > sessions.MAX_LINES and not arguments.verbose  # the progress has named the problems
    if arguments.quiet:
        lines = [*untracked, *(f"{line}{_devices(run.engines)}" for line in ([last] if last else files))]
    else:
        lines = [*([] if many else files), *untracked, *sessions.counts_lines(counts, arguments.verbose)]
    for line in lines:
        print_line(line)
    if not arguments.quiet:
        sessions.print_exported(exported, arguments.verbose)
        if last:
            print_line(last)


def _parts(session: DetectionRun, earlier: Collection[Path]) -> list[Path]:
    """The parts into which a run has moved what its streams stored; none if they are many. earlier: those that were there before."""
    found = []
    for part in session_parts(session.database):
        if part not in earlier:
            with SessionReader(part) as reader:
                if any(source.number in session.sources for source in reader.sources()):
                    found.append(part)
    return found if len(found) <= sessions.MAX_PARTS else []


def detect_parser() -> argparse.ArgumentParser:
    """Make the parser of the command's options."""
    parser = make_parser(
        "detect",
        "Detect objects in videos, pictures and folders of them.",
        arguments="SOURCE…",
        examples=(
            "street.mp4 --model yolov4-tiny",
            "rtsp://10.0.0.5/stream1 --netrc cameras.netrc --model yolov4-tiny",
            "street.mp4 --model street.cfg --format jsonl,video --out results",
            "pictures/ --model yolov4-tiny --classes person,car --confidence 0.5 --json",
        ),
    )
    parser.add_argument(
        "sources", nargs="+", type=_source, metavar="SOURCE", help="a video, a picture, a folder of them, rtsp://…, http://…, or camera:0"
    )
    options.add_model_options(parser)
    reported = ("confidence", "iou", "classes")
    recording = ("record_minutes", "session_minutes", "record_days", "record_gib")
    options.add_settings(parser.add_argument_group("how"), *(name for name in table.TABLE if name not in (*reported, *recording)))
    options.add_settings(parser.add_argument_group("what"), *reported)
    streams = parser.add_argument_group("cameras and streams")
    streams.add_argument("--follow", action="store_true", help="the sources are files that other programs still write: go on as they grow")
    streams.add_argument("--netrc", type=Path, metavar="FILE", help="users and passwords of hosts, in the format of curl and ftp")
    words = "where passwords come from: the system's key ring, with the Python package keyring"
    streams.add_argument("--password-from", choices=["keyring"], help=words)
    words = "give a source up if this many attempts to connect again fail in a row (never)"
    streams.add_argument("--retries", type=options.checked(_retries), metavar="N", help=words)
    words = "also write what the streams send into files in DIR, as it comes, without encoding"
    streams.add_argument("--record", type=Path, metavar="DIR", help=words)
    words = "record this address instead, such as that of a camera's main stream; once for each stream, in the same order"
    streams.add_argument("--record-from", action="append", type=_address, metavar="ADDRESS", default=[], help=words)
    options.add_settings(streams, *recording)
    words = "raise an alert, such as class=person, zone=door, count=2, for=3s, quiet=60s; may be given several times"
    streams.add_argument("--alert", action="append", type=options.checked(AlertRule.read), metavar="RULE", default=[], help=words)
    words = "run this for each alert, without a shell, with a line of JSON on its standard input; alerts.jsonl has the lines, too"
    streams.add_argument("--alert-command", metavar="CMD", help=words)
    results = parser.add_argument_group("results")
    results.add_argument(
        "--out", type=Path, default=Path("detections"), metavar="DIR", help=f"results and {sessions.DATABASE} go there (detections)"
    )
    sessions.add_format_options(results)
    words = "one of N jobs: detect in the sources of this one only, with results in DIR/shard-I-of-N; 'framefleet merge' joins them"
    results.add_argument("--shard", type=options.checked(Shard.read), metavar="I/N", help=words)
    results.add_argument("--cluster", metavar="ADDRESS", help=CLUSTER)
    results.add_argument("--restart", action="store_true", help="begin again instead of going on with an interrupted or earlier run")
    add_run_options(results, "end standard output with one line, a JSON object of the run's figures")
    return parser


@options.checked
def _source(text: str) -> Path | LiveAddress:
    """Read a path or an address. An empty one would be the current folder: a script's variable is not set."""
    if not text:
        raise UsageError(literal("'' names no file"))
    return LiveAddress.read(text) or Path(text)


@options.checked
def _address(text: str) -> LiveAddress:
    if (address := LiveAddress.read(text)) is None:
        raise UsageError(literal(f"'{hide(text)}' is not an address of a stream"))
    return address


def _retries(text: str) -> int:
    if not re.fullmatch(r"\d{1,6}", text):
        raise UsageError(literal(f"'{text}' is not a number of attempts"))
    return int(text)


def live_sources(arguments: argparse.Namespace) -> list[LiveSource]:
    """The live sources that the arguments name; none = files and folders. Sets what live sources need and the user has not chosen.

    Raises UsageError if an option does not suit them.
    """
    named: list[Path | LiveAddress] = arguments.sources
    if arguments.follow:
        named = [LiveAddress.growing(source) if isinstance(source, Path) else source for source in named]
    addresses = _each_once([source for source in named if isinstance(source, LiveAddress)], lambda address: address.target)
    if not addresses:
        given = {
            "--retries": arguments.retries,
            "--netrc": arguments.netrc,
            "--password-from": arguments.password_from,
            "--record": arguments.record,
        }
        given |= {"--alert": arguments.alert or None, "--alert-command": arguments.alert_command}
        if wrong := next((option for option, value in given.items() if value is not None), None):
            raise UsageError(literal(f"{wrong} is for streams, and the sources are files"))
        return []
    files = [source for source in named if isinstance(source, Path)]
    if files:
        raise UsageError(literal(f"{files[0]} is a file and {addresses[0]} a stream: detect in them with two commands"))
    chosen = options.chosen_settings(arguments)
    unfit = {"--shard": arguments.shard, "--cluster": arguments.cluster, "--from": chosen.get("begin"), "--every": chosen.get("every")}
    if wrong := next((option for option, value in unfit.items() if value is not None), None):
        raise UsageError(literal(f"{wrong} is for files, and {addresses[0]} is a stream"))
    if chosen.get("parallel", Parallel.AUTO) not in (Parallel.AUTO, Parallel.STREAMS):
        raise UsageError(literal(f"{addresses[0]} is a stream, and each stream stays on one device: leave out --parallel"))
    end = chosen.get("end")
    if end is not None and end.seconds is None:
        raise UsageError(literal(f"--to has to be a time for {addresses[0]}, such as 90s, which is a stream"))
    arguments.parallel, arguments.end = Parallel.STREAMS, None
    arguments.hint = chosen.get("hint", Hint.LATENCY)
    arguments.sources = []
    for address in addresses:
        address.check_file()
    others: list[LiveAddress] = arguments.record_from
    if others and arguments.record is None:
        raise UsageError(literal("--record-from says what to record: say where with --record DIR"))
    if len(others) not in (0, len(addresses)):
        raise UsageError(
            literal(f"--record-from has to be given once for each stream: there are {len(addresses)}, and {len(others)} of it")
        )
    return [
        LiveSource(
            _with_login(address, arguments),
            arguments.retries,
            None if end is None else end.seconds,
            record_settings(arguments.record, address, chosen),
            _with_login(other, arguments) if other is not None else None,
            bool(arguments.alert),
        )
        for address, other in zip_longest(addresses, others)
    ]


def _with_login(address: LiveAddress, arguments: argparse.Namespace) -> LiveAddress:
    if arguments.netrc is not None:
        address = address.with_netrc(arguments.netrc)
    return address if arguments.password_from is None else address.with_key_ring()


def record_settings(folder: Path | None, address: LiveAddress, values: Mapping[str, Any]) -> RecordSettings | None:
    """How a stream is recorded. folder: None: not. values: of settings, by name.

    Raises UsageError if the folder cannot be made.
    """
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(literal(f"--record {folder}: {error.strerror}")) from error
    return RecordSettings(str(folder.absolute()), address.name, values.get("record_minutes", table.DEFAULTS["record_minutes"]))


def _alerts(arguments: argparse.Namespace, settings: RunSettings, labels: Sequence[str], zones: shapes.ZoneSet | None) -> Alerts | None:
    """The alerts that the user asked for. Raises UsageError if they do not fit the model, the chosen classes or the zones."""
    if not arguments.alert:
        if arguments.alert_command is not None:
            raise UsageError(literal("--alert-command runs for alerts: say when with --alert"))
        return None
    out: Path = arguments.out
    engine, asked = settings.engine, AlertSettings.of(arguments.alert, out, arguments.alert_command, out / sessions.DATABASE)
    return Alerts(asked, labels, engine.stored_confidence, zones, engine.classes)


def settings_of(arguments: argparse.Namespace) -> tuple[RunSettings, tuple[str, ...]]:
    """The settings, and the model's labels."""
    model = options.model_files(arguments, arguments.size)
    summary = check_model(model)
    labels = summary.labels
    if not arguments.quiet:
        for said in (summary.labels_source, *summary.notes):
            print_line(f"framefleet: {said}", sys.stderr)
    chosen = options.chosen_settings(arguments)
    if arguments.zones and chosen.setdefault("track", Track.BYTETRACK) is Track.NONE:
        raise UsageError(literal("--zones counts tracks: leave out '--track none'"))
    return RunSettings.of(model, chosen | {"classes": class_ids(chosen.get("classes"), labels)}), labels


def _sources(paths: Sequence[Path], database: Path) -> list[Path]:
    """The sources that these paths name, each once. A path without a source stays: the run counts it as failed and says why.

    Videos and folders of pictures that Framefleet wrote into a folder do not count as its sources. database: the session of the run, which
    may know them.

    Raises SourceError if no source is given.
    """
    sources, missing = [], []
    for path in paths:
        try:
            sources += _without_outputs(path, database) if is_folder(path) else expand_sources([path])
        except SourceError as error:
            sources.append(path)
            missing.append(str(error))
    if len(missing) == len(paths):
        for problem in missing[:-1]:
            print_line(f"framefleet: {problem}", sys.stderr)
        raise SourceError(literal(missing[-1]))
    return _each_once(sources, _absolute)


def _check_part(sources: Iterable[Path], part: Sampling) -> None:
    """Raise SourceError if no source has this part, so that a mistyped time does not replace an earlier session."""
    from framefleet.engine.media.probe import probe  # loads FFmpeg

    problem: SourceError | None = None
    for source in sources if part != Sampling() else ():
        try:
            probe(source, part)
        except SourceError as error:
            problem = problem or error
        else:
            return
    if problem is not None:
        raise problem


def _each_once(sources: Sequence[_Source], key: Callable[[_Source], object]) -> list[_Source]:
    """Leave out sources that are named again, and say so. key: what equal sources have in common."""
    once: dict[object, _Source] = {}
    for source in sources:
        once.setdefault(key(source), source)
    if repeated := len(sources) - len(once):
        words = f"{sessions.number_of(repeated, 'source')} named more than once, and used once"
        print_line(f"framefleet: {words}", sys.stderr)
    return list(once.values())


def _without_outputs(folder: Path, database: Path) -> list[Path]:
    if others := unreadable_pictures(folder):
        number, some = sessions.number_of(len(others), "picture"), ", ".join(path.name for path in others[:3])
        words = f"left out, because their format cannot be read: {number} in {folder} ({some}{', …' * (len(others) > 3)})"
        print_line(f"framefleet: {words}; convert them to JPEG to use them", sys.stderr)
    found = expand_sources([folder])

    @cache
    def places(path: Path) -> list[Path]:
        """The folders in which a path is, up to the named one."""
        return [place for place in path.parents if place.is_relative_to(folder)]

    pictures = {source: pictures_in(source) for source in found if is_folder(source) and source != folder}
    paths = {*found, *chain.from_iterable(pictures.values()), *chain.from_iterable(map(places, found))} - {folder}
    written = destinations.outputs_among(
        paths, lambda path: (database, *(place / sessions.DATABASE for place in (path.parent, *places(path.parent))))
    )
    outputs = {
        source
        for source in found
        if not written.isdisjoint((source, *places(source))) or (source in pictures and written.issuperset(pictures[source]))
    }
    if outputs:
        folders = sum(map(is_folder, outputs))
        counts = (len(outputs) - folders, "video", "videos"), (folders, "folder of pictures", "folders of pictures")
        number = " and ".join(sessions.number_of(*each) for each in counts if each[0])
        print_line(f"framefleet: left out, because Framefleet wrote them: {number} in {folder}; name one to use it", sys.stderr)
    if len(outputs) == len(found):
        raise SourceError(literal(f"Framefleet wrote all videos and pictures in {folder}: name a file, or a folder of pictures, to use it"))
    return [source for source in found if source not in outputs]


def _lines(session: DetectionRun, found: Mapping[int, str]) -> list[str]:
    """A line for each file that could be opened; the progress has said what is wrong with the others. found: see ``Summary.found``."""
    lines = []
    for number, state in session.sources.items():
        if state.error is None or state.ledger.decoded:
            new = state.ledger.inferred - state.before
            rate = f", {new / state.seconds:.1f} frames/s" if state.seconds else ""
            decoder = f", {state.decoder.notice}" if state.decoder.notice is not None else ""
            left_out = "" if state.ledger.decoded or not state.ledger.skipped else "no frame is in the chosen part"
            what = f"{words}; " if (words := found.get(number) or left_out) else ""
            unit = "picture" if state.info is not None and state.info.kind is SourceKind.IMAGES else "frame"
            count = f"{sessions.number_of(state.ledger.inferred, unit)}{f', {new:,} of them new,' if state.before else ''}"
            name = state.path if state.address is None else state.address
            count += _lost(state.ledger)
            latency = "" if state.latency is None else f", {state.latency[0]:.0f} ms to boxes (p99 {state.latency[1]:.0f} ms)"
            lines.append(f"{name}: {what}{count} in {state.seconds:.1f} s{rate}{latency}{decoder}")
    return lines


def _lost(ledger: events.Ledger) -> str:
    """What became of the frames of a live source that were not inferred, with a comma before it; "" for other sources."""
    if ledger.received is None:
        return ""
    losses = sorted({**ledger.dropped, **ledger.failed}.items(), key=lambda each: -each[1])
    return f" of {ledger.received:,} received" + (f" ({', '.join(f'{count:,} {reason}' for reason, count in losses)})" if losses else "")


def _devices(engines: Iterable[EngineInfo]) -> str:
    """The devices that the run used, with backend and precision."""
    used = [f"{engine.device} ({engine.backend}, {engine.precision})" for engine in engines]
    return f", on {', '.join(used)}" if used else ""
