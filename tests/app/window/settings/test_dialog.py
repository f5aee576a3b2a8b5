import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, QSettings, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QDialog, QDialogButtonBox, QLabel, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from framefleet.app.window.models.files import ModelParts
from framefleet.app.window.run.background import Background
from framefleet.app.window.settings.dialog import NOTHING, SettingsDialog
from framefleet.app.window.settings.pages import FoldersForm, own_folders
from framefleet.app.window.settings.preferences import STORED, Preferences
from framefleet.app.window.widgets.appearance import Theme, apply_theme, current_theme
from framefleet.app.window.widgets.translation import LANGUAGE
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.settings import Decode, ModelFiles, Parallel, Precision
from framefleet.engine.settings.clock import ClockSource
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.settings.table import DEFAULTS
from framefleet.engine.types import DeviceId
from tests.support.models import TINY_CFG, tiny_files
from tests.support.notices import words
from tests.support.paths import PROJECT
from tests.support.window import CPU, changed_preferences, drop

GPU = DeviceId("openvino", "GPU.0")
FOUND = (
    DeviceDescription(CPU, "Some Processor", "OpenVINO 2026.4", ("fp32", "bf16")),
    DeviceDescription(GPU, "Some Graphics", "OpenVINO 2026.4", (), problem=words("its driver is too old")),
)


@pytest.fixture(autouse=True)
def _dark_again(qapp: QApplication) -> Iterator[None]:
    yield
    if current_theme() is not Theme.DARK:
        apply_theme(qapp, Theme.DARK)


@pytest.fixture
def background() -> Iterator[Background]:
    background = Background()
    yield background
    background.stop()


def a_store() -> QSettings:
    """Settings that no file keeps: the file is never written, because it lies in no folder."""
    return QSettings("/dev/null/settings.ini", QSettings.Format.IniFormat)


def open_dialog(qtbot: QtBot, background: Background, preferences: Preferences, chosen: Mapping[str, str] = NOTHING) -> SettingsDialog:
    dialog = SettingsDialog(preferences, background, a_store(), chosen)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def can_save(dialog: SettingsDialog) -> bool:
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Save).isEnabled()


def shown_text(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def field(dialog: SettingsDialog, name: str) -> Any:
    """The widget in which a setting is edited."""
    return next(form.fields[name] for form in (dialog.sharing, dialog.detection, dialog.videos, dialog.advanced) if name in form.fields)


def pick(dialog: SettingsDialog, name: str, value: StrEnum) -> None:
    """Choose an entry as a user does."""
    field(dialog, name).setCurrentIndex(field(dialog, name).findData(value))


def test_everything_that_is_set_comes_out_again(qtbot: QtBot, background: Background) -> None:
    preferences = changed_preferences(tiny_files(3), devices=(CPU,))
    assert {name for name in STORED if preferences.values[name] == DEFAULTS[name]} == set()
    dialog = open_dialog(qtbot, background, preferences)
    dialog.devices.offer(FOUND)
    qtbot.waitUntil(lambda: can_save(dialog))
    assert dialog.preferences == preferences
    dialog.accept()
    assert dialog.result() == QDialog.DialogCode.Accepted.value
    assert open_dialog(qtbot, background, Preferences()).preferences == Preferences()


def test_a_part_that_cannot_be_read_or_is_empty_is_explained(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.devices.offer(FOUND)
    field(dialog, "every").setText("often")
    assert "'often' cannot be used: give a time such as 90s" in dialog.videos.problems["every"].text()
    assert not can_save(dialog)
    field(dialog, "every").setText(" 1s ")
    field(dialog, "begin").setText("1:30")
    assert can_save(dialog)
    field(dialog, "end").setText("90s")
    assert dialog.videos.problems["end"].text().startswith("The part from 90s to 90s is empty")
    assert not can_save(dialog)
    field(dialog, "end").setText("")
    field(dialog, "time_zone").setText("Berlin")
    assert "'Berlin' is not a known time zone" in dialog.videos.problems["time_zone"].text()
    field(dialog, "time_zone").setText("")
    assert can_save(dialog)
    assert dialog.preferences == Preferences.of(every=Moment(seconds=Fraction(1)), begin=Moment(seconds=Fraction(90)))


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


def test_the_dialog_can_close_while_a_model_is_checked(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.model.set_parts(ModelParts(TINY_CFG, "random:1"))
    dialog.model.check()
    delete(dialog)  # before the result arrives
    with qtbot.captureExceptions() as problems:
        qtbot.waitUntil(lambda: not background.busy, timeout=10_000)
    assert problems == []


def test_the_weights_beside_a_cfg_are_found(qtbot: QtBot, background: Background, tmp_path: Path) -> None:
    (tmp_path / "m.cfg").write_text(TINY_CFG.read_text())
    (tmp_path / "m.weights").write_bytes(b"wrong size")
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.model.cfg.set_path(tmp_path / "m.cfg")
    assert dialog.model.weights.path == tmp_path / "m.weights"
    qtbot.waitUntil(lambda: dialog.model.verdict.property("role") == "error")


def test_a_cfg_that_cannot_be_examined_is_explained(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.model.cfg.set_path(f"/{'n' * 300}")
    dialog.model.weights.set_path("/tmp/m.weights")
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
    assert (form.boxes[CPU].isEnabled(), form.boxes[CPU].isChecked()) == (False, True)  # it is used
    form.automatic.setChecked(False)
    assert form.boxes[CPU].isEnabled()
    assert not form.boxes[GPU].isEnabled()  # its driver is too old
    assert "ts driver is too old" in form.boxes[GPU].accessibleName()
    assert "Its driver is too old" in shown_text(form)
    form.boxes[CPU].setChecked(False)
    assert not can_save(dialog)  # nothing is ticked
    assert form.problem.text().startswith("Select at least one device")
    form.boxes[CPU].setChecked(True)
    assert can_save(dialog)
    assert dialog.preferences.values["devices"] == (CPU,)


def test_a_second_cpu_device_is_no_device_that_is_gone(qtbot: QtBot, background: Background) -> None:
    second = DeviceId("cpu", "1")
    dialog = open_dialog(qtbot, background, Preferences.of(devices=(CPU, second)))
    dialog.devices.offer(FOUND)
    assert "Shares the processor" in dialog.devices.boxes[second].accessibleName()
    assert "not found" not in shown_text(dialog.devices)
    assert dialog.preferences.values["devices"] == (CPU, second)


def test_a_chosen_device_that_is_gone_is_named(qtbot: QtBot, background: Background) -> None:
    gone = DeviceId("cuda", "3")
    dialog = open_dialog(qtbot, background, Preferences.of(devices=(gone,)))
    assert dialog.preferences.values["devices"] == (gone,)  # before the search has ended nothing is lost
    dialog.devices.offer(FOUND)
    assert "was not found on this machine" in dialog.devices.boxes[gone].accessibleName()
    dialog.devices.boxes[gone].setChecked(False)
    dialog.devices.boxes[CPU].setChecked(True)
    assert dialog.preferences.values["devices"] == (CPU,)


CUDA = tuple(DeviceId("cuda", str(number)) for number in range(4))
GPUS = tuple(DeviceDescription(device, "NVIDIA H200", "TensorRT", ("fp32", "fp16"), memory=150 << 30) for device in CUDA)


def test_what_is_known_of_a_device_stands_beside_it(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.devices.offer((*FOUND, *GPUS))
    assert "NVIDIA H200 · 150.0 GiB · fp32, fp16 · TensorRT" in shown_text(dialog.devices)
    assert dialog.devices.automatic.text().endswith("(4 devices)")
    dialog.devices.automatic.setChecked(False)
    for device in (CUDA[1], CUDA[3]):  # the automatic choice is ticked at first
        dialog.devices.boxes[device].click()
    assert dialog.preferences.values["devices"] == (CUDA[0], CUDA[2])


def test_what_cannot_work_together_is_explained_where_it_is_set(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences.of(devices=(CPU, CUDA[0])))
    dialog.devices.offer((*FOUND, *GPUS))
    strategy, precision = dialog.sharing.problems["parallel"], dialog.advanced.problems["precision"]
    assert can_save(dialog)
    pick(dialog, "parallel", Parallel.DEPTH)
    assert "needs CUDA devices only, or other devices only, not both (cpu:0, cuda:0)" in strategy.text()
    assert not can_save(dialog)
    dialog.devices.boxes[CPU].click()
    assert strategy.text().startswith("The strategy depth needs 2 to 8 devices, one for each stage, not 1 (cuda:0): ")
    dialog.devices.boxes[CUDA[1]].click()
    assert not strategy.isVisible()
    assert can_save(dialog)
    pick(dialog, "precision", Precision.BF16)
    assert precision.text() == "cuda:0 offers FP32, FP16 only; cuda:1 offers FP32, FP16 only."
    assert not can_save(dialog)
    pick(dialog, "precision", Precision.AUTO)
    pick(dialog, "decode", Decode.NVDEC)
    assert can_save(dialog)
    for device in CUDA[:2]:
        dialog.devices.boxes[device].click()
    dialog.devices.boxes[CPU].click()
    assert "none is among the devices (cpu:0)" in shown_text(dialog.advanced)
    assert not can_save(dialog)


def test_every_cpu_device_offers_what_the_processor_does(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences.of(devices=(DeviceId("cpu", "1"),)))
    dialog.devices.offer((*FOUND, *GPUS))
    pick(dialog, "precision", Precision.FP16)
    assert dialog.advanced.problems["precision"].text().startswith("cpu:1 offers ")
    assert not can_save(dialog)


def test_what_automatic_devices_come_to_is_checked_once_it_is_known(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences.of(parallel=Parallel.DEPTH))
    assert can_save(dialog)
    dialog.devices.offer(FOUND)
    assert "not 1 (cpu:0)" in dialog.sharing.problems["parallel"].text()
    assert not can_save(dialog)


def test_tiles_have_fields_of_their_own(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    columns = field(dialog, "columns")
    assert not columns.isVisible()
    pick(dialog, "parallel", Parallel.TILES)
    assert columns.isVisible()
    assert dialog.preferences == Preferences.of(parallel=Parallel.TILES)
    qtbot.keyClicks(columns, "3")
    field(dialog, "full_frame").click()
    assert dialog.preferences == Preferences.of(parallel=Parallel.TILES, columns=3, full_frame=False)


def test_advanced_settings_are_folded_away_until_they_matter(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    assert not dialog.advanced.isVisible()
    dialog.pane.fold.click()
    assert dialog.advanced.isVisible()
    qtbot.waitUntil(lambda: not field(dialog, "decode_threads").visibleRegion().isEmpty())
    dialog = open_dialog(qtbot, background, Preferences.of(latency_budget=20.0))
    assert dialog.advanced.isVisible()
    assert not dialog.advanced.notes["latency_budget"].isVisible()
    field(dialog, "batch").setValue(4)
    assert dialog.advanced.notes["latency_budget"].text() == "It has no effect while the batch is set to 4."
    assert can_save(dialog)


def test_the_wheel_scrolls_and_changes_nothing(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.resize(dialog.width(), 300)
    for name in ("resize", "batch", "iou"):
        edited = field(dialog, name)
        before = dialog.preferences
        dialog.pane.verticalScrollBar().setValue(0)
        where = QPointF(edited.rect().center())
        down = QWheelEvent(
            where, edited.mapToGlobal(where), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(edited, down)
        assert dialog.preferences == before
        assert not down.isAccepted()


def test_a_long_name_pushes_no_button_out(qtbot: QtBot, background: Background, tmp_path: Path) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.model.cfg.set_path(str(tmp_path / ("x" * 200 + ".cfg")))
    qtbot.waitUntil(lambda: "xxx" in dialog.model.verdict.text())
    assert dialog.pane.inside.minimumSizeHint().width() <= dialog.pane.viewport().width()


def test_frequent_choices_have_titles_and_other_texts_can_be_typed(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    every, clock = field(dialog, "every"), field(dialog, "clock")
    assert (every.currentText(), clock.currentText()) == ("Every frame", "Unknown")
    every.setCurrentIndex(every.findText("1 second"))
    clock.setCurrentIndex(clock.findText("In the name of the file"))
    assert dialog.preferences == Preferences.of(every=Moment(seconds=Fraction(1)), clock=ClockSource.NAME)
    assert dialog.videos.choices["clock"].text() == "north_20261101_070000.mp4 → 2026-11-01 07:00:00"
    for combo, text in ((every, "7s"), (clock, "2026-11-01 08:00")):
        combo.lineEdit().selectAll()
        qtbot.keyClicks(combo.lineEdit(), text)
    values = dialog.preferences.values
    assert (values["every"], values["clock"]) == (Moment(seconds=Fraction(7)), datetime(2026, 11, 1, 8))
    again = open_dialog(qtbot, background, Preferences.of(every=Moment(seconds=Fraction(60)), clock=values["clock"]))
    assert (field(again, "every").currentText(), field(again, "clock").currentText()) == ("1 minute", "2026-11-01 08:00:00")
    assert again.preferences.values["clock"] == values["clock"]


def test_a_topic_leads_to_its_section_and_follows_scrolling(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.resize(dialog.width(), 420)
    topics, bar = dialog.pane.topics, dialog.pane.verticalScrollBar()
    titles = [topics.item(row).text() for row in range(topics.count())]
    assert titles == ["Model", "Devices", "Sharing the work", "Detection", "Videos", "Window", "Files", "Advanced"]
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    qtbot.mouseClick(topics.viewport(), Qt.MouseButton.LeftButton, pos=topics.visualItemRect(topics.item(3)).center())
    assert bar.value() == dialog.detection.parentWidget().y() > 0
    bar.setValue(0)
    assert topics.currentRow() == 0
    bar.setValue(bar.maximum())
    assert topics.currentItem().text() == "Advanced"
    topics.setFocus()
    qtbot.keyClick(topics, Qt.Key.Key_Home)
    qtbot.keyClick(topics, Qt.Key.Key_Down)
    assert (topics.currentRow(), bar.value()) == (1, dialog.devices.parentWidget().y())
    qtbot.keyClick(topics, Qt.Key.Key_End)
    assert dialog.advanced.isVisible()
    qtbot.waitUntil(lambda: not field(dialog, "precision").visibleRegion().isEmpty())
    assert topics.currentItem().text() == "Advanced"
    qtbot.keyClicks(dialog.search, "iou")
    assert [topics.item(row).text() for row in range(topics.count()) if not topics.item(row).isHidden()] == ["Detection"]


def test_tab_stops_only_at_what_can_be_operated(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.activateWindow()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is not None)
    stops = []
    for _key in range(70):
        focused = QApplication.focusWidget()
        assert focused is not None
        stops.append(focused.accessibleName() or getattr(focused, "text", str)())
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert stops[0] == "Search settings"
    assert {"network description", "weights", "Reset all", "Strategy", "Advanced", "Cancel"} <= set(stops)
    assert all(stops)


def test_search_shows_the_rows_that_contain_the_text(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences.of(None), {"precision": "Last run: bf16."})
    shown = {name for form in dialog.forms for name, field in form.fields.items() if field.isVisible()}
    qtbot.keyClicks(dialog.search, "precision")
    dialog.search.setFocus()
    qtbot.keyClick(dialog.search, Qt.Key.Key_Return)
    assert dialog.isVisible(), "Enter in the search field does not save"
    assert {name for form in dialog.forms for name, field in form.fields.items() if field.isVisible()} == {"precision"}
    assert not dialog.folders.isVisible()
    assert dialog.advanced.choices["precision"].isVisible()
    dialog.search.clear()
    assert {name for form in dialog.forms for name, field in form.fields.items() if field.isVisible()} == shown
    assert dialog.folders.isVisible()
    qtbot.keyClicks(dialog.search, "files")
    assert dialog.folders.isVisible()
    dialog.search.setText("track")
    assert dialog.detection.fields["track"].isVisible()
    assert not next(section for section in dialog.pane.sections if section.isVisible()).line.isVisible()  # a line stands between two
    dialog.search.setText("language")
    assert dialog.window_.isVisible()
    assert not dialog.detection.isVisible()
    dialog.search.setText("weights")
    assert dialog.model.isVisible()
    dialog.search.setText("tile")
    assert not dialog.sharing.isVisible(), "only the size of tiles has the word, and another strategy hides it"
    dialog.search.clear()
    dialog.pane.verticalScrollBar().setValue(100)
    dialog.search.setText("de")
    assert dialog.pane.verticalScrollBar().value() == 0
    assert dialog.pane.topics.currentItem().text() == "Model"
    dialog.search.setText("decode")
    assert dialog.pane.topics.currentItem().text() == "Advanced"
    assert dialog.advanced.isVisible()
    assert not dialog.advanced.choices["precision"].isVisible(), "the sentence about a setting that the search hides"
    dialog.search.setText("nowhere")
    assert dialog.pane.nothing.text() == "No setting has 'nowhere' in its name."
    dialog.search.clear()
    assert dialog.pane.nothing.isHidden()


def test_search_finds_the_devices_by_the_words_of_users(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences())
    dialog.devices.offer([DeviceDescription(DeviceId("cpu", "0"), "Some Processor", "OpenVINO", ("fp32",))])
    for text in ("gpu", "CUDA", "graphics", "card"):
        dialog.search.setText("confidence")
        assert not dialog.devices.isVisible()
        dialog.search.setText(text)
        assert (dialog.devices.isVisible(), dialog.model.isVisible()) == (True, False), text


def test_reset_restores_the_defaults_of_everything_but_the_model(qtbot: QtBot, background: Background) -> None:
    changed = Preferences.of(tiny_files(), **{**DEFAULTS, "confidence": 0.4, "precision": Precision.FP32, "batch": 8, "devices": (CPU,)})
    dialog = open_dialog(qtbot, background, changed)
    assert dialog.preferences.values["batch"] == 8
    dialog.buttons.button(QDialogButtonBox.StandardButton.RestoreDefaults).click()
    values = dialog.preferences.values
    assert {name: values[name] for name in STORED} == {name: DEFAULTS[name] for name in STORED}
    assert dialog.preferences.model is not None


def test_the_cache_is_measured_and_emptied(qtbot: QtBot, background: Background, tmp_path: Path) -> None:
    for name in ("Sessions", "Cache/plans"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_bytes(bytes(2048))
    form = FoldersForm(background, {name: tmp_path / name for name in ("Sessions", "Cache", "Logs")})
    qtbot.addWidget(form)

    def sizes() -> list[str]:
        return [line.text() for line in form.sizes.values()]

    qtbot.waitUntil(lambda: sizes() == ["2.0 KiB", "2.0 KiB", "0 bytes"])
    form.clean["Cache"].click()
    qtbot.waitUntil(lambda: sizes() == ["2.0 KiB", "0 bytes", "0 bytes"])
    assert (tmp_path / "Cache").is_dir()


def test_folders_move_for_the_window_and_the_command_line(
    qtbot: QtBot, background: Background, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    (tmp_path / "file").touch()
    form = FoldersForm(background)
    qtbot.addWidget(form)
    form.show()
    assert not form.default["Models"].isVisible()
    form.move_to("Models", tmp_path / "file" / "models")
    assert "file" in form.problem.text()
    form.move_to("Models", tmp_path / "big disk")
    assert (form.problem.text(), form.paths["Models"].text()) == ("", str(tmp_path / "big disk"))
    command = [sys.executable, "-m", "framefleet.app", "models", "--json"]
    used = json.loads(subprocess.run(command, capture_output=True, check=True, cwd=PROJECT).stdout)
    assert used["folder"] == str(tmp_path / "big disk")
    assert own_folders()["Models"] == tmp_path / "big disk"
    form.default["Models"].click()
    assert own_folders()["Models"] == tmp_path / "DATA" / "framefleet" / "models"


def test_what_the_last_run_chose_stands_below_automatic_values(qtbot: QtBot, background: Background) -> None:
    chosen = {"parallel": "The last run took segments.", "precision": "The last run took bf16."}
    dialog = open_dialog(qtbot, background, Preferences.of(precision=Precision.FP32), chosen)
    dialog.pane.fold.setChecked(True)
    assert "The last run took segments." in shown_text(dialog)
    assert "The last run took bf16." not in shown_text(dialog)
    pick(dialog, "precision", Precision.AUTO)
    assert "The last run took bf16." in shown_text(dialog)


def test_shares_are_shown_in_percent(qtbot: QtBot, background: Background) -> None:
    dialog = open_dialog(qtbot, background, Preferences.of(confidence=0.375, iou=0.45))
    assert [field(dialog, name).text() for name in ("confidence", "iou", "overlap")] == ["37.5 %", "45 %", "20 %"]
    field(dialog, "iou").selectAll()
    qtbot.keyClicks(field(dialog, "iou"), "60")
    assert (dialog.preferences.values["confidence"], dialog.preferences.values["iou"]) == (0.375, 0.6)


def test_settings_travel_as_a_file(qtbot: QtBot, background: Background, tmp_path: Path) -> None:
    first = open_dialog(qtbot, background, Preferences.of(precision=Precision.FP32, iou=0.6, devices=(CPU,)))
    first.give(str(tmp_path / "settings.json"))
    second = open_dialog(qtbot, background, Preferences.of(batch=4))
    second.take(str(tmp_path / "settings.json"))
    assert second.preferences.values == first.preferences.values
    assert not second.problem.isVisible()
    (tmp_path / "broken.json").write_text("{")
    second.take(str(tmp_path / "broken.json"))
    assert "broken.json has no settings of Framefleet" in second.problem.text()
    assert second.preferences.values == first.preferences.values
    first.give("/dev/null/settings.json")
    assert "annot write /dev/null/settings.json" in first.problem.text()


def test_the_theme_changes_at_once_and_goes_back_when_the_dialog_is_cancelled(qtbot: QtBot, background: Background) -> None:
    for outcome, after in ((QDialog.DialogCode.Rejected, Theme.DARK), (QDialog.DialogCode.Accepted, Theme.LIGHT)):
        dialog = open_dialog(qtbot, background, Preferences())
        dialog.window_.theme.setCurrentIndex(dialog.window_.theme.findData(Theme.LIGHT))
        assert current_theme() is Theme.LIGHT
        dialog.done(outcome.value)
        assert current_theme() is after


def test_the_language_is_stored_and_the_change_is_known(qtbot: QtBot, background: Background, tmp_path: Path) -> None:
    store = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    dialog = SettingsDialog(Preferences(), background, store)
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.window_.language_changed
    dialog.window_.language.setCurrentIndex(dialog.window_.language.findData("de"))
    assert dialog.window_.language_changed
    dialog.done(QDialog.DialogCode.Accepted.value)
    assert store.value(LANGUAGE) == "de"
