"""Helpers for tests of the window."""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QMimeData, QObject, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage, QUndoStack
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from framefleet.app.window.actions import Actions
from framefleet.app.window.keys.bindings import Bindings
from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.results.export_line import ExportLine
from framefleet.app.window.settings.preferences import Preferences
from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import Ledger, SourceFinished, SourceProgress
from framefleet.engine.settings import Decode, Hint, Isolation, ModelFiles, Parallel, Precision, Resize, Track
from framefleet.engine.settings.clock import ClockSource
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.types import Detections, DeviceId, EngineInfo, FrameRef, FrameResult
from tests.support.notices import words
from tests.support.store import video_info

CPU = DeviceId("cpu", "0")


def changed_preferences(model: ModelFiles, **others: Any) -> Preferences:
    """Preferences in which each stored setting except the devices differs from its default. others: values of other settings."""
    changed: dict[str, Any] = {
        "precision": Precision.FP32,
        "resize": Resize.LETTERBOX,
        "parallel": Parallel.TILES,
        "batch": 4,
        "confidence": 0.35,
        "iou": 0.6,
        "decode": Decode.CPU,
        "columns": 4,
        "rows": 2,
        "overlap": 0.15,
        "full_frame": False,
        "isolation": Isolation.THREAD,
        "decode_threads": 3,
        "latency_budget": 12.5,
        "hint": Hint.LATENCY,
        "track": Track.BYTETRACK,
        "begin": Moment(seconds=Fraction(3, 2)),
        "end": Moment(frames=2700),
        "every": Moment(seconds=Fraction(1)),
        "clock": ClockSource.NAME,
        "time_zone": ZoneInfo("Europe/Berlin"),
    }
    return Preferences.of(model, **changed | others)


Kind = TypeVar("Kind", bound=QObject)


def feature(window: QMainWindow, kind: type[Kind]) -> Kind:
    """The first object of this class that belongs to a window."""
    found = window.findChild(kind)
    assert found is not None, kind
    return found


def window_actions() -> Actions:
    """The actions of an empty window with the default keys."""
    return Actions(QMainWindow(), Bindings(QSettings(os.devnull, QSettings.Format.IniFormat)), QUndoStack(), ExportLine())


def engine_info(device: DeviceId = CPU, precision: str = "bf16", reason: Notice | str = "the fastest that matches fp32") -> EngineInfo:
    """An engine as a backend describes it."""
    reason = words(reason) if isinstance(reason, str) else reason
    return EngineInfo(device, "Some Processor", "OpenVINO 2026.4", precision, reason, 320, 320, 1, 2)


def queue_item(path: Path, state: ItemState = ItemState.WAITING, results: Results | None = None, *, key: int = 1, **more: Any) -> QueueItem:
    """A file of the queue. more: as for ``changed``."""
    return changed(QueueItem(key, SourceProgress(path), state, results), **more)


NO_DECODER = DecoderUse()


def changed(item: QueueItem, *, seconds: float | None = None, decoder: DecoderUse = NO_DECODER, **changes: Any) -> QueueItem:
    """A file of the queue with other fields, also those of its progress. seconds: it is finished after this time."""
    progress: dict[str, Any] = {name: changes.pop(name) for name in ("info", "frames", "failed", "head") if name in changes}
    if seconds is not None:
        progress["finished"] = SourceFinished(0, Ledger(), seconds, None, decoder=decoder)
    return replace(item, progress=replace(item.progress, **progress), **changes)


def mime_of(paths: list[Path]) -> QMimeData:
    """The MIME data with which a file manager drags files."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def drag_over(widget: QWidget, paths: list[Path]) -> QMimeData:
    """Drag files over a widget without dropping them. Keep the returned data until the drop: Qt does not."""
    data = mime_of(paths)
    actions, buttons, keys = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(widget, QDragEnterEvent(QPointF(100, 100).toPoint(), actions, data, buttons, keys))
    return data


def drop(widget: QWidget, paths: list[Path]) -> None:
    """Drag files over a widget and drop them."""
    data = drag_over(widget, paths)
    actions, buttons, keys = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(widget, QDropEvent(QPointF(100, 100), actions, data, buttons, keys))


def pixels(image: QImage) -> NDArray[np.uint8]:
    """A picture as uint8 (height, width, 3), RGB."""
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    return rows[:, : 3 * plain.width()].reshape(plain.height(), plain.width(), 3).copy()


def write_results(database: Path, source: Path, frames: int, rate: float = 30.0, every: int = 1, **facts: str) -> Results:
    """Write a finished session of one video. Frame n has one box, n pixels from the left. every: the run took each of so many frames.

    facts: of the run, in place of a few.
    """
    facts = {"model": "tiny"} | ({"every": str(every)} if every > 1 else {}) | facts
    with SessionWriter(database, ("person", "bicycle", "car"), facts) as writer:
        writer.add_source(0, str(source), video_info(str(source), frames))
        for index in range(0, frames, every):
            box = np.array([[index, 10, index + 20, 40]], np.float32)
            found = Detections(box, np.array([0.9], np.float32), np.array([index % 3], np.int32))
            writer.add_frames([FrameResult(FrameRef(0, index, index / rate), CPU, 320, 240, found)])
        writer.finish_source(0, str(source), Ledger(frames, frames), 1.0, None, False)
    return Results(database, 0, ("person", "bicycle", "car"))
