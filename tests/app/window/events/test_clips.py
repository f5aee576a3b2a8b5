"""Clips from the window: the dialog's plan, the files, and cancel."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton

from framefleet.app.window.events.clips import Clips, ClipsDialog
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import Part
from framefleet.app.window.zones.workspace import Zones
from framefleet.engine.media.probe import probe
from framefleet.resources import DEMO
from tests.support.media import make_video
from tests.support.window import feature, write_results

FRAMES = 60


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


@pytest.fixture
def shown(window, qtbot, tmp_path):
    """A video with an object in each frame, and two seconds of results."""
    video = make_video(tmp_path / "a.mp4", FRAMES, (320, 240), gop=10)
    window.open_paths([write_results(tmp_path / "a.sqlite", video, FRAMES).database])
    qtbot.waitUntil(lambda: window.context.viewer.canvas.result is not None, timeout=20_000)
    return window


def ask(window, qtbot) -> ClipsDialog:
    feature(window, Zones).list.clips.click()
    dialog = next(each for each in window.children() if isinstance(each, ClipsDialog))
    qtbot.waitUntil(dialog.start.isEnabled, timeout=20_000)
    return dialog


def test_clips_and_stills_are_written_and_named_in_a_banner(shown, qtbot, tmp_path):
    dialog = ask(shown, qtbot)
    assert dialog.stills.width() >= dialog.stills.sizeHint().width()  # its text is not cut
    dialog.stills.setChecked(True)
    assert dialog.plan.text() == "1 clip, 0:02.4 in all."  # the three classes follow each other; up to the end that is stored of the video
    dialog.folder.set_path(tmp_path / "cut")
    dialog.start.click()
    qtbot.waitUntil(lambda: any("Wrote" in text for text in shown.context.banners.texts), timeout=30_000)
    names = sorted(path.name for path in (tmp_path / "cut").iterdir())
    assert [name for name in names if name.endswith(".mp4")] == ["a.person+bicycle+car.00-00-00.00.mp4"]
    stills = [name for name in names if name.endswith(".jpg")]
    assert len(stills) == 3
    assert f"Wrote {1 + len(stills)} files" in "".join(shown.context.banners.texts)


def test_clips_of_the_demo_are_not_written_into_the_program(window, qtbot, tmp_path):
    window.open_paths([write_results(tmp_path / "demo.sqlite", DEMO.clip, 4).database])
    qtbot.waitUntil(lambda: window.context.viewer.canvas.result is not None, timeout=20_000)
    feature(window, Zones).list.clips.click()
    (dialog,) = window.findChildren(ClipsDialog)
    assert dialog.folder.path == Path.home() / "clips"


def test_cancel_leaves_no_file(shown, qtbot, tmp_path):
    dialog = ask(shown, qtbot)
    dialog.exact.setCurrentIndex(1)
    dialog.folder.set_path(tmp_path / "cut")
    dialog.start.click()
    next(button for button in shown.context.banners.findChildren(QPushButton) if button.text() == "Cancel").click()
    qtbot.waitUntil(lambda: any("cancelled" in text for text in shown.context.banners.texts), timeout=30_000)
    assert list((tmp_path / "cut").glob("*.mp4")) == []


def test_what_cannot_be_cut_is_said_at_once(shown, qtbot):
    dialog = ask(shown, qtbot)
    dialog.folder.set_path("")
    assert dialog.problem.text() == "Choose a folder."
    assert not dialog.start.isEnabled()
    dialog.reject()
    feature(shown, Clips).ask(None, shown.context.filter.value)
    assert any("Open one first" in text for text in shown.context.banners.texts)


def test_only_what_is_shown_is_cut_out(shown, qtbot):
    shown.context.filter.set_confidence(0.95)
    feature(shown, Zones).list.clips.click()
    dialog = next(each for each in shown.children() if isinstance(each, ClipsDialog))
    qtbot.waitUntil(lambda: dialog.plan.text() == "Nothing that is shown appears in this video.")
    assert not dialog.start.isEnabled()


def test_the_chosen_part_is_saved(shown, qtbot, tmp_path):
    """Frames from 0.4 s to 1.2 s are 24; the keyframe before them is not among them."""
    shown.context.viewer.transport.timeline.set_part(Part(0.4, 1.2))
    save = next(action for action in shown.context.viewer.transport.part.menu().actions() if action.text() == "Save this part…")
    save.trigger()
    dialog = next(each for each in shown.children() if isinstance(each, ClipsDialog))
    qtbot.waitUntil(dialog.start.isEnabled)
    assert (dialog.by.currentText(), dialog.plan.text()) == ("The chosen part", "1 clip, 0:00.8 in all.")
    assert dialog.stills.isHidden()
    dialog.exact.setCurrentIndex(1)
    dialog.folder.set_path(tmp_path / "cut")
    dialog.start.click()
    written = tmp_path / "cut" / "a.part.00-00-00.40.mp4"
    qtbot.waitUntil(written.exists)
    assert probe(written).frames == 24
