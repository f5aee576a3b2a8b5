import math
import time
from dataclasses import replace

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from framefleet.app.window.bars import StatusLine
from framefleet.app.window.devices.figures import Chart, in_order
from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.devices.rows import Gauges
from framefleet.app.window.devices.status import DeviceStatus, Phase, fold
from framefleet.app.window.devices.telemetry import Metric
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.build import ScrollPane
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import DeviceFailed, DeviceLeft, DeviceReady, DeviceStarting, DeviceStats, EngineBuilding, StrategyChosen
from framefleet.engine.types import DeviceId, of_device
from tests.support.notices import words
from tests.support.window import CPU, engine_info

GPU = DeviceId("cuda", "0")


def working(now: float, rate: float = 41.5) -> DeviceStatus:
    status = fold(DeviceStatus(CPU), DeviceReady(engine_info()), now)
    return fold(status, DeviceStats(CPU, 1234, rate, 12.3, 30.1, {"decode": 1.0, "infer": 8.24}), now)


def pane_of(panel: DevicePanel) -> ScrollPane:
    """The scrolled list of devices."""
    return next(pane for pane in panel.findChildren(ScrollPane) if pane.accessibleName() == "Devices")


def test_a_card_shows_what_a_device_is_and_does(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.resize(320, 500)
    panel.show()
    panel.show_devices([fold(DeviceStatus(CPU), DeviceStarting(CPU, 1), 0.0)])
    (card,) = panel.cards
    assert (card.phase.text(), card.engine.text(), card.figures.isVisibleTo(card)) == ("Starting", "", False)
    assert card.row.content.message == "Building the engine…"
    card.row.resize(262, card.row.height())  # the narrowest panel
    assert QFontMetricsF(theme.font(-1)).horizontalAdvance(card.row.content.message) <= card.row.message_area.width()
    now = time.monotonic()
    panel.show_devices([working(now)])
    card.refresh(now)
    assert card.figures.rate.text() == "41.5"
    assert card.figures.latency.text() == "12.3"
    assert card.figures.tail.text() == "99 of 100 within 30.1 ms"
    assert card.figures.frames.text() == "1,234 frames"
    assert "OpenVINO 2026.4 · bf16 · 320×320 · batch 1" in card.engine.text()
    assert "the fastest that matches fp32" in card.engine.toolTip()
    assert card.figures.stage_text.text() == "ms: decode\N{NO-BREAK SPACE}1.0 · detect\N{NO-BREAK SPACE}8.2"
    assert card.figures.unit.text() == "frames/s"
    panel.show_devices([replace(working(now), resting=True)])
    assert card.figures.unit.text() == "frames/s, mean"
    panel.show_devices([replace(working(now), rate=0.0, samples=())])
    card.refresh(now)
    assert (card.figures.rate.text(), card.figures.latency.text(), card.figures.tail.text()) == ("–", "–", "")


def test_a_card_leaves_room_for_the_scroll_bar(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.resize(262, 260)
    panel.show()
    now = time.monotonic()
    panel.show_devices([fold(working(now), DeviceStats(CPU, 1234567, 2.4, 2438.0, 21030.0, {"queue": 1224.0, "infer": 889.0}), now)])
    panel.refresh()
    pane = pane_of(panel)
    qtbot.waitUntil(pane.verticalScrollBar().isVisible)
    qtbot.waitUntil(lambda: pane.widget().width() == pane.viewport().width())
    assert panel.cards[0].figures.stage_text.text() == "ms: waiting\N{NO-BREAK SPACE}1,224 · detect\N{NO-BREAK SPACE}889"


def test_failures_are_on_the_card_in_words(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    status = fold(working(0.0), DeviceFailed(CPU, words("the worker was killed (signal 9)"), False), 1.0)
    panel.show_devices([status])
    (card,) = panel.cards
    assert card.phase.text() == "Failed"
    assert card.message.text() == "the worker was killed (signal 9)"
    assert card.message.isVisibleTo(card)
    panel.show_devices([fold(status, DeviceReady(engine_info()), 2.0)])
    assert not card.message.isVisibleTo(card)


def test_the_building_of_an_engine_is_on_the_card(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    status = fold(DeviceStatus(GPU), EngineBuilding(GPU, words("building the plan"), 0.374), 0.0)
    panel.show_devices([status])
    (card,) = panel.cards
    row = card.row
    assert (card.phase.text(), row.content.message, row.content.progress) == ("Building 37 %", "building the plan", 0.374)
    assert "building" not in card.engine.text()  # the row says it
    panel.show_devices([fold(status, EngineBuilding(GPU, words("timing it"), 1.0), 0.5)])
    assert card.phase.text() == "Building 99 %"  # it goes on
    panel.show_devices([fold(status, DeviceReady(engine_info(GPU)), 1.0)])
    assert (row.content.message, row.content.progress) == ("", 0.0)


def test_what_sets_the_pace_and_what_has_changed_is_said(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.show()
    engine = replace(engine_info(GPU), batch=32)
    smaller = replace(engine, batch=16, reason=Notice("backends.batch", batch=16, why=words("its memory was full")))
    status = fold(fold(DeviceStatus(GPU), DeviceReady(engine), 0.0), DeviceReady(smaller), 1.0)
    busy = {"network": 0.39, "decode": 0.42}
    stats = DeviceStats(GPU, 100, 50.0, 5.0, 9.0, {"decode": 3.0, "infer": 9.0}, busy=busy, bottleneck="decode")
    panel.show_devices([fold(status, stats, 2.0)])
    (card,) = panel.cards
    card.refresh()
    assert card.note.text() == "The batch size changed from 32 to 16: its memory was full"
    assert card.figures.bottleneck.text() == "Slowest stage: decode"
    assert card.figures.stage_text.text() == "ms: decode\N{NO-BREAK SPACE}0.42 · network\N{NO-BREAK SPACE}0.39"  # the device's own clock


def test_a_failed_device_keeps_what_it_did_and_loses_its_charts(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.show()
    broken = fold(working(0.0), DeviceFailed(CPU, words("it crashed"), False), 1.0)
    panel.show_devices([broken, fold(DeviceStatus(GPU), DeviceStats(GPU, 1234, 0.0, None, None), 1.0)])
    card = panel.cards[0]
    card.refresh()
    assert (card.figures.rate.text(), card.figures.frames.text()) == ("–", "50 % of the frames")
    assert not card.figures.moving.isVisible()


def test_telemetry_of_this_machine_is_on_the_card_while_it_can_be_seen(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.resize(400, 300)
    panel.know_devices([DeviceDescription(CPU, "Some Processor", "OpenVINO", ("fp32",))])
    panel.show_devices([working(time.monotonic())])
    assert panel.telemetry.watched == ()
    panel.show()
    (card,) = panel.cards
    qtbot.waitUntil(lambda: any(metric.name == "Memory" and metric.known for metric in card.row.content.metrics))
    assert not card.gauges.isVisible()  # the row has room for both metrics
    assert card.gauges.toolTip().startswith("Utilization: ")
    panel.hide()
    assert panel.telemetry.watched == ()


def test_cards_come_and_go_with_the_devices(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.show_devices([DeviceStatus(CPU), DeviceStatus(GPU)])
    assert [card.row.content.name for card in panel.cards] == ["cpu:0", "cuda:0"]
    panel.show_devices([DeviceStatus(GPU)])
    assert [card.row.content.name for card in panel.cards] == ["cuda:0"]


def test_nothing_is_repainted_while_nobody_looks(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.show_devices([working(time.monotonic())])
    (card,) = panel.cards
    assert not any(timer.isActive() for timer in panel.findChildren(QTimer, options=Qt.FindChildOption.FindDirectChildrenOnly))
    assert card.figures.rate_chart.top_label.text() == "1"  # never refreshed
    panel.resize(320, 500)
    panel.show()
    qtbot.waitUntil(lambda: card.figures.rate_chart.top_label.text() == "50")


def test_a_chart_draws_its_lines_and_leaves_gaps(qtbot: QtBot) -> None:
    chart = Chart("Throughput", ("#ff0000",))
    qtbot.addWidget(chart)
    chart.resize(300, 64)
    chart.show()
    chart.show_values([-50.0, -40.0, -20.0, -10.0], [[70.0, 70.0, math.nan, 70.0]])
    assert chart.top_label.text() == "70"
    image = chart.grab().toImage()
    width = image.width() - 30
    column = [image.pixelColor(int(width * 0.25), y).red() for y in range(64)]  # at -45 s
    gap = [image.pixelColor(int(width * 0.6), y).red() for y in range(64)]  # at -24 s
    assert max(column) > 150
    assert max(gap) < 60
    chart.show_values([-1.0, 0.0], [[1.0, 9_500.0]])
    assert chart.top_label.text() == "10,000"
    assert chart.top_label.width() > chart.top_label.fontMetrics().horizontalAdvance("10,000")


def test_the_status_line_hides_nothing(qtbot: QtBot) -> None:
    line = StatusLine()
    qtbot.addWidget(line)
    assert line.devices.text() == "No device in use yet"
    line.show_devices([working(0.0)])
    assert line.devices.text() == "cpu:0 · OpenVINO 2026.4 · bf16"
    assert "the fastest that matches fp32" in line.devices.toolTip()
    broken = fold(DeviceStatus(GPU), DeviceFailed(GPU, words("no driver"), False), 1.0)
    line.show_devices([working(0.0), broken])
    assert line.devices.text() == "cpu:0 · OpenVINO 2026.4 · bf16 · 1 failed"
    line.show_devices([broken])
    assert (line.devices.text(), line.devices.toolTip()) == ("No device left", "cuda:0: no driver")
    line.show_strategy(StrategyChosen("streams", Notice("pool.as_settings_say")))
    assert (line.strategy.text(), line.strategy.toolTip()) == ("Strategy: Streams", "As the settings say")
    line.show_strategy(StrategyChosen("frames", words("a long reason " * 30)))
    assert max(map(len, line.strategy.toolTip().splitlines())) <= 80


def test_a_device_that_ends_with_its_session_is_idle(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    status = DeviceStatus(CPU, Phase.IDLE, engine=engine_info())
    panel.show_devices([status])
    assert panel.cards[0].phase.text() == "Idle"


DESCRIBED = tuple(DeviceDescription(device, f"Device {device}", "some backend", ("fp32",)) for device in (CPU, GPU, DeviceId("cuda", "1")))
SEGMENTS = StrategyChosen("segments", Notice("pool.at_keyframes", devices=2))


def running(qtbot: QtBot, *statuses: DeviceStatus, chosen: StrategyChosen = SEGMENTS) -> DevicePanel:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.resize(320, 700)
    panel.know_devices(DESCRIBED)
    panel.show_strategy(chosen)
    panel.show_devices(statuses)
    return panel


def gpu() -> DeviceStatus:
    return fold(DeviceStatus(GPU), DeviceReady(engine_info(GPU)), 0.0)


def test_the_strategy_and_its_reason_are_there_as_soon_as_it_is_chosen(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    assert not panel.run.title.isVisibleTo(panel)
    panel.show_strategy(SEGMENTS)
    assert panel.run.title.isVisibleTo(panel)
    reason = "Files are cut at keyframes, and all 2 devices work on the oldest one."
    assert (panel.run.title.text(), panel.run.text.text()) == ("Strategy: Segments", reason)


def test_devices_that_are_found_late_leave_the_strategy_of_the_run(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.show_strategy(SEGMENTS)
    panel.know_devices(DESCRIBED)
    panel.show_devices([gpu()])
    assert panel.run.title.text() == "Strategy: Segments"


def test_a_device_can_be_taken_out_unless_it_is_the_last(qtbot: QtBot) -> None:
    panel = running(qtbot, working(0.0), gpu())
    first, second = panel.cards
    with qtbot.waitSignal(panel.leave_requested) as asked:
        second.change.click()
    assert asked.args == [GPU]
    (action,) = second.menu().actions()
    assert action.text() == "Remove cuda:0 from this run"
    with qtbot.waitSignal(panel.leave_requested):
        action.trigger()
    panel.show_devices([replace(working(0.0), phase=Phase.LEAVING), gpu()])
    assert first.phase.text() == "Leaving"
    assert not first.change.isVisibleTo(panel)
    assert not second.change.isVisibleTo(panel)


def test_a_device_that_left_is_greyed_out_and_may_come_back(qtbot: QtBot) -> None:
    left = fold(working(0.0), DeviceLeft(CPU), 1.0)
    panel = running(qtbot, left, gpu())
    card = panel.cards[0]
    assert card.phase.text() == "Left"
    assert not card.figures.moving.isVisibleTo(card)
    assert card.row.content.off
    panel.show()
    assert [known.id for known in panel.telemetry.watched] == [GPU, CPU]  # the processors, for the bottleneck
    panel.hide()
    with qtbot.waitSignal(panel.join_requested) as asked:
        card.change.click()
    assert asked.args == [CPU]
    panel.show_devices([fold(left, DeviceStarting(CPU, 1), 2.0), gpu()])
    assert not card.row.content.off
    assert card.phase.text() == "Starting"


def test_the_devices_that_could_join_are_in_a_menu(qtbot: QtBot) -> None:
    panel = running(qtbot, gpu())
    assert [action.text() for action in panel.run.menu.actions()] == ["cpu:0   Device cpu:0", "cuda:1   Device cuda:1"]
    with qtbot.waitSignal(panel.join_requested) as asked:
        panel.run.menu.actions()[1].trigger()
    assert asked.args == [DeviceId("cuda", "1")]
    actions = panel.run.menu.actions()
    panel.show_devices([fold(gpu(), DeviceStats(GPU, 1, 2.0, 3.0, 4.0), 1.0)])
    assert panel.run.menu.actions() == actions  # the menu may be open while figures come
    panel.show_devices([fold(DeviceStatus(known.id), DeviceReady(engine_info(known.id)), 0.0) for known in DESCRIBED])
    assert not panel.run.add.isEnabled()
    assert panel.run.add.toolTip() == "All devices of this machine are in this run"


def test_where_devices_cannot_join_the_window_says_so_before_they_try(qtbot: QtBot) -> None:
    panel = running(qtbot, working(0.0), gpu(), chosen=StrategyChosen("depth", words("as the settings say"), elastic=False))
    assert not any(card.change.isVisibleTo(panel) for card in panel.cards)
    assert not panel.run.add.isEnabled()
    assert panel.run.add.toolTip() == "With Depth, devices cannot join or leave during a run"
    panel.show_devices([replace(gpu(), phase=Phase.IDLE)])
    assert not panel.run.add.isVisibleTo(panel)


def test_of_devices_that_work_as_one_each_is_watched(qtbot: QtBot) -> None:
    second = DeviceId("cpu", "1")
    group = DeviceId.group(CPU, second)
    engine = replace(engine_info(group), device_name="2 × Some Processor")
    panel = running(
        qtbot, fold(DeviceStatus(group), DeviceReady(engine), 0.0), chosen=StrategyChosen("depth", words("as asked"), elastic=False)
    )
    panel.show()
    (card,) = panel.cards
    assert (card.row.content.name, card.hardware.text()) == ("cpu:0+cpu:1", "2 × Some Processor")
    assert [known.id for known in panel.telemetry.watched] == [CPU, second]  # the same processors, under both names
    assert list(card.members.rows) == [CPU, second]
    for row in card.members.rows.values():
        qtbot.waitUntil(lambda row=row: "GiB" in row.accessibleName())
    assert not card.gauges.isVisible()
    panel.hide()


def test_of_many_devices_the_rows_in_sight_show_new_figures_at_once(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.resize(320, 300)
    panel.show()
    statuses = [replace(working(0.0, 10.0), device=DeviceId("cuda", str(number))) for number in range(64)]
    panel.show_devices(statuses)
    qtbot.waitUntil(lambda: [card.visibleRegion().isEmpty() for card in (panel.cards[0], panel.cards[-1])] == [False, True])
    panel.show_figures([replace(status, rate=777.0) for status in statuses])
    assert [card.row.content.rate_text for card in (panel.cards[0], panel.cards[-1])] == ["777", "10.0"]
    pane_of(panel).verticalScrollBar().setValue(100_000)
    assert panel.cards[-1].row.content.rate_text == "777"


def test_stages_of_several_devices_stand_in_their_order() -> None:
    stages = {"postprocess": 1.0, "network cuda:1": 2.0, "network cuda:0": 3.0, "decode": 4.0, "unheard-of": 5.0}
    assert list(in_order(stages)) == ["decode", "network cuda:0", "network cuda:1", "postprocess", "unheard-of"]


def test_the_status_line_counts_only_devices_that_take_part(qtbot: QtBot) -> None:
    line = StatusLine()
    qtbot.addWidget(line)
    line.show_devices([working(0.0), fold(gpu(), DeviceLeft(GPU), 1.0)])
    assert line.devices.text() == "cpu:0 · OpenVINO 2026.4 · bf16"


def test_the_status_line_names_engines_that_other_devices_do_not_wait_for(qtbot: QtBot) -> None:
    line = StatusLine()
    qtbot.addWidget(line)
    building = fold(DeviceStatus(GPU), EngineBuilding(GPU, words("trying tactics"), 0.374), 0.0)
    line.show_devices([building])
    assert line.devices.text() == "cuda:0 · building the engine"
    line.show_devices([building, working(0.0)])
    assert line.devices.text() == "cuda:0, cpu:0 · OpenVINO 2026.4 · bf16 · building cuda:0 37 %"


def test_a_failure_names_its_device_once(qtbot: QtBot) -> None:
    panel = running(qtbot, fold(DeviceStatus(GPU), DeviceFailed(GPU, of_device(GPU, words("no driver answers")), False), 0.0))
    assert panel.cards[0].message.text() == "no driver answers"


def test_gauges_have_as_many_columns_as_can_be_read(qtbot: QtBot) -> None:
    gauges = Gauges()
    qtbot.addWidget(gauges)
    gauges.resize(300, 50)
    gauges.show_metrics([Metric(name, text, text) for name, text in (("Temperature", "40 °C"), ("Clock", "1,980 MHz"), ("Power", "300 W"))])
    gauges.show()
    assert gauges.columns == 3
    low = gauges.height()
    gauges.resize(212, low)  # that of the narrowest panel
    assert gauges.columns == 2
    assert gauges.height() > low
