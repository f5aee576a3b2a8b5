"""Shared by ``detect`` and ``demo``: do a run with progress on standard error, and report how it ended."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from framefleet.app.cli.interrupt import Interrupted, Interruption, interruptible
from framefleet.app.cli.sessions import LiveZones, export, number_of
from framefleet.app.terminal import PLAIN_SECONDS, draws, print_line
from framefleet.engine.media.live.messages import LiveState
from framefleet.engine.notices import FramefleetError, Notice, printable, render
from framefleet.engine.pool import events
from framefleet.engine.pool.events import DeviceReady, FramesDone, SourceProgress
from framefleet.engine.pool.live_sources import LiveSource
from framefleet.engine.processes.file_lock import FileLock
from framefleet.engine.run.alerts import Alerts
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import RunSettings
from framefleet.engine.store.export import Exported
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.exporters.options import DEFAULTS, ExportOptions
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import AS_ASKED, DeviceId, EngineInfo
from framefleet.engine.zones.shapes import ZoneSet

if TYPE_CHECKING:
    from framefleet.engine.cluster.connection import ClusterConnection


QUICK_FRAMES = 20_000
"""After an interruption, results of more frames are not written to files, since the command has to end within 3 s."""

MAX_NOTES = 10
"""Most sentences about an earlier run that are printed."""

_log = logging.getLogger(__name__)


class Run:
    """One run. session: None until it begins. error: what ended it early. written: whether all results could be written.

    figures: further keys of the report.
    """

    def __init__(self, interruption: Interruption, quiet: bool) -> None:
        self.interruption = interruption
        self.quiet = quiet
        self.session: DetectionRun | None = None
        self.engines: list[EngineInfo] = []
        self.error: str | None = None
        self.written = True
        self.figures: dict[str, Any] = {}

    def detect(
        self,
        settings: RunSettings,
        database: Path,
        labels: Sequence[str],
        sources: Mapping[int, Path],
        restart: bool = False,
        lock: FileLock | None = None,
        facts: Mapping[str, str] = MappingProxyType({}),
        cluster: ClusterConnection | None = None,
        zones: ZoneSet | None = None,
        choice: Notice = AS_ASKED,
        streams: Sequence[LiveSource] = (),
        alerts: Alerts | None = None,
    ) -> DetectionRun:
        """Detect in these sources, with progress on standard error. Returns the session, which is closed.

        sources: by their numbers. streams: live sources. alerts: of these. restart, lock, facts: as for ``DetectionRun``. cluster: that has
        the devices, None = this machine. zones: whose counts belong to the progress. choice: the reason of a precision that the settings
        name.

        Raises FramefleetError if the run cannot begin, or its results cannot be stored.
        """
        engines = {}
        _log.info("%d sources, results in %s", len(sources), database)
        begun = DetectionRun(settings, database, labels, restart=restart, lock=lock, facts=facts, hosts=cluster, alerts=alerts)
        with begun as session, self.interruption.cancelling(session.cancel):
            self.session = session
            with closing(Progress(session.sources, self.quiet, live=bool(streams))) as progress:
                for number, source in sources.items():
                    session.add(source, number)
                for stream in streams:
                    session.add_stream(stream)
                session.finish()
                notes = session.notes
                for note in notes[:MAX_NOTES]:
                    progress.say(f"{note} (--restart detects again)" if note.code == "run.sources_kept" else str(note))
                if len(notes) > MAX_NOTES:
                    progress.say(f"… and {len(notes) - MAX_NOTES} more sources like these")
                counting = None if zones is None or self.quiet else LiveZones(database, zones)
                for event in session.events():
                    _log.debug("%s", type(event).__name__)
                    if isinstance(event, DeviceReady) and event.engine.reason == AS_ASKED:
                        event = DeviceReady(replace(event.engine, reason=choice))
                    if counting is not None and isinstance(event, FramesDone) and (counted := counting.text(event.source)):
                        progress.show_counts(counted)
                    progress.show(event)
                    if isinstance(event, events.AlertRaised) and event.reason.code == "live.alert_not_written":
                        self.written = False
                    if isinstance(event, DeviceReady):
                        engines[event.engine.device] = event.engine
                        self.engines = list(engines.values())
                for note in session.notes:
                    if note not in notes:  # where results were kept that the run has replaced
                        progress.say(str(note))
        return session

    def export(
        self,
        reader: SessionReader,
        folder: Path,
        formats: Sequence[str],
        options: ExportOptions = DEFAULTS,
        overwrite: bool = False,
    ) -> list[Exported]:
        """Write the results as ``export`` does. After an interruption, write only what takes no time, and say how to write the rest."""
        if self.interruption.number is not None:
            frames = sum(reader.count(source.number) for source in reader.sources())
            later = [name for name in formats if EXPORTERS[name].slow or frames > QUICK_FRAMES]
            if later and frames:
                command = f"framefleet results {reader.path.parent} --format {','.join(later)}"
                print_line(
                    f"framefleet: {', '.join(later)} not written, because the run was interrupted; '{command}' does that", sys.stderr
                )
            formats = [name for name in formats if name not in later]
        mine = None if self.session is None else self.session.sources
        exported, written = export(reader, folder, formats, self.quiet, options, mine, overwrite)
        self.written = self.written and written
        return exported

    @property
    def outcome(self) -> tuple[str, int]:
        """How the run ended, as a word and as an exit status."""
        if self.interruption.number is not None:
            return "interrupted", self.interruption.exit_status
        states = list(self.session.sources.values()) if self.session is not None else []
        # a shard may have no source
        if self.error is None and states and all(state.error is not None and not state.ledger.inferred for state in states):
            return "unusable", 2
        if self.session is None:
            return "unusable", 2
        clean = all(state.error is None and state.ledger.balanced and not state.ledger.failed for state in states)
        return ("ok", 0) if clean and self.written and self.error is None else ("failed", 1)

    def report(self) -> dict[str, Any]:
        """The run in numbers, for ``--json``. The key ``error`` exists only after an error that ended the run."""
        word, _ = self.outcome
        figures = self.session.report(word) if self.session is not None else {"sources": [], "devices": [], "exit": word}
        return figures | self.figures | ({} if self.error is None else {"error": self.error})


def reported(work: Callable[[Run], None], as_json: bool, quiet: bool) -> int:
    """Do the work of a run, and return its exit status. as_json: end standard output with the report, also after an error.

    Raises FramefleetError if the run cannot begin.
    """
    with interruptible() as interruption:
        run = Run(interruption, quiet)
        try:
            work(run)
        except Interrupted:
            print("framefleet: interrupted", file=sys.stderr)
        except Exception as error:
            run.error = str(error)
            if run.session is None or not isinstance(error, FramefleetError):
                raise
            _log.debug("the run ends", exc_info=True)
            print_line(f"framefleet: {error}", sys.stderr)
        finally:
            interruption.ignore()
            if as_json:
                print(json.dumps(run.report()), flush=True)
        return run.outcome[1]


def add_run_options(group: argparse._ActionsContainer, json_help: str) -> None:
    """Add ``--json`` and ``--quiet``."""
    group.add_argument("--json", action="store_true", help=json_help)
    group.add_argument("--quiet", action="store_true", help="print errors, what an earlier run did, and the last line only")


REASONS = 3  # the most reasons for failed frames that are printed for a source; the results contain all


def _beside(path: Path, reason: Notice) -> str:
    """Why frames of a source failed, without the source's path at the beginning, since its name is shown before the reason."""
    named = reason.fields.get("path") == path
    return render(reason, lambda template: template.removeprefix("{path}: ")) if named else str(reason)


def progress_bar(**options: Any) -> Any:
    """A bar of tqdm with these options. It has no thread of its own, since its owner updates it often."""
    from tqdm import tqdm  # not before the workers start

    tqdm.monitor_interval = 0
    return tqdm(**options, dynamic_ncols=True, file=sys.stderr)


class Progress:
    """Shows the events of a run. quiet: only failures.

    sources: the session's, by number; before the first event, all of them are queued or were finished by an earlier run. clock: monotonic
    seconds. live: whether the sources are live.
    """

    def __init__(
        self, sources: Mapping[int, SourceProgress], quiet: bool, clock: Callable[[], float] = time.monotonic, live: bool = False
    ) -> None:
        self._sources = sources
        self._clock = clock
        self._live = live
        self._queued = 0
        self._opened = 0
        self._frames = 0
        self._announced = 0
        self._doing: dict[DeviceId, str] = {}
        self._counts = ""
        self._started = 0.0
        self._next_line = 0.0
        self._next_building: dict[DeviceId, float] = {}
        self._quiet = quiet
        self._plain = not quiet and not draws()

    @cached_property
    def _bar(self) -> Any:
        shown = "{desc}{percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt} frames, {elapsed} < {remaining}, {rate_noinv_fmt}{postfix}"
        if self._live:  # without an end
            shown = "{desc}{n_fmt} frames, {elapsed}, {rate_noinv_fmt}{postfix}"
        return progress_bar(total=0, unit=" frames", bar_format=shown, leave=False, disable=self._quiet or self._plain)

    def say(self, text: str) -> None:
        """Print one line above the bar."""
        bar = self._bar if self._has_bar else None
        if bar is not None:
            bar.clear()
        print_line(text, sys.stderr)
        if bar is not None:
            bar.refresh()

    @property
    def _has_bar(self) -> bool:
        """Whether the bar is drawn already. It is not before the workers start."""
        return "_bar" in vars(self)

    def show_counts(self, text: str) -> None:
        """Show the current counts at lines and in zones, in the bar or with the next line."""
        self._counts = text
        self._show_doing()

    def show(self, event: events.Event) -> None:
        """Show an event."""
        match event:
            case events.StrategyChosen(strategy, reason) if not self._quiet:
                self.say(f"work is shared by {strategy}: {reason}")
            case events.DeviceStarting(device, attempt) if not self._quiet or attempt > 1:
                self.say(f"{device}: starting" + (f" again (attempt {attempt})" if attempt > 1 else ""))
            case events.EngineBuilding() if not self._quiet:
                self._show_building(event)
            case events.DeviceReady(engine):
                self._forget(engine.device)
                if self._quiet:
                    return
                size = f"{engine.width}×{engine.height}, batch {engine.batch}"
                self.say(f"{engine.device}: {engine.device_name}, {engine.backend}, {engine.precision} ({engine.reason}), {size}")
            case events.DeviceFailed(device, message, restarting):
                self._forget(device)
                self.say(f"{device}: {message}" + ("" if restarting else "; this device is not used any more"))
            case events.DeviceLeft(device):
                self._forget(device)
                self.say(f"{device}: has left")
            case events.DeviceStats(device) if not event.final:
                self._show_speed(event)
            case events.SourceOpened(source, info):
                if not self._opened:
                    self._queued = sum(source.finished is None for source in self._sources.values())
                self._opened += 1
                self._announced += info.to_do - self._sources[source].before
                self._bar.total = round(self._announced * self._queued / self._opened)  # expects as many frames in the others
                if info.note is not None:
                    self.say(str(info.note))
            case events.StreamChanged(source, state, reason, _) if not self._quiet:
                self.say(f"{self._sources[source].address}: {state.value.replace('_', ' ')}: {reason}")
            case events.EpochStarted(source, number, reason, _) if number and not self._quiet:
                self.say(f"{self._sources[source].address}: the frames from here on continue none before: {reason}")
            case events.AlertRaised(source, rule, reason):
                self.say(f"{self._sources[source].address}: {reason} ({rule})")
            case events.StreamRecording(source, _, reason, _) if not self._quiet:
                self.say(f"{self._sources[source].address}: {reason}")
            case events.FramesDone(source, frames):
                self._show_frames(source, len(frames))
            case events.SourceFinished(source, ledger, _, error):
                path = self._sources[source].path
                name = path.name
                if error is not None and error.code == "pool.no_device_left":
                    self.say(f"{name}: no device is left")  # the device's own line has said why
                elif error is not None:
                    self.say(str(error) if error.mentions(path) else f"{name}: {error}")
                if ledger.failed:
                    common = sorted(ledger.failed.items(), key=lambda entry: -entry[1])
                    reasons = ", ".join(f"{_beside(path, reason)} ({count})" for reason, count in common[:REASONS])
                    reasons += ", …" if common[REASONS:] else ""
                    self.say(f"{name}: {sum(ledger.failed.values()):,} of {number_of(ledger.decoded, 'frame')} failed: {reasons}")

    def _show_building(self, event: events.EngineBuilding) -> None:
        """Show the phase of the build: in the bar at once, as lines every PLAIN_SECONDS."""
        done = f"{event.phase} {100 * event.fraction:.0f} %" if event.fraction else str(event.phase)
        if self._plain:
            now = self._clock()
            if now >= self._next_building.get(event.device, now):
                self._next_building[event.device] = now + PLAIN_SECONDS
                self.say(f"{event.device}: {done}")
            return
        self._doing[event.device] = f"{event.device} {done}"
        self._show_doing()
        if not self._started:
            self._bar.set_description_str(f"{' · '.join(self._doing.values())} ")  # at the left, where a narrow terminal shows it

    def _forget(self, device: DeviceId) -> None:
        """Remove the device's text from the bar."""
        self._doing.pop(device, None)
        self._next_building.pop(device, None)
        self._show_doing()
        if not self._started:
            self._bar.set_description_str("")

    def _show_doing(self) -> None:
        parts = [*filter(None, (self._counts, *self._doing.values()))]
        self._bar.set_postfix_str(" · ".join(parts) if self._started else "", refresh=False)

    def _show_speed(self, stats: events.DeviceStats) -> None:
        latency = "" if stats.latency_p50 is None else f" {stats.latency_p50:.0f} ms"
        self._doing[stats.device] = f"{stats.device} {stats.frames_per_second:.1f}/s{latency}"
        self._show_doing()

    def _show_frames(self, source: int, count: int) -> None:
        now = self._clock()
        if not self._started:
            self._started = now
            self._bar.unpause()  # the time until now is the engine's
        self._frames += count
        self._bar.set_description_str(f"{_short(self._sources[source].path)} ", refresh=False)
        self._bar.update(count)
        if self._plain and now >= self._next_line:
            self._next_line = now + PLAIN_SECONDS
            self.say(self._line(now - self._started) + (f"; {self._counts}" if self._counts else ""))

    def _line(self, seconds: float) -> str:
        if self._live:
            return self._live_line(seconds)
        total = max(self._frames, self._bar.total)
        line = f"{self._frames} of {number_of(total, 'frame')} ({100 * self._frames // total} %)"
        if len(self._sources) > 1:
            line = f"{sum(source.finished is not None for source in self._sources.values())} of {len(self._sources)} files, {line}"
        if seconds < 1:
            return line
        speed = self._frames / seconds
        return f"{line}, {speed:.1f} frames/s, {(total - self._frames) / speed:.0f} s left"

    def _live_line(self, seconds: float) -> str:
        sources = self._sources.values()
        running = sum(source.state is not None and source.state.state is LiveState.RUNNING for source in sources)
        dropped = sum(sum(source.ledger.dropped.values()) for source in sources)
        failed = sum(sum(source.ledger.failed.values()) for source in sources)
        counts = f"{number_of(self._frames, 'frame')} inferred, {dropped:,} dropped, {failed:,} failed"
        return f"{running} of {number_of(len(sources), 'stream')} running, {counts}, {self._frames / max(1.0, seconds):.1f} frames/s"

    def close(self) -> None:
        """Remove the bar."""
        if self._has_bar:
            self._bar.close()


def _short(path: Path, length: int = 24) -> str:
    name = printable(path.name)
    return name if len(name) <= length else f"{name[: length - 1]}…"


CLUSTER = "use the devices of a Ray cluster: HOST:PORT, or auto if it runs on this machine; --devices takes NODE/cuda:0, too"


@contextmanager
def connected(address: str | None, quiet: bool) -> Iterator[ClusterConnection | None]:
    """Connect to a cluster until the block ends, with messages on standard error. address: None = there is none, which yields None.

    Raises ClusterError or UsageError if it cannot be used.
    """
    if address is None:
        yield None
        return

    from framefleet.engine.cluster.connection import ClusterConnection  # few runs need it

    def say(said: Notice | str) -> None:
        print_line(f"framefleet: {said}", sys.stderr)

    if not quiet:
        say(f"connecting to the cluster at {address}")
    with ClusterConnection(address, say) as cluster:
        yield cluster
