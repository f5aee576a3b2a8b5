from __future__ import annotations

from pathlib import Path

import av
import pytest
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.window.main_window import MainWindow
from app.window.queue.item import ItemState, QueueItem
from app.window.viewer.filter import ViewFilter
from engine.store.exporters.base import part_of
from tests.support.media import make_video
from tests.support.window import queue_item, write_results


def detected(video: Path, frames: int) -> QueueItem:
    results = write_results(video.with_suffix(".sqlite"), video, frames)
    return queue_item(video, ItemState.DONE, results, frames=frames)


@pytest.fixture(scope="module")
def lengthy(long: Path, tmp_path_factory: pytest.TempPathFactory) -> QueueItem:
    """A file whose annotated video takes seconds to write."""
    results = write_results(tmp_path_factory.mktemp("results") / "long.sqlite", long, 3000)
    return queue_item(long, ItemState.DONE, results, frames=3000)


def test_an_annotated_video_is_written_while_the_window_goes_on(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    item = detected(make_video(tmp_path / "a.mp4", 40), 40)
    target = tmp_path / "out.mp4"
    window.files.export(item, target, "video", ViewFilter())
    assert window.banners.texts == ["Writing out.mp4…"]
    assert not target.exists()
    qtbot.waitUntil(lambda: any(text.startswith("Exported 40 frames") for text in window.banners.texts), timeout=30000)
    with av.open(str(target)) as container:
        assert len(list(container.decode(video=0))) == 40


def test_an_export_shows_its_progress_and_can_be_cancelled(qtbot: QtBot, window: MainWindow, lengthy: QueueItem, tmp_path: Path) -> None:
    target = tmp_path / "out.mp4"
    window.files.export(lengthy, target, "video", ViewFilter())
    qtbot.waitUntil(lambda: any(text.endswith(" %") for text in window.banners.texts), timeout=30000)
    (cancel,) = (button for button in window.banners.findChildren(QPushButton) if button.text() == "Cancel")
    cancel.click()
    qtbot.waitUntil(lambda: any("was cancelled" in text for text in window.banners.texts), timeout=10000)
    assert not target.exists()
    assert not part_of(target).exists()


def test_closing_the_window_gives_exports_up(qtbot: QtBot, window: MainWindow, lengthy: QueueItem, tmp_path: Path) -> None:
    target = tmp_path / "out.mp4"
    window.files.export(lengthy, target, "video", ViewFilter())
    qtbot.waitUntil(lambda: any(text.endswith(" %") for text in window.banners.texts), timeout=30000)
    window.close()
    assert not target.exists()
    assert not part_of(target).exists()


def test_a_failed_export_says_why(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", 10)
    window.files.export(detected(video, 10), video, "video", ViewFilter())
    qtbot.waitUntil(lambda: any("a.mp4 is the video itself" in text for text in window.banners.texts), timeout=10000)
    with av.open(str(video)) as container:
        assert len(list(container.decode(video=0))) == 10


def test_a_name_without_an_ending_gets_one_and_the_folder_is_remembered(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    item = detected(make_video(tmp_path / "a.mp4", 10), 10)
    (tmp_path / "out").mkdir()
    chosen: list[Path] = []
    for _time in range(2):
        window.files.choose_target(item, "video", chosen.append)
        (dialog,) = window.findChildren(QFileDialog)
        dialog.selectFile("plain")
        (name,) = dialog.selectedFiles()
        assert Path(name).name == "plain.mp4"
        folder = Path(dialog.directory().absolutePath())
        dialog.setDirectory(str(tmp_path / "out"))
        dialog.fileSelected.emit(str(tmp_path / "out" / "plain.mp4"))
        dialog.reject()
        qtbot.waitUntil(lambda: not window.findChildren(QFileDialog))
    assert chosen == [tmp_path / "out" / "plain.mp4"] * 2
    assert folder == tmp_path / "out"
