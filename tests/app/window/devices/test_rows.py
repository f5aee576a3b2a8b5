from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QSettings, Qt
from PySide6.QtGui import QAccessible, QFontMetricsF
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea
from pytestqt.qtbot import QtBot

from framefleet.app.window.devices.figures import Chart
from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.devices.rows import OF_RUN, DeviceRow, RowColumns
from framefleet.app.window.devices.status import DeviceStatus, fold, shares_of
from framefleet.app.window.devices.telemetry import Metric
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.widgets import theme, translation
from framefleet.app.window.widgets.build import ScrollPane
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.recording import Recording
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import DeviceFailed, DeviceReady, DeviceStarting, DeviceStats, EngineBuilding, StrategyChosen
from framefleet.engine.types import DeviceId
from tests.support.devices.topologies import eight
from tests.support.notices import words
from tests.support.window import engine_info, feature, pixels

GPUS = tuple(DeviceId("cuda", str(number)) for number in range(4))


def working(device: DeviceId, frames: int) -> DeviceStatus:
    status = fold(DeviceStatus(device), DeviceReady(engine_info(device)), 0.0)
    return fold(status, DeviceStats(device, frames, 1234.0, 5.0, 9.0), 1.0)


def panel_of(qtbot: QtBot, *statuses: DeviceStatus, width: int = 320) -> DevicePanel:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.resize(width, 600)
    panel.show_devices(statuses)
    return panel


def test_devices_are_rows_that_open_to_their_cards(qtbot: QtBot) -> None:
    panel = panel_of(qtbot, *(working(device, 100) for device in GPUS))
    panel.show()
    panel.refresh()
    first, second, *_ = panel.cards
    assert first.row.isVisible()
    assert not first.whole.isVisible()
    qtbot.mouseClick(first.row, Qt.MouseButton.LeftButton)
    assert first.whole.isVisible()
    assert first.figures.rate.text() == "1,234"  # at once, not with the next repaint
    assert not second.whole.isVisible()
    qtbot.keyClick(first.row, Qt.Key.Key_Return)
    assert not first.whole.isVisible()


def test_a_press_that_is_let_go_elsewhere_opens_nothing(qtbot: QtBot) -> None:
    row = DeviceRow()
    qtbot.addWidget(row)
    row.resize(300, row.height())
    with qtbot.assertNotEmitted(row.clicked):
        qtbot.mouseRelease(row, Qt.MouseButton.LeftButton, pos=QPoint(10, 200))
    with qtbot.waitSignal(row.clicked):
        qtbot.mouseClick(row, Qt.MouseButton.LeftButton)


def test_a_part_of_the_second_line_without_room_is_left_out_whole(qtbot: QtBot) -> None:
    """The share would be cut behind the name of the hardware."""
    rows = DeviceRow(), DeviceRow()
    for row, share in zip(rows, (0.5, None), strict=True):
        qtbot.addWidget(row)
        row.change(name="cpu:0", hardware="A processor with a long name", rate=100.0, share=share)
        row.set_columns(RowColumns("cpu:0", ("rate",), tall=True))
        row.resize(260, row.sizeHint().height())
    narrow, without = (row.grab().toImage() for row in rows)
    assert narrow == without
    for row in rows:
        row.resize(400, row.height())
    wide, without = (row.grab().toImage() for row in rows)
    assert wide != without


def test_a_row_is_a_named_button_for_screen_readers(qtbot: QtBot) -> None:
    panel = panel_of(qtbot, *(working(device, 100) for device in GPUS))
    row = panel.cards[0].row
    known = QAccessible.queryAccessibleInterface(row)
    assert known.role() is QAccessible.Role.Button
    assert known.text(QAccessible.Text.Name).startswith(f"{GPUS[0]}: ")
    assert known.text(QAccessible.Text.Description) == "Shows or hides the details"


def test_charts_stand_below_the_rows_of_few_devices_where_all_have_room(qtbot: QtBot) -> None:
    statuses = [working(device, 100) for device in GPUS[:2]]
    panel = panel_of(qtbot, *statuses)
    panel.resize(348, 574)
    panel.show()

    def with_charts() -> list[bool]:
        return [chart.isVisible() for card in panel.cards for chart in card.findChildren(Chart)]

    qtbot.waitUntil(lambda: with_charts() == [True] * 4)
    panel.refresh()
    assert {chart.top_label.text() for chart in panel.findChildren(Chart)} == {"1,500", "10"}
    scrolled = panel.findChild(ScrollPane).verticalScrollBar()
    qtbot.waitUntil(lambda: scrolled.maximum() == 0)
    panel.resize(348, 160)
    qtbot.waitUntil(lambda: not any(with_charts()))
    panel.resize(348, 574)
    qtbot.mouseClick(panel.cards[0].row, Qt.MouseButton.LeftButton)  # its details have larger ones
    qtbot.waitUntil(lambda: panel.cards[0].opened and panel.cards[0].charts is None)
    panel.resize(348, 160)
    qtbot.waitUntil(lambda: not any(card.charts for card in panel.cards))


def test_many_devices_have_low_charts(qtbot: QtBot) -> None:
    """As many as fit without scrolling: eight below each other in the window of a screen with 1080 lines."""
    panel = panel_of(qtbot, *(working(DeviceId("cuda", str(number)), 100) for number in range(8)), width=440)
    panel.show()
    scrolled = panel.findChild(ScrollPane).verticalScrollBar()

    def show(height: int) -> tuple[int, bool]:
        """Returns the charts' height, the same below all rows, and whether they have titles. 0 = there are no charts."""
        panel.resize(440, height)
        qtbot.wait(50)
        qtbot.waitUntil(lambda: scrolled.maximum() == 0)
        charts = [card.charts for card in panel.cards if card.charts is not None]
        assert len(charts) in (0, 8)
        titles = ("frames/s", "ms latency")
        found = {
            (each.height(), any(label.isVisible() for label in each.findChildren(QLabel) if label.text() in titles)) for each in charts
        }
        return found.pop() if len(found) == 1 else (0, False)

    large, titled = show(1100)
    assert titled
    lower, titled = show(660)
    assert not titled
    least, titled = show(480)
    assert not titled
    assert large > lower > least > 0
    assert show(360) == (0, False)


@pytest.mark.parametrize("width", [440, 900])
def test_a_layout_asks_for_no_other_one(width: int, qtbot: QtBot) -> None:
    """Charts are fitted after each layout. If that asked for another one, they would be fitted for ever."""
    panel = panel_of(qtbot, *(working(DeviceId("cuda", str(number)), 100) for number in range(8)), width=width)
    panel.show_topology(eight())
    panel.show()
    qtbot.waitUntil(lambda: panel.cards[7].charts is not None)
    asked = Counter[QEvent.Type]()

    class Watch(QObject):
        def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802
            asked[event.type()] += 1
            return False

    watch = Watch()
    panel.installEventFilter(watch)
    qtbot.wait(300)
    panel.removeEventFilter(watch)
    assert asked[QEvent.Type.LayoutRequest] < 5


def test_the_only_device_is_open_unless_the_user_closes_it(qtbot: QtBot) -> None:
    statuses = [working(device, 100) for device in GPUS[:2]]
    panel = panel_of(qtbot, statuses[0])
    panel.show()
    (card,) = panel.cards
    assert card.opened
    panel.show_devices(statuses)
    assert not any(card.opened for card in panel.cards)
    panel.show_devices(statuses[:1])
    assert card.opened
    qtbot.mouseClick(card.row, Qt.MouseButton.LeftButton)
    panel.show_devices(statuses[:1])
    assert not card.opened


def test_eight_devices_fit_without_scrolling(qtbot: QtBot, tmp_path: Path) -> None:
    window = MainWindow(QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat), tmp_path)
    qtbot.addWidget(window)
    window.resize(1360, 840)
    window.show()
    statuses = []
    for number in range(8):
        status = working(DeviceId("cuda", str(number)), 100)
        statuses.append(fold(status, DeviceStats(status.device, 200, 1234.0, 5.0, 9.0, bottleneck="network"), 2.0))
    window.context.run.strategy_changed.emit(StrategyChosen("segments", words("files can be cut at keyframes")))
    window.context.run.devices_changed.emit(tuple(statuses))
    area = next(area for area in feature(window, DevicePanel).findChildren(QScrollArea) if area.accessibleName() == "Devices")
    QApplication.processEvents()
    assert feature(window, DevicePanel).run.title.text().startswith("Limited by the model")  # the heading has its full height
    assert [card.row.isVisible() for card in feature(window, DevicePanel).cards] == [True] * 8
    assert area.verticalScrollBar().maximum() == 0
    last = feature(window, DevicePanel).cards[-1].row
    assert last.mapTo(window, QPoint(0, last.height())).y() <= window.status.mapTo(window, QPoint(0, 0)).y()
    window.close()


def test_a_row_shows_a_failure_or_a_build_instead_of_its_metrics(qtbot: QtBot) -> None:
    building = fold(
        fold(DeviceStatus(GPUS[1]), DeviceStarting(GPUS[1], 1), 0.0),
        EngineBuilding(GPUS[1], words("building the plan"), 0.4),
        1.0,
    )
    broken = fold(working(GPUS[2], 1), DeviceFailed(GPUS[2], words("no memory"), restarting=False), 2.0)
    panel = panel_of(qtbot, working(GPUS[0], 99), building, broken)
    panel.show()
    panel.refresh()
    assert [card.row.accessibleName() for card in panel.cards] == [
        "cuda:0: Some Processor, 1,234 frames/s, latency 5.0 ms, 99 of 100 frames within 9.0 ms, 99 % of the frames",
        "cuda:1: building the plan, 0 % of the frames",
        "cuda:2: no memory, 1 % of the frames",
    ]


def test_a_row_names_the_step_of_a_build_in_the_language_of_the_window(qtbot: QtBot, qapp: QApplication) -> None:
    translation.install(qapp, "de")
    building = fold(
        fold(DeviceStatus(GPUS[1]), DeviceStarting(GPUS[1], 1), 0.0),
        EngineBuilding(GPUS[1], Notice("backends.try_precision", precision="bf16"), 0.4),
        1.0,
    )
    panel = panel_of(qtbot, building)
    panel.refresh()
    translation.install(qapp, "en")
    assert panel.cards[0].row.content.message == "bf16 wird erprobt"


@pytest.mark.parametrize("width", [288, 320, 420, 700])
def test_columns_never_touch_however_wide_the_row_is(width: int) -> None:
    for tall in (False, True):
        areas = RowColumns("cuda:10", OF_RUN, tall).areas(width, 32)
        in_order = [areas.name, *areas.cells.values()]
        assert all(left.right() < right.left() for left, right in pairwise(in_order))
        assert in_order[-1].right() <= width


def test_slow_devices_have_whole_latencies_in_the_narrowest_panel(qtbot: QtBot) -> None:
    row = DeviceRow()
    qtbot.addWidget(row)
    row.resize(284, 40)
    row.set_columns(RowColumns("cuda:0", OF_RUN, tall=True))
    row.change(rate=0.05, p50=16_164.0, p99=179_575.0)
    for key, text in (("p50", "16.2 s"), ("p99", "180 s")):
        assert row.content.cell(key)[0] == text
        assert QFontMetricsF(RowColumns(tall=True).font(key)).horizontalAdvance(text) <= row.areas().cells[key].width()


def test_narrow_rows_keep_the_most_important_columns() -> None:
    columns = RowColumns("cuda:0", OF_RUN)
    shown = [tuple(columns.areas(width, 32).cells) for width in (240, 300, 340, 480, 900)]
    assert [keys == OF_RUN[: len(keys)] for keys in shown] == [True] * 5
    assert shown[0] == ("rate", "p50", "p99")
    assert shown[1][-1] == "load"
    assert shown[2][-1] == "memory"
    assert shown[-1] == OF_RUN


def test_a_row_draws_a_failure_in_red_and_an_alarm_in_amber(qtbot: QtBot) -> None:
    def shows(row: DeviceRow, colour: str) -> bool:
        wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
        return bool((abs(pixels(row.grab().toImage()).astype(int) - wanted).max(axis=2) < 12).any())

    row = DeviceRow()
    qtbot.addWidget(row)
    row.resize(320, row.height())
    row.set_columns(RowColumns("cuda:0", ("load",)))
    hot = Metric("Temperature", "91 °C", "91 °C", 0.91)
    row.change(name="cuda:0", colour=theme.GOOD, metrics=(hot,))
    assert not shows(row, theme.DANGER)
    assert not shows(row, theme.WARNING)
    row.change(metrics=(replace(hot, alarm=True),))
    assert shows(row, theme.WARNING)
    row.change(message="it crashed", serious=True)
    assert shows(row, theme.DANGER)


def test_shares_are_of_all_frames_and_absent_where_there_is_nothing_to_share() -> None:
    assert shares_of([working(GPUS[0], 300), working(GPUS[1], 100)]) == {GPUS[0]: 0.75, GPUS[1]: 0.25}
    assert shares_of([working(GPUS[0], 300)]) == {}
    assert shares_of([working(GPUS[0], 0), working(GPUS[1], 0)]) == {}


def test_a_recorded_machine_is_shown_as_it_was(qtbot: QtBot) -> None:
    def described(device: DeviceId) -> DeviceDescription:
        return DeviceDescription(device, "NVIDIA H200", "TensorRT", ("fp16",), memory=141 << 30, compute_capability="9.0", driver="580.1")

    recording = Recording(tuple(map(described, GPUS)), {device: Telemetry(device, utilization=7.0 * at) for at, device in enumerate(GPUS)})
    panel = panel_of(qtbot)
    panel.show_recording(recording)
    panel.show()
    assert len(panel.cards) == 4
    card = panel.cards[3]
    assert card.phase.text() == "Recorded"
    assert card.engine.text() == "141.0 GiB · compute 9.0 · driver 580.1"
    assert card.row.content.metrics[0].text == "21 %"
    card.toggle()
    panel.grab()  # lays out
    shown = card.row.shown_columns()
    assert card.gauges.metrics == tuple(metric for metric in card.row.content.metrics if metric.key not in shown)  # nothing is said twice
    assert card.gauges.metrics
    assert panel.telemetry.watched == ()  # nothing is asked of this machine's driver
    panel.show_devices([working(DeviceId("cpu", "0"), 5)])
    assert [card.row.content.name for card in panel.cards] == ["cpu:0", *map(str, GPUS)]  # what works here comes first
    panel.grab()  # lays out
    tops = [card.mapTo(panel, QPoint(0, 0)).y() for card in panel.cards]
    assert tops == sorted(tops)
    panel.hide()


def test_every_text_of_a_card_fits_the_narrowest_panel(qtbot: QtBot) -> None:
    broken = fold(working(GPUS[0], 1_234_567), DeviceFailed(GPUS[0], words("it crashed: " + "word " * 30), restarting=True), 2.0)
    panel = panel_of(qtbot, broken, working(GPUS[1], 999_999), width=288)
    panel.show()
    panel.refresh()
    for card in panel.cards:
        assert card.width() <= 288
        for text in filter(QLabel.isVisible, card.findChildren(QLabel)):
            assert text.mapTo(card, QPoint(text.width(), 0)).x() <= card.width()


def test_the_command_line_reads_a_recording(tmp_path: Path) -> None:
    from framefleet.app.cli.window import run
    from framefleet.engine.notices import UsageError

    with pytest.raises(UsageError, match="cannot be read"):
        run(["--recording", str(tmp_path / "none.json")])


def test_a_device_that_is_not_here_is_not_described_as_the_recorded_one_of_its_name(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.show_recording(Recording((DeviceDescription(GPUS[0], "NVIDIA H200", "TensorRT", ("fp16",)),), {}))
    card = panel.cards[0]
    assert card.hardware.text() == "NVIDIA H200"
    panel.show_devices([fold(DeviceStatus(GPUS[0]), DeviceFailed(GPUS[0], words("no driver"), False), 0.0)])
    assert panel.cards == (card,)
    assert card.hardware.text() == ""
