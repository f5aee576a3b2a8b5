from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QDialog, QDialogButtonBox, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.window.session.background import Background
from app.window.settings.dialog import SettingsDialog
from app.window.settings.preferences import Preferences
from engine.devices.description import DeviceDescription
from engine.settings import Decode, Hint, Isolation, ModelFiles, Parallel, Precision, Resize, Tiles
from engine.types import DeviceId
from tests.support.models import TINY_CFG, tiny_files
from tests.support.window import CPU, drop

GPU = DeviceId("openvino", "GPU.0")
FOUND = (
    DeviceDescription(CPU, "Some Processor", "OpenVINO 2026.4", ("fp32", "bf16")),
    DeviceDescription(GPU, "Some Graphics", "OpenVINO 2026.4", (), problem="its driver is too old"),
)


@pytest.fixture
def background() -> Iterator[Background]:
    background = Background()
    yield background
    background.stop()


def open_dialog(qtbot: QtBot, background: Background, preferences: Preferences) -> SettingsDialog:
    dialog = SettingsDialog(preferences, background)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def can_save(dialog: SettingsDialog) -> bool:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Save).isEnabled()


def shown_text(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def pick(combo: QComboBox, value: StrEnum) -> None:
    """As a user would, by its entry."""
    combo.setCurrentIndex(combo.findData(value))


def test_everything_that_is_set_comes_out_again(qtbot: QtBot, background: Background) -> None:
    preferences = Preferences(
        tiny_files(3),
        (CPU,),
        Precision.FP32,
        Resize.LETTERBOX,
        Parallel.TILES,
        batch=4,
        confidence=0.35,
        iou=0.6,
        decode=Decode.CPU,
        tiles=Tiles(4, 2, 0.15, full_frame=False),
        isolation=Isolation.THREAD,
        decode_threads=3,
        latency_budget=12.5,
        hint=Hint.LATENCY,
    )
    dialog = open_dialog(qtbot, background, preferences)
    dialog.devices.offer(FOUND)
    qtbot.waitUntil(lambda: can_save(dialog))
    assert dialog.preferences == preferences
    dialog.accept()
    assert dialog.result() == QDialog.DialogCode.Accepted.value
    assert open_dialog(qtbot, background, Preferences()).preferences == Preferences()


def test_a_model_is_checked_as_it_is_given(qtbot: QtBot, background: Background, tmp_path: Path) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    form = dialog.model
    assert can_save(dialog)  # without a model at all one can leave
    form.cfg.set_path(tmp_path / "missing.cfg")
    assert not can_save(dialog)
    form.weights.set_path("random:1")
    qtbot.waitUntil(lambda: "missing.cfg does not exist" in form.verdict.text())
    assert form.verdict.property("role") == "error"
    form.cfg.set_path(TINY_CFG)
    qtbot.waitUntil(lambda: can_save(dialog))
    assert form.verdict.text().startswith("96 × 96 pixels, 3 classes")
    form.weights.set_path(tmp_path / "none.weights")
    assert not can_save(dialog)
    qtbot.waitUntil(lambda: "none.weights" in form.verdict.text())


def test_the_weights_beside_a_cfg_are_found(qtbot: QtBot, background: Background, tmp_path: Path) -> None:
    (tmp_path / "m.cfg").write_text(TINY_CFG.read_text())
    (tmp_path / "m.weights").write_bytes(b"wrong size")
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.model.cfg.set_path(tmp_path / "m.cfg")
    assert dialog.model.weights.path == tmp_path / "m.weights"
    qtbot.waitUntil(lambda: dialog.model.verdict.property("role") == "error")


def test_model_files_can_be_dropped_on_the_dialog(qtbot: QtBot, background: Background, tmp_path: Path) -> None:
    (tmp_path / "x.weights").touch()
    dialog = open_dialog(qtbot, background, Preferences())
    drop(dialog, [TINY_CFG, tmp_path / "x.weights"])
    assert dialog.model.files == ModelFiles(TINY_CFG, tmp_path / "x.weights")


def test_devices_are_automatic_or_picked(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    form = dialog.devices
    form.offer(FOUND)
    assert form.automatic.isChecked()
    assert not form.boxes[CPU].isEnabled()
    form.automatic.setChecked(False)
    assert form.boxes[CPU].isEnabled()
    assert not form.boxes[GPU].isEnabled()  # its driver is too old
    assert "its driver is too old" in form.boxes[GPU].accessibleName()
    assert "its driver is too old" in shown_text(form)
    assert not can_save(dialog)  # nothing is ticked
    assert form.problem.text().startswith("Tick at least one device")
    form.boxes[CPU].setChecked(True)
    assert can_save(dialog)
    assert dialog.preferences.devices == (CPU,)


def test_a_second_cpu_device_is_no_device_that_is_gone(qtbot: QtBot, background: Background) -> None:
    second = DeviceId("cpu", "1")
    dialog = open_dialog(qtbot, background, Preferences(devices=(CPU, second)))
    dialog.devices.offer(FOUND)
    assert "Shares the processor" in dialog.devices.boxes[second].accessibleName()
    assert "not found" not in shown_text(dialog.devices)
    assert dialog.preferences.devices == (CPU, second)


def test_a_chosen_device_that_is_gone_is_named(qtbot: QtBot, background: Background) -> None:
    gone = DeviceId("cuda", "3")
    dialog = open_dialog(qtbot, background, Preferences(devices=(gone,)))
    assert dialog.preferences.devices == (gone,)  # before the search has ended nothing is lost
    dialog.devices.offer(FOUND)
    assert "was not found on this machine" in dialog.devices.boxes[gone].accessibleName()
    dialog.devices.boxes[gone].setChecked(False)
    dialog.devices.boxes[CPU].setChecked(True)
    assert dialog.preferences.devices == (CPU,)


CUDA = tuple(DeviceId("cuda", str(number)) for number in range(4))
GPUS = tuple(DeviceDescription(device, "NVIDIA H200", "TensorRT", ("fp32", "fp16"), memory=150 << 30) for device in CUDA)


def test_what_is_known_of_a_device_stands_beside_it(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.devices.offer((*FOUND, *GPUS))
    assert "NVIDIA H200 · 150.0 GiB · fp32, fp16 · TensorRT" in shown_text(dialog.devices)
    assert dialog.devices.automatic.text().endswith("(4 devices)")
    dialog.devices.automatic.setChecked(False)
    for device in (CUDA[2], CUDA[0]):
        dialog.devices.boxes[device].click()
    assert dialog.preferences.devices == (CUDA[0], CUDA[2])


def test_what_cannot_work_together_is_explained_where_it_is_set(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences(devices=(CPU, CUDA[0])))
    dialog.devices.offer((*FOUND, *GPUS))
    detection, sharing = dialog.detection, dialog.sharing
    assert can_save(dialog)
    pick(sharing.parallel, Parallel.DEPTH)
    assert "needs CUDA devices only, or other devices only, not both (cpu:0, cuda:0)" in sharing.problem.text()
    assert not can_save(dialog)
    dialog.devices.boxes[CPU].click()
    assert "needs 2 to 8 devices, one for each stage, not 1 (cuda:0)" in sharing.problem.text()
    dialog.devices.boxes[CUDA[1]].click()
    assert not sharing.problem.isVisible()
    assert can_save(dialog)
    pick(detection.precision, Precision.BF16)
    assert detection.precision_problem.text() == "cuda:0 offers FP32, FP16 only.\ncuda:1 offers FP32, FP16 only."
    assert not can_save(dialog)
    pick(detection.precision, Precision.AUTO)
    pick(detection.decode, Decode.NVDEC)
    assert can_save(dialog)
    for device in CUDA[:2]:
        dialog.devices.boxes[device].click()
    dialog.devices.boxes[CPU].click()
    assert "none is among the devices (cpu:0)" in shown_text(detection)
    assert not can_save(dialog)


def test_every_cpu_device_offers_what_the_processor_does(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences(devices=(DeviceId("cpu", "1"),)))
    dialog.devices.offer((*FOUND, *GPUS))
    pick(dialog.detection.precision, Precision.FP16)
    assert dialog.detection.precision_problem.text().startswith("cpu:1 offers ")
    assert not can_save(dialog)


def test_what_automatic_devices_come_to_is_checked_once_it_is_known(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences(parallel=Parallel.DEPTH))
    assert can_save(dialog)
    dialog.devices.offer(FOUND)
    assert "not 1 (cpu:0)" in dialog.sharing.problem.text()
    assert not can_save(dialog)


def test_tiles_have_fields_of_their_own(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    sharing = dialog.sharing
    assert not sharing.tile_fields.isVisible()
    pick(sharing.parallel, Parallel.TILES)
    assert sharing.tile_fields.isVisible()
    assert dialog.preferences.tiles == Tiles()
    qtbot.keyClicks(sharing.columns, "3")
    sharing.full_frame.click()
    assert dialog.preferences.tiles == Tiles(columns=3, full_frame=False)


def test_advanced_settings_are_folded_away_until_they_matter(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    assert not dialog.advanced.fields.isVisible()
    dialog.advanced.button.click()
    assert dialog.advanced.fields.isVisible()
    qtbot.waitUntil(lambda: not dialog.advanced.decode_threads.visibleRegion().isEmpty())
    dialog = open_dialog(qtbot, background, Preferences(latency_budget=20.0))
    assert dialog.advanced.fields.isVisible()
    assert not dialog.advanced.budget_note.isVisible()
    dialog.detection.batch.setValue(4)
    assert dialog.advanced.budget_note.text() == "It has no effect while the batch is set to 4."
    assert can_save(dialog)


def test_the_wheel_scrolls_and_changes_nothing(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.resize(dialog.width(), 300)
    for field in (dialog.detection.resize_mode, dialog.detection.batch, dialog.detection.iou):
        before = dialog.preferences
        dialog.pane.verticalScrollBar().setValue(0)
        where = QPointF(field.rect().center())
        down = QWheelEvent(
            where, field.mapToGlobal(where), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(field, down)
        assert dialog.preferences == before
        assert not down.isAccepted()


def test_a_long_name_pushes_no_button_out(qtbot: QtBot, background: Background, tmp_path: Path) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.model.cfg.set_path(str(tmp_path / ("x" * 200 + ".cfg")))
    qtbot.waitUntil(lambda: "xxx" in dialog.model.verdict.text())
    assert dialog._inside.minimumSizeHint().width() <= dialog.pane.viewport().width()


def test_tab_stops_only_at_what_can_be_operated(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.activateWindow()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is not None)
    stops = []
    for _key in range(60):
        focused = QApplication.focusWidget()
        assert focused is not None
        stops.append(focused.accessibleName() or getattr(focused, "text", str)())
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert stops[0] == "network description"
    assert {"weights", "Strategy", "Advanced", "Cancel"} <= set(stops)
    assert all(stops)
