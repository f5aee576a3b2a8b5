from dataclasses import replace
from pathlib import Path

from pytestqt.qtbot import QtBot

from framefleet.app.window.bars import StatusLine
from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.queue.item import ItemState
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.pool.live_sources import LiveSource
from framefleet.engine.types import AS_ASKED, DeviceId
from tests.support.store import video_info
from tests.support.window import changed, engine_info, queue_item

RUNNING = queue_item(Path("a.mp4"), ItemState.RUNNING, info=video_info("a.mp4", 200), frames=100, rate=25.0)


def test_the_time_left_is_not_that_of_one_file_while_others_wait(qtbot: QtBot) -> None:
    line = StatusLine()
    qtbot.addWidget(line)
    waiting = changed(RUNNING, state=ItemState.WAITING, frames=0, rate=None)
    line.show_rate(25.0)
    address = LiveAddress.read("rtsp://127.0.0.1:9/cam")
    assert address is not None
    camera = replace(waiting, stream=LiveSource(address))
    line.show_queue([RUNNING, waiting, waiting, camera])
    assert line.queue.text() == "25.0 frames/s · 2 files waiting"
    line.show_queue(iter([RUNNING]))
    assert line.queue.text() == "25.0 frames/s · 4 s left"
    line.show_queue([])
    line.show_rate(0.0)
    assert line.queue.text() == ""


def test_many_devices_are_counted_not_named(qtbot: QtBot) -> None:
    line = StatusLine()
    qtbot.addWidget(line)
    built = DeviceStatus(DeviceId("cuda", "0"), Phase.READY, engine=engine_info(DeviceId("cuda", "0")))
    building = [DeviceStatus(DeviceId("cuda", str(number)), Phase.STARTING, building=("trying fp16", 0.5)) for number in range(1, 8)]
    line.show_devices([built, *building])
    assert line.devices.text() == "8 devices · OpenVINO 2026.4 · bf16 · building 7 devices"
    line.show_devices([built, *building[:2]])
    assert line.devices.text() == "cuda:0, cuda:1, cuda:2 · OpenVINO 2026.4 · bf16 · building cuda:1 50 %, cuda:2 50 %"


def test_a_run_that_ended_before_its_engine_was_ready_builds_nothing(qtbot: QtBot) -> None:
    line = StatusLine()
    qtbot.addWidget(line)
    starting = DeviceStatus(DeviceId("cpu", "0"))
    line.show_devices([starting])
    assert line.devices.text() == "cpu:0 · building the engine"
    line.show_devices([replace(starting, phase=Phase.IDLE)])
    assert line.devices.text() == "cpu:0"


def test_the_reason_of_a_precision_that_a_run_names_is_plain(qtbot: QtBot) -> None:
    line = StatusLine()
    qtbot.addWidget(line)
    line.show_devices([DeviceStatus(DeviceId("cpu", "0"), Phase.READY, engine=replace(engine_info(precision="fp32"), reason=AS_ASKED))])
    assert line.devices.toolTip().endswith("fp32: set for this run, others were not tried")
