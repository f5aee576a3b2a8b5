from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialog, QDialogButtonBox
from pytestqt.qtbot import QtBot

from app.window.background import Background
from app.window.preferences import Preferences
from app.window.settings_dialog import SettingsDialog
from engine.devices.description import DeviceDescription
from engine.settings import ModelFiles, Parallel, Precision, Resize
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


def test_everything_that_is_set_comes_out_again(qtbot: QtBot, background: Background) -> None:
    preferences = Preferences(tiny_files(3), (CPU,), Precision.FP32, Resize.LETTERBOX, Parallel.STREAMS, batch=4, confidence=0.35, iou=0.6)
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
    assert not can_save(dialog)  # nothing is ticked
    form.boxes[CPU].setChecked(True)
    assert can_save(dialog)
    assert dialog.preferences.devices == (CPU,)


def test_a_chosen_device_that_is_gone_is_named(qtbot: QtBot, background: Background) -> None:
    gone = DeviceId("cuda", "3")
    dialog = open_dialog(qtbot, background, Preferences(devices=(gone,)))
    assert dialog.preferences.devices == (gone,)  # before the search has ended nothing is lost
    dialog.devices.offer(FOUND)
    assert "was not found on this machine" in dialog.devices.boxes[gone].accessibleName()
    dialog.devices.boxes[gone].setChecked(False)
    dialog.devices.boxes[CPU].setChecked(True)
    assert dialog.preferences.devices == (CPU,)
