"""Progress of a run on standard error: devices, failures, frames done and time left."""

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tqdm import tqdm

from framefleet.app.cli.run.summary import number_of
from framefleet.app.streams import print_line
from framefleet.engine.pool import events
from framefleet.engine.pool.progress import SourceProgress
from framefleet.engine.types import DeviceId

PLAIN_SECONDS = 10.0  # between two lines if standard error is not a terminal
REASONS = 3  # the most reasons for failed frames that are printed for a source; the results contain all


class Bar(tqdm):  # type: ignore[misc]
    """A progress bar without a thread of its own, since its owner updates it often."""

    monitor_interval = 0


class Progress:
    """Shows the events of a run. quiet: only failures.

    sources: the session's, by number; before the first event, all of them are queued or were finished by an earlier run. clock: monotonic
    seconds.
    """

    def __init__(self, sources: Mapping[int, SourceProgress], quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._sources = sources
        self._clock = clock
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
        bar = "{desc}{percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt} frames, {elapsed} < {remaining}, {rate_noinv_fmt}{postfix}"
        self._bar = Bar(
            total=0, unit=" frames", file=sys.stderr, bar_format=bar, dynamic_ncols=True, leave=False, disable=quiet or self._plain
        )

    def say(self, text: str) -> None:
        """Print one line above the bar."""
        self._bar.clear()
        print_line(text, sys.stderr)
        self._bar.refresh()

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
            case events.FramesDone(source, frames):
                self._show_frames(source, len(frames))
            case events.SourceFinished(source, ledger, _, error):
                path = self._sources[source].path
                name = path.name
                if error is not None:
                    self.say(error if name in error else f"{name}: {error}")
                if ledger.failed:
                    common = sorted(ledger.failed.items(), key=lambda entry: -entry[1])
                    reasons = ", ".join(f"{reason.removeprefix(f'{path}: ')} ({count})" for reason, count in common[:REASONS]) + (
                        ", …" if common[REASONS:] else ""
                    )
                    self.say(f"{name}: {sum(ledger.failed.values()):,} of {number_of(ledger.decoded, 'frame')} failed: {reasons}")

    def _show_building(self, event: events.EngineBuilding) -> None:
        """Show the phase of the build: in the bar at once, as lines every PLAIN_SECONDS."""
        done = f"{event.phase} {100 * event.fraction:.0f} %" if event.fraction else event.phase
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
        total = max(self._frames, self._bar.total)
        line = f"{self._frames} of {number_of(total, 'frame')} ({100 * self._frames // total} %)"
        if len(self._sources) > 1:
            line = f"{sum(source.finished is not None for source in self._sources.values())} of {len(self._sources)} files, {line}"
        if seconds < 1:
            return line
        speed = self._frames / seconds
        return f"{line}, {speed:.1f} frames/s, {(total - self._frames) / speed:.0f} s left"

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()


def draws() -> bool:
    """Whether standard error is a terminal that can show a bar. The terminal of a container may report zero lines."""
    return sys.stderr.isatty() and os.get_terminal_size(sys.stderr.fileno()).lines > 0


def _short(path: Path, length: int = 24) -> str:
    return path.name if len(path.name) <= length else f"{path.name[: length - 1]}…"
