"""Cameras and streams in the window, with real servers on loopback: opening, live pictures with boxes, states, stop and continue."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.corrections.corrector import Corrector
from framefleet.app.window.events.clips import Clips
from framefleet.app.window.grid.grid import Grid
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.results.outcome import OutcomeLine
from framefleet.app.window.streams.dialog import StreamDialog
from framefleet.app.window.streams.streams import Streams
from framefleet.app.window.streams.view import LiveView
from framefleet.engine.media.probe import probe
from framefleet.engine.store.session import SessionReader
from tests.support.live.http_camera import HttpCamera
from tests.support.live.servers import free_port
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.window import drop, feature

PATIENCE = 40_000
Open = Callable[..., MainWindow]


@pytest.fixture
def camera(tmp_path: Path) -> Iterator[HttpCamera]:
    with HttpCamera(tmp_path) as camera:
        yield camera


def drop_address(widget: QWidget, address: str) -> None:
    """Drop an address as a browser drags it."""
    data = QMimeData()
    data.setUrls([QUrl(address)])
    actions, buttons, keys = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(widget, QDragEnterEvent(QPoint(100, 100), actions, data, buttons, keys))
    QApplication.sendEvent(widget, QDropEvent(QPoint(100, 100).toPointF(), actions, data, buttons, keys))


def open_stream(window: MainWindow, address: str) -> QueueItem:
    """Open a stream by the dialog; return its item."""
    window.context.actions.open_stream.trigger()
    dialog = feature(window, Streams).dialog
    assert dialog is not None
    dialog.address.setText(address)
    dialog.open_.click()
    return list(window.context.queue)[-1]


def is_live(window: MainWindow) -> bool:
    """Whether the shown picture has its result."""
    current = window.context.viewer.player.current
    return current is not None and current.result is not None


def main_view(window: MainWindow) -> LiveView:
    """The view of the shown source."""
    views = [view for view in window.findChildren(LiveView) if view.canvas is window.context.viewer.canvas]
    return views[-1]


def item_of(window: MainWindow, item: QueueItem) -> QueueItem:
    """The item as it is now."""
    now = window.context.queue.get(item.key)
    assert now is not None
    return now


def test_a_stream_is_shown_live_and_stops_and_goes_on(
    qtbot: QtBot, open_window: Open, camera: HttpCamera, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "framefleet.app.window.results.saving.QStandardPaths.writableLocation", lambda _place: str(tmp_path / "pictures"), raising=True
    )
    window = open_window(tiny_files())
    item = open_stream(window, f"{camera.address}/mjpeg")
    assert window.pages.currentWidget() is window.middle
    qtbot.waitUntil(lambda: is_live(window), timeout=PATIENCE)
    streams, viewer = feature(window, Streams), window.context.viewer
    first = viewer.player.position
    qtbot.waitUntil(lambda: viewer.player.position > first + 1.0, timeout=PATIENCE)  # the newest picture follows
    current = viewer.player.current
    assert current is not None
    assert current.result is not None
    assert current.result.ref.pts == current.pts
    assert viewer.canvas.result is current.result

    view = main_view(window)
    qtbot.waitUntil(lambda: view.overlay.accessibleName().startswith("Live"), timeout=PATIENCE)
    assert "From packet to boxes" in view.overlay.accessibleDescription()
    qtbot.waitUntil(lambda: "received" in streams.bar.figures.accessibleName(), timeout=PATIENCE)
    assert streams.bar.figures.accessibleName().startswith("dropped "), "a narrow bar shows what matters most"
    qtbot.waitUntil(lambda: feature(window, QueuePanel).heading.summary.accessibleName() == "1 live")  # it is never done
    assert not streams.bar.live.isEnabled()

    viewer.player.seek(first)  # back to what was stored, while detection goes on
    qtbot.waitUntil(lambda: bool(view.stored), timeout=PATIENCE)
    assert viewer.player.position == first
    assert re.search(r"Stored: \d\d:\d\d:\d\d$", view.overlay.accessibleName()), "the time of day"
    frames = item_of(window, item).progress.frames
    qtbot.waitUntil(lambda: item_of(window, item).progress.frames > frames, timeout=PATIENCE)
    assert viewer.player.position == first, "it stays where the user looks"
    assert (view.recorded, streams.bar.snapshot.isEnabled()) == (False, False), "there is no picture to save"
    viewer.save_picture(boxes=True)
    viewer.player.step(1)
    qtbot.waitUntil(lambda: viewer.player.position > first, timeout=PATIENCE)
    streams.bar.live.click()
    qtbot.waitUntil(lambda: viewer.player.position > first + 1.0 and not view.stored, timeout=PATIENCE)

    with qtbot.waitSignal(viewer.saver.saved, timeout=PATIENCE) as saved:
        streams.bar.snapshot.click()
    (path,) = saved.args or []
    assert [*Path(str(path)).parent.iterdir()] == [Path(str(path))]
    assert QImage(str(path)).size() == viewer.player.current.image.size()  # type: ignore[union-attr]

    assert streams.bar.stop.text() == "Stop"
    streams.bar.stop.click()
    qtbot.waitUntil(lambda: item_of(window, item).progress.finished is not None, timeout=PATIENCE)
    stopped = item_of(window, item)
    assert stopped.state is ItemState.CANCELLED
    assert stopped.summary.startswith("Stopped after")
    ledger = stopped.progress.ledger
    assert ledger.balanced
    assert stopped.results is not None
    with SessionReader(stopped.results.database) as reader:
        assert reader.count(stopped.results.source) == ledger.inferred
    assert streams.bar.stop.text() == "Continue"
    line = feature(window, OutcomeLine)
    qtbot.waitUntil(line.isVisible)
    assert not line.go_on.isVisible(), "one button is enough"
    qtbot.waitUntil(lambda: feature(window, QueuePanel).heading.summary.accessibleName() == "1 stopped")
    streams.bar.stop.click()
    qtbot.waitUntil(lambda: item_of(window, item).state is ItemState.RUNNING, timeout=PATIENCE)
    again = item_of(window, item)
    assert again.results is not None
    assert again.results.database == stopped.results.database, "the next part is in the same session"
    assert again.results.source != stopped.results.source
    qtbot.waitUntil(lambda: viewer.player.playing and main_view(window).overlay.accessibleName().startswith("Live"), timeout=PATIENCE)


def test_corrections_of_the_live_picture_are_shown(qtbot: QtBot, open_window: Open, camera: HttpCamera) -> None:
    window = open_window(tiny_files())
    item = open_stream(window, f"{camera.address}/mjpeg")
    qtbot.waitUntil(lambda: is_live(window), timeout=PATIENCE)
    viewer, corrector = window.context.viewer, feature(window, Corrector)
    window.context.actions.correct.setChecked(True)
    assert not viewer.player.playing
    live, pts = viewer.canvas.result, viewer.player.position
    assert live is not None
    qtbot.waitUntil(lambda: item_of(window, item).progress.frames > live.ref.index, timeout=PATIENCE)
    for added in (1, 2):
        corrector.drawing.drawn.emit((10.0, 10.0, 60.0, 60.0 + added))
        qtbot.waitUntil(lambda added=added: len(viewer.canvas.result.detections) == len(live.detections) + added, timeout=PATIENCE)
    assert (viewer.player.position, main_view(window).stored) == (pts, ""), "it is the same picture"


def test_a_shown_stream_is_recorded_until_the_user_ends_that(
    qtbot: QtBot, open_window: Open, camera: HttpCamera, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "framefleet.app.window.streams.streams.QStandardPaths.writableLocation", lambda _place: str(tmp_path / "videos"), raising=True
    )
    window = open_window(tiny_files())
    item = open_stream(window, f"{camera.address}/mjpeg")
    bar = feature(window, Streams).bar
    qtbot.waitUntil(lambda: is_live(window), timeout=PATIENCE)
    assert bar.record.text() == "Record"
    bar.record.click()
    qtbot.waitUntil(lambda: bar.record.text() == "Stop recording", timeout=PATIENCE)
    assert str(tmp_path / "videos" / "Framefleet") in bar.figures.accessibleName()
    player, view = window.context.viewer.player, main_view(window)
    begun = player.position
    qtbot.waitUntil(lambda: player.position > begun + 2.0, timeout=PATIENCE)
    player.seek(begun + 1.0)  # the file still grows
    qtbot.waitUntil(lambda: bool(view.stored) and view.recorded, timeout=PATIENCE)
    current = player.current
    assert current is not None
    assert current.result is not None
    assert abs(current.pts - begun - 1.0) < 1.0
    assert len({current.image.pixel(x, y) for x in range(0, current.image.width(), 9) for y in range(0, current.image.height(), 9)}) > 1
    shown = current.pts
    assert bar.play.isVisible()
    bar.play.click()
    # after a pause of this process, what is due may not be recorded yet
    qtbot.waitUntil(lambda: player.position > shown + 0.3 and view.recorded, timeout=PATIENCE)
    assert bar.play.text() == "Pause"
    bar.play.click()
    assert bar.play.text() == "Play"
    shown = player.position
    player.toggle()  # Space plays what the user looks at
    # after a pause of this process, what is due may not be recorded yet
    qtbot.waitUntil(lambda: player.position > shown + 0.3 and view.recorded, timeout=PATIENCE)
    assert bar.play.text() == "Pause"
    player.toggle()
    assert bar.play.text() == "Play"
    bar.live.click()
    qtbot.waitUntil(lambda: not view.stored and not bar.play.isVisible(), timeout=PATIENCE)
    bar.record.click()
    qtbot.waitUntil(lambda: bar.record.text() == "Record", timeout=PATIENCE)
    qtbot.waitUntil(lambda: item_of(window, item).progress.recorded == 1, timeout=PATIENCE)
    (video,) = (tmp_path / "videos" / "Framefleet").iterdir()
    info = probe(video)
    assert info.codec == "mjpeg"
    assert sum(segment.frames for segment in info.segments) >= 5
    assert item_of(window, item).state is ItemState.RUNNING
    dialog = feature(window, Clips).ask(item_of(window, item), window.context.filter.value)
    assert dialog is not None, "clips are cut out of the recording"
    dialog.reject()


def test_a_lost_connection_is_explained_and_counted_down(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(tiny_files())
    item = open_stream(window, f"rtsp://127.0.0.1:{free_port()}/cam")
    canvas = window.context.viewer.canvas
    qtbot.waitUntil(lambda: "Connects again in" in canvas.accessibleDescription(), timeout=PATIENCE)
    assert "cannot be opened" in canvas.accessibleDescription()
    qtbot.waitUntil(lambda: not feature(window, Streams).bar.snapshot.isEnabled(), timeout=PATIENCE)  # there is no picture yet
    assert item_of(window, item).summary == "Not connected"
    window.context.run.cancel(item.key)
    qtbot.waitUntil(lambda: item_of(window, item).progress.finished is not None, timeout=PATIENCE)
    qtbot.waitUntil(lambda: canvas.accessibleDescription().startswith("Stopped"), timeout=PATIENCE)


@pytest.mark.slow  # tests/engine/pool/test_live_sources.py has them, the first test here one stream in the window
def test_several_streams_and_a_file_run_beside_each_other(qtbot: QtBot, open_window: Open, camera: HttpCamera, tmp_path: Path) -> None:
    window = open_window(tiny_files())
    one = open_stream(window, f"{camera.address}/mjpeg")
    other = open_stream(window, f"{camera.address}/hls/live.m3u8")
    grid = feature(window, Grid)
    grid.set_side(2)
    qtbot.waitUntil(lambda: len(grid.cells) == 1, timeout=PATIENCE)
    (cell,) = grid.cells.values()
    assert {cell.item.key, window.context.selection.key} == {one.key, other.key}
    qtbot.waitUntil(lambda: is_live(window) and cell.canvas.result is not None, timeout=PATIENCE)
    (view,) = [view for view in window.findChildren(LiveView) if view.canvas is cell.canvas]
    qtbot.waitUntil(lambda: view.overlay.accessibleName().startswith("Live"), timeout=PATIENCE)

    video = make_video(tmp_path / "clip.mp4", 30, (320, 240))
    drop(window, [video])  # a file does not wait for streams, which have no end
    qtbot.waitUntil(lambda: any(item.path == video and item.state is ItemState.DONE for item in window.context.queue), timeout=PATIENCE)
    grid.set_side(1)
    qtbot.waitUntil(lambda: not grid.cells, timeout=PATIENCE)
    assert item_of(window, one).state is item_of(window, other).state is ItemState.RUNNING


def test_the_same_stream_is_opened_once(qtbot: QtBot, open_window: Open, camera: HttpCamera) -> None:
    window = open_window(tiny_files())
    first = open_stream(window, f"{camera.address}/mjpeg")
    open_stream(window, f"{camera.address}/mjpeg")
    assert [item.key for item in window.context.queue] == [first.key]


def test_a_dropped_address_fills_the_dialog_and_leaves_no_password(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(tiny_files())
    drop_address(window, f"rtsp://anna:s3cr%2Ft@127.0.0.1:{free_port()}/cam")
    dialog = feature(window, StreamDialog)
    assert dialog.isVisible()
    assert "anna" not in dialog.address.text()
    assert dialog.user.text() == "anna"
    assert dialog.password.text() == "s3cr/t"
    assert dialog.password.echoMode() is dialog.password.EchoMode.Password
    dialog.open_.click()
    (item,) = window.context.queue
    assert item.stream is not None
    assert item.stream.address.password == "s3cr/t"
    assert "s3cr" not in item.name + str(item) + window.windowTitle()
    window.context.memory.start()
    window.context.memory.save()
    window.close()
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert kept
    assert not any(b"s3cr" in text or b"anna" in text for text in kept)


def test_a_dropped_address_of_another_kind_is_explained(open_window: Open) -> None:
    window = open_window()
    drop_address(window, "ftp://anna:geheim@127.0.0.1/cam")
    (text,) = window.context.banners.texts
    assert "rtsp://" in text
    assert "geheim" not in text


def test_pasting_an_address_opens_the_dialog(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(tiny_files())
    QApplication.clipboard().setText("not an address")
    streams = feature(window, Streams)
    streams.paste()
    assert streams.dialog is None
    QApplication.clipboard().setText("http://127.0.0.1:1/mjpeg")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert streams.dialog is not None
    assert streams.dialog.address.text() == "http://127.0.0.1:1/mjpeg"
