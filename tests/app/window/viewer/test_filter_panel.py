from pathlib import Path

from PySide6.QtCore import QEvent, QSettings, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from framefleet.app.window.viewer.filter import Filter, ViewFilter
from framefleet.app.window.viewer.filter_panel import FilterPanel

LABELS = ("person", "bicycle", "car", "motorbike", "traffic light")


def make_panel(qtbot: QtBot, shown: Filter | None = None) -> FilterPanel:
    shown = shown or Filter()
    panel = FilterPanel(shown)
    qtbot.addWidget(panel)
    shown.set_labels(LABELS)
    panel.resize(320, 420)
    panel.show()
    return panel


def rows(panel: FilterPanel) -> list[str]:
    return [panel.classes.index(row, 0).data() for row in range(panel.classes.rowCount())]


def test_ticks_can_be_read_on_every_colour(qtbot: QtBot) -> None:
    shown = Filter()
    panel = FilterPanel(shown)
    qtbot.addWidget(panel)
    shown.set_labels([f"class {number}" for number in range(12)])
    panel.resize(320, 900)
    panel.show()
    image = panel.view.viewport().grab().toImage()
    for row in range(12):
        area = panel.view.visualRect(panel.classes.index(row, 0))
        lights = [image.pixelColor(x, area.center().y()).lightnessF() for x in range(area.left() + 18, area.left() + 30)]
        assert max(lights) - min(lights) > 0.3, panel.classes.index(row, 0).data()


def test_the_slider_acts_at_once(qtbot: QtBot) -> None:
    shown = Filter()
    panel = make_panel(qtbot, shown)
    with qtbot.waitSignal(shown.changed) as changed:
        panel.slider.setValue(60)
    assert changed.args == [ViewFilter(0.6)]
    assert panel.spin.value() == 60
    with qtbot.waitSignal(shown.changed) as changed:
        panel.spin.setValue(30)
    assert changed.args == [ViewFilter(0.3)]
    assert panel.slider.value() == 30


def test_it_goes_no_lower_than_what_detection_kept(qtbot: QtBot) -> None:
    shown = Filter()
    panel = make_panel(qtbot, shown)
    shown.set_floor(0.05)
    panel.slider.setValue(0)
    assert shown.value.confidence == 0.05
    shown.set_floor(0.02)
    panel.slider.setValue(2)
    assert shown.value.confidence == 0.02


def test_a_click_on_a_class_hides_it_and_another_shows_it_again(qtbot: QtBot) -> None:
    shown = Filter()
    panel = make_panel(qtbot, shown)
    where = panel.view.visualRect(panel.classes.index(2, 0)).center()
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert shown.value.classes == {0, 1, 3, 4}
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert shown.value.classes is None


def test_a_double_click_shows_only_this_class_and_the_next_all(qtbot: QtBot) -> None:
    shown = Filter()
    panel = make_panel(qtbot, shown)
    where = panel.view.visualRect(panel.classes.index(1, 0)).center()
    viewport = panel.view.viewport()
    for expected in ({1}, None):
        qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=where)
        qtbot.mouseDClick(viewport, Qt.MouseButton.LeftButton, pos=where)
        qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=where)
        assert shown.value.classes == expected


def test_the_choice_is_there_again_at_the_next_start_and_after_another_model(qtbot: QtBot, tmp_path: Path) -> None:
    store = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    shown = Filter()
    panel = make_panel(qtbot, shown)
    shown.remember(store)
    panel.nothing.click()
    panel.classes.setData(panel.classes.index(0, 0), Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)
    panel.slider.setValue(40)
    shown.set_labels(("ball",))
    assert shown.value.classes is None
    again = Filter()
    again.remember(store)
    again.set_labels(LABELS)
    assert again.value == ViewFilter(0.4, frozenset({0}))


def test_space_toggles_the_class_under_the_cursor(qtbot: QtBot) -> None:
    shown = Filter()
    panel = make_panel(qtbot, shown)
    panel.view.setCurrentIndex(panel.classes.index(0, 0))
    qtbot.keyClick(panel.view, Qt.Key.Key_Space)
    assert shown.value.classes == {1, 2, 3, 4}


def test_search_narrows_the_list_and_all_and_none_act_on_what_is_listed(qtbot: QtBot) -> None:
    shown = Filter()
    panel = make_panel(qtbot, shown)
    qtbot.keyClicks(panel.search, "BIKE")
    assert rows(panel) == ["motorbike"]
    panel.nothing.click()
    assert shown.value.classes == {0, 1, 2, 4}
    panel.search.clear()
    assert len(rows(panel)) == 5
    panel.nothing.click()
    assert shown.value.classes == set()
    panel.everything.click()
    assert shown.value.classes is None


def test_the_list_shrinks_to_the_classes_that_were_found(qtbot: QtBot) -> None:
    shown = Filter()
    panel = make_panel(qtbot, shown)
    assert len(rows(panel)) == 5
    panel.set_counts({4: 12, 2: 1300})
    assert rows(panel) == ["car", "traffic light"]
    assert panel.classes.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole) == "car, 1,300 detections"
    qtbot.keyClicks(panel.search, "bike")
    assert rows(panel) == ["motorbike"]  # a search finds the others, too
    panel.search.clear()
    panel.nothing.click()  # hides classes that are not listed as well
    assert (shown.value.classes, rows(panel)) == (set(), ["car", "traffic light"])
    panel.set_counts({})
    assert len(rows(panel)) == 5


def test_another_model_shows_all_its_classes(qtbot: QtBot) -> None:
    shown = Filter()
    panel = make_panel(qtbot, shown)
    panel.nothing.click()
    shown.set_labels(("cat", "dog"))
    assert shown.value.classes is None
    assert rows(panel) == ["cat", "dog"]


def test_rows_stay_under_the_mouse_and_move_when_it_leaves(qtbot: QtBot) -> None:
    shown = Filter()
    panel = make_panel(qtbot, shown)
    panel.view.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    panel.set_counts({2: 5})
    assert rows(panel) == list(LABELS)
    panel.view.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    QApplication.sendEvent(panel.view, QEvent(QEvent.Type.Leave))
    assert rows(panel)[0] == "car"
