"""Downloads of models in the background, also while the list of models is closed."""

import time
from collections import deque
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from framefleet.app.window.session.background import Background
from framefleet.engine.model.registry.cancellation import Cancellation
from framefleet.engine.model.registry.catalogue import ModelEntry
from framefleet.engine.model.registry.installed import models_folder
from framefleet.engine.settings import ModelFiles

PROGRESS_MS = 100
"""Time between two updates of the progress."""
SPEED_SECONDS = 3.0
"""The speed is the mean over this time."""


class Download:
    """A running download. done: number of received bytes; the download's thread writes it, the window's thread reads it."""

    def __init__(self) -> None:
        self.cancellation = Cancellation()
        self.done = 0
        self._samples: deque[tuple[float, int]] = deque()

    def advance(self, done: int) -> None:
        """Set the bytes so far; the download's thread calls this."""
        self.done = done

    def sample(self) -> None:
        """Record the progress for ``speed``."""
        now = time.monotonic()
        if self._samples and self.done < self._samples[-1][1]:
            self._samples.clear()  # the download started again
        if self.done:
            self._samples.append((now, self.done))
        while len(self._samples) > 2 and now - self._samples[0][0] > SPEED_SECONDS:
            self._samples.popleft()

    @property
    def speed(self) -> float | None:
        """Bytes per second, None while unknown."""
        if len(self._samples) < 2 or self._samples[-1][0] - self._samples[0][0] < 0.5:
            return None
        (start, before), (end, after) = self._samples[0], self._samples[-1]
        return (after - before) / (end - start)


class ModelDownloads(QObject):
    """Runs downloads; only the window's thread calls it.

    progressed: names of the running downloads, ten times a second. ended: a name, and ModelFiles, or None if it failed or was cancelled.
    """

    progressed = Signal(object)
    ended = Signal(str, object)

    def __init__(self, background: Background, folder: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = folder or models_folder()
        self.errors: dict[str, str] = {}
        self._background = background
        self._running: dict[str, Download] = {}
        self._timer = QTimer(self, interval=PROGRESS_MS)
        self._timer.timeout.connect(self._show_progress)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the models that are being downloaded."""
        return tuple(self._running)

    def running(self, name: str) -> Download | None:
        """The running download of this model, None if there is none."""
        return self._running.get(name)

    def start(self, entry: ModelEntry) -> None:
        """Start or continue a download, unless it runs already."""
        if entry.name in self._running:
            return
        self.errors.pop(entry.name, None)
        running = self._running[entry.name] = Download()
        self._background.start(
            self, partial(_download, entry, self.folder, running), partial(self._end, entry.name), partial(self._fail, entry.name)
        )
        self._timer.start()
        self.progressed.emit(self.names)

    def cancel(self, name: str) -> None:
        """Cancel a download; it can be continued later."""
        if (running := self._running.get(name)) is not None:
            running.cancellation.cancel()

    def stop(self) -> None:
        """Cancel all downloads."""
        self._timer.stop()
        for running in self._running.values():
            running.cancellation.cancel()

    def _show_progress(self) -> None:
        for running in self._running.values():
            running.sample()
        self.progressed.emit(self.names)

    def _fail(self, name: str, message: str) -> None:
        if not self._running[name].cancellation.asked:
            self.errors[name] = message
        self._end(name, None)

    def _end(self, name: str, files: ModelFiles | None) -> None:
        del self._running[name]
        if not self._running:
            self._timer.stop()
        self.ended.emit(name, files)


def _download(entry: ModelEntry, folder: Path, running: Download) -> ModelFiles:
    from framefleet.engine.model.registry.download import download  # its libraries take a tenth of a second to load

    return download(entry, folder, running.advance, running.cancellation)
