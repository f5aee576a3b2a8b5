"""The comparison of two stored results of a video, in the real window."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from framefleet.app.window.compare.comparison import ChoiceDialog, Comparison
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.models.comparison import ExplanationDialog
from framefleet.app.window.results.outcome import OutcomeLine
from framefleet.engine.evaluation.compare import StoredResult
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.corrections import Corrections, OneDetection
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult
from tests.support.media import make_video
from tests.support.store import video_info
from tests.support.window import feature, pixels, write_results

PATIENCE = 60_000
FRAMES = 20
DIFFERENT = 6, 12


@pytest.fixture
def video(tmp_path: Path) -> Path:
    return make_video(tmp_path / "v.mp4", FRAMES, (320, 240))


@pytest.fixture
def comparison(qtbot: QtBot, window: MainWindow, tmp_path: Path, video: Path) -> Comparison:
    """The results of one model are shown; those of another one, with its own class ids, differ in two frames."""
    folder = tmp_path / "sessions"
    folder.mkdir(exist_ok=True)
    write_results(folder / "one.sqlite", video, FRAMES)
    with SessionWriter(folder / "two.sqlite", ("car", "bicycle", "person", "tram"), {"model": "other"}) as writer:
        writer.add_source(0, str(video), video_info(str(video), FRAMES))
        for index in range(FRAMES):
            left, class_id = index + 100 * (index in DIFFERENT), (2, 1, 0)[index % 3] if index != DIFFERENT[1] else 3
            boxes = np.array([[left, 10, left + 20, 40]], np.float32)
            found = Detections(boxes, np.array([0.8], np.float32), np.array([class_id], np.int32))
            writer.add_frames([FrameResult(FrameRef(0, index, index / 30), DeviceId("cpu", "0"), 320, 240, found)])
        writer.finish_source(0, str(video), Ledger(FRAMES, FRAMES), 1.0)
    window.open_paths([folder / "one.sqlite"])
    player = window.context.viewer.player
    qtbot.waitUntil(lambda: player.current is not None and window.context.viewer.canvas.result is not None, timeout=PATIENCE)
    return feature(window, Comparison)


def start(qtbot: QtBot, window: MainWindow, comparison: Comparison) -> None:
    window.context.actions.compare.trigger()
    (dialog,) = window.findChildren(ChoiceDialog)
    qtbot.waitUntil(lambda: dialog.table.topLevelItemCount() == 1, timeout=PATIENCE)
    line = dialog.table.topLevelItem(0)
    assert line is not None
    assert (line.text(0), line.text(2), line.text(3)) == ("other", str(FRAMES), "two")
    dialog.compare.click()
    qtbot.waitUntil(lambda: f"2 of {FRAMES} frames differ" in comparison.bar.counts.text(), timeout=PATIENCE)


def test_both_results_are_shown_and_keys_lead_from_one_difference_to_the_next(
    qtbot: QtBot, window: MainWindow, comparison: Comparison
) -> None:
    start(qtbot, window, comparison)
    player, canvas = window.context.viewer.player, window.context.viewer.canvas
    assert comparison.bar.names.text() == "Solid: tiny · dashed: other"
    assert (len(canvas.visible_detections), len(canvas.other_detections)) == (1, 1)
    outcome = feature(window, OutcomeLine)
    assert outcome.isHidden(), "the bar of the comparison needs the room"
    comparison.bar.only.click()
    assert (len(canvas.visible_detections), len(canvas.other_detections)) == (0, 0)
    for forward, frame in ((True, 6), (True, 12), (False, 6)):
        (comparison.bar.next if forward else comparison.bar.previous).click()
        qtbot.waitUntil(lambda frame=frame: canvas.result is not None and canvas.result.ref.index == frame, timeout=PATIENCE)
        assert (len(canvas.visible_detections), len(canvas.other_detections)) == (1, 1)
        assert "here 1 only solid, 1 only dashed" in comparison.bar.counts.text()
    comparison.step(-1)
    assert window.context.viewer.transport.hint.text() == "No difference before this"
    assert player.position == pytest.approx(6 / 30)

    window.context.actions.correct.setChecked(True)
    assert not comparison.active, "the correction mode ends the comparison"
    window.context.actions.correct.setChecked(False)
    assert outcome.isVisible()
    window.context.actions.correct.setChecked(True)
    start(qtbot, window, comparison)
    assert not window.context.actions.correct.isChecked()
    window.context.filter.choose_confidence(85)  # the other model is less confident
    qtbot.waitUntil(lambda: f"{FRAMES} of {FRAMES} frames differ" in comparison.bar.counts.text(), timeout=PATIENCE)


def test_results_of_one_model_are_told_apart_by_the_times_of_their_runs(
    qtbot: QtBot, window: MainWindow, comparison: Comparison, video: Path
) -> None:
    item = window.context.viewer.item
    assert item is not None
    other = StoredResult.find(write_results(video.parent / "again.sqlite", video, FRAMES).database, video)
    comparison.start(item, replace(other, model="tiny"))
    qtbot.waitUntil(lambda: comparison.active, timeout=PATIENCE)
    assert re.fullmatch(r"Solid: \d{4}-\d\d-\d\d [\d:]{8} · dashed: (\d{4}-\d\d-\d\d )?[\d:]{8}", comparison.bar.names.text())
    assert [comparison.bar.previous.accessibleName(), comparison.bar.next.accessibleName()] == ["Previous difference", "Next difference"]


def test_results_of_the_present_run_are_named_by_their_model(qtbot: QtBot, window: MainWindow, comparison: Comparison, video: Path) -> None:
    item = window.context.viewer.item
    assert item is not None
    assert item.results is not None
    other = StoredResult.find(video.parent / "sessions" / "two.sqlite", video)
    comparison.start(replace(item, results=replace(item.results, model="")), other)
    qtbot.waitUntil(lambda: comparison.active, timeout=PATIENCE)
    assert comparison.bar.names.text() == "Solid: tiny · dashed: other"


def test_the_other_results_are_dashed_and_have_their_own_labels(qtbot: QtBot, window: MainWindow, comparison: Comparison) -> None:
    start(qtbot, window, comparison)
    canvas = window.context.viewer.canvas
    comparison.step(1)
    comparison.step(1)
    qtbot.waitUntil(lambda: canvas.result is not None and canvas.result.ref.index in DIFFERENT, timeout=PATIENCE)
    window.context.viewer.player.seek(12 / 30)
    qtbot.waitUntil(lambda: canvas.result is not None and canvas.result.ref.index == 12, timeout=PATIENCE)
    assert [canvas.label_of(class_id) for class_id in canvas.other_detections.class_ids.tolist()] == ["tram"]
    both = pixels(canvas.grab().toImage())
    window.context.filter.choose_confidence(85)  # the other model is less confident
    assert (len(canvas.visible_detections), len(canvas.other_detections)) == (1, 0)
    assert (both != pixels(canvas.grab().toImage())).any()
    comparison.bar.close_button.click()
    assert not comparison.bar.isVisible()
    assert len(canvas.other_detections) == 0


def test_the_comparison_follows_corrections_and_ends_when_detection_begins_again(
    qtbot: QtBot, window: MainWindow, comparison: Comparison, video: Path
) -> None:
    start(qtbot, window, comparison)
    key = window.context.selection.key
    assert key is not None
    with Corrections(video.parent / "sessions" / "one.sqlite") as corrections:
        corrections.delete(OneDetection(0, 0, 0))
    window.context.run.corrected.emit(key)
    qtbot.waitUntil(lambda: f"3 of {FRAMES} frames differ" in comparison.bar.counts.text(), timeout=PATIENCE)
    window.context.run.detect_again(key)  # without a model, it waits
    assert (comparison.active, comparison.bar.isVisible()) == (False, False)


def test_nothing_is_said_of_a_comparison_that_ended_before_its_results_could_not_be_read(
    qtbot: QtBot, window: MainWindow, comparison: Comparison, video: Path
) -> None:
    item, other = window.context.viewer.item, StoredResult.find(video.parent / "sessions" / "two.sqlite", video)
    assert item is not None
    comparison.start(item, replace(other, database=video.parent / "missing.sqlite"))
    qtbot.waitUntil(lambda: "The results cannot be compared" in "".join(window.context.banners.texts), timeout=PATIENCE)
    comparison.start(item, replace(other, database=video.parent / "missing.sqlite"))
    comparison.end()
    qtbot.waitUntil(lambda: not window.context.background.busy, timeout=PATIENCE)
    assert window.context.banners.texts == []


def test_the_models_lead_to_the_comparison_of_results(qtbot: QtBot, window: MainWindow, comparison: Comparison) -> None:
    window.context.settings.open_models()
    library = window.context.settings.library
    assert library.dialog is not None
    library.dialog.compare.click()
    explanation = window.findChild(ExplanationDialog)
    assert explanation is not None
    explanation.results_button.click()
    assert library.dialog is None
    assert len(window.findChildren(ChoiceDialog)) == 1


def test_without_results_the_dialog_says_what_to_do(window: MainWindow) -> None:
    window.context.actions.compare.trigger()
    (dialog,) = window.findChildren(ChoiceDialog)
    assert dialog.said.text().startswith("Show a video with results first")
    assert not dialog.compare.isEnabled()
