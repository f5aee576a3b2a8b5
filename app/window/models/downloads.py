"""Downloads of models that go on in the background, whether or not the list of models is open."""

from __future__ import annotations

import time
from collections import deque
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.window.session.background import Background
from engine.model.registry.cancellation import Cancellation
from engine.model.registry.catalogue import ModelEntry
from engine.model.registry.installed import models_folder
from engine.settings import ModelFiles

LOOK_MS = 100
SPEED_SECONDS = 3.0
"""The speed shown is that of this much time."""


class Running:
    """One download under way. done: bytes of the weights that are there; written by its thread, read by the window's."""

    def __init__(self) -> None:
        self.cancellation = Cancellation()
        self.done = 0
        self._samples: deque[tuple[float, int]] = deque()

    def advance(self, done: int) -> None:
        """Called in the download's thread."""
        self.done = done

    def sample(self) -> None:
        """Note how far it is."""
        now = time.monotonic()
        if self._samples and self.done < self._samples[-1][1]:
            self._samples.clear()  # it began anew
        if self.done:
            self._samples.append((now, self.done))
        while len(self._samples) > 2 and now - self._samples[0][0] > SPEED_SECONDS:
            self._samples.popleft()

    @property
    def speed(self) -> float | None:
        """Bytes a second, None while unknown."""
        if len(self._samples) < 2 or self._samples[-1][0] - self._samples[0][0] < 0.5:
            return None
        (before, had), (now, has) = self._samples[0], self._samples[-1]
        return (has - had) / (now - before)


class ModelDownloads(QObject):
    """Belongs to the window's thread. progressed: the names under way, ten times a second. ended: a name, and its files or None."""

    progressed = Signal(object)
    ended = Signal(str, object)

    def __init__(self, background: Background, folder: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = folder or models_folder()
        self.errors: dict[str, str] = {}
        self._background = background
        self._running: dict[str, Running] = {}
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)

    @property
    def names(self) -> tuple[str, ...]:
        """The models under way."""
        return tuple(self._running)

    def running(self, name: str) -> Running | None:
        """The download of this model, if it is under way."""
        return self._running.get(name)

    def start(self, entry: ModelEntry) -> None:
        """Download a model, or continue; harmless if it is under way."""
        if entry.name in self._running:
            return
        self.errors.pop(entry.name, None)
        running = self._running[entry.name] = Running()
        self._background.start(
            partial(_download, entry, self.folder, running), partial(self._finish, entry.name), partial(self._fail, entry.name)
        )
        self._timer.start()
        self.progressed.emit(self.names)

    def cancel(self, name: str) -> None:
        """Give one up; what there is stays, to be continued."""
        if (running := self._running.get(name)) is not None:
            running.cancellation.cancel()

    def stop(self) -> None:
        """Give all up: the window closes."""
        self._timer.stop()
        for running in self._running.values():
            running.cancellation.cancel()

    @Slot()
    def _look(self) -> None:
        for running in self._running.values():
            running.sample()
        self.progressed.emit(self.names)

    def _finish(self, name: str, files: ModelFiles) -> None:
        self._end(name, files)

    def _fail(self, name: str, message: str) -> None:
        if not self._running[name].cancellation.asked:
            self.errors[name] = message
        self._end(name, None)

    def _end(self, name: str, files: ModelFiles | None) -> None:
        del self._running[name]
        if not self._running:
            self._timer.stop()
        self.ended.emit(name, files)


def _download(entry: ModelEntry, folder: Path, running: Running) -> ModelFiles:
    from engine.model.registry.download import download  # its libraries take a tenth of a second to load

    return download(entry, folder, running.advance, running.cancellation)
