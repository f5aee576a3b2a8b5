"""The states of a live source over its picture, and where its picture will be."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.streams.pictures import LivePicture
from framefleet.app.window.streams.view import OLD_SECONDS, LiveView, StreamBar
from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.widgets import theme
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.media.live.messages import LiveState
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import Ledger, SourceProgress, StreamChanged, StreamCounted
from framefleet.engine.pool.live_sources import LiveSource
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult

OPENED = Notice("live.opened", codec="h264", width=320, height=240)
SILENT = Notice("live.silent", seconds=4.0)


def camera(state: LiveState, reason: Notice) -> QueueItem:
    """A stream in this state."""
    address = LiveAddress.read("rtsp://127.0.0.1:9/cam")
    assert address is not None
    source = LiveSource(address)
    progress = SourceProgress(Path("cam"), address="rtsp://127.0.0.1:9/cam").after(StreamChanged(0, state, reason, 1.0))
    return QueueItem(1, progress, ItemState.RUNNING, Results(Path("s.sqlite"), 0), stream=source)


@pytest.fixture
def canvas(qtbot: QtBot) -> VideoCanvas:
    canvas = VideoCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(640, 360)
    canvas.show()
    return canvas


@pytest.mark.parametrize(
    ("state", "reason", "title", "details", "brief"),
    [
        (LiveState.CONNECTING, SILENT, "Connecting…", "no frame has arrived", "Connecting…"),
        (LiveState.WAITING_FOR_KEYFRAME, OPENED, "Waiting for a keyframe…", "", "Waiting for a keyframe…"),
        (LiveState.STALLED, SILENT, "Stalled", "no frame has arrived", "Stalled"),
    ],
)
def test_a_state_without_a_picture_stands_in_its_place_and_in_the_queue(
    canvas: VideoCanvas, state: LiveState, reason: Notice, title: str, details: str, brief: str
) -> None:
    item, view = camera(state, reason), LiveView(1, canvas, small=False, parent=canvas)
    view.update(item)
    first, _, rest = canvas.accessibleDescription().partition("\n")
    assert first == title
    assert rest.casefold().startswith(details.casefold())
    assert bool(rest) is bool(details)
    assert not view.overlay.isVisible()
    assert (item.summary, item.brief) == (brief, (brief,))


def test_the_bar_names_why_frames_of_this_stream_were_dropped_and_what_limits_its_device(qtbot: QtBot) -> None:
    bar = StreamBar()
    qtbot.addWidget(bar)
    item = camera(LiveState.RUNNING, OPENED)
    dropped = {Notice("live.device_busy"): 20, Notice("live.damaged"): 5}
    item = replace(item, progress=item.progress.after(StreamCounted(0, Ledger(120, 100, dropped, received=125), (40.0, 90.0))))
    seen = []
    for limit in ("infer", "decode", "sources"):
        bar.show_item(item, True, DeviceStatus(DeviceId("cuda", "1"), phase=Phase.READY, bottleneck=limit))
        seen.append(bar.figures.toolTip().splitlines())
    assert [lines[:2] for lines in seen] == 3 * [
        ["20: a newer frame was there before the device was free", "5: damaged, or dependent on a damaged frame"]
    ]
    assert [lines[2].removeprefix("Analysed by cuda:1, ") for lines in seen] == [
        "where these streams are limited by: detect",
        "where these streams are limited by: decode",
        "which waits for frames",
    ]


def test_a_stall_is_a_warning_over_the_last_picture_whose_age_is_told(canvas: VideoCanvas) -> None:
    view = LiveView(1, canvas, small=False, parent=canvas)
    image = QImage(320, 240, QImage.Format.Format_RGB32)
    canvas.show_picture(image, (320, 240), None)
    result = FrameResult(FrameRef(0, 0, 1.0), DeviceId("cpu", "0"), 320, 240, Detections())
    seen = []
    for state, reason, age in (
        (LiveState.RUNNING, OPENED, 0.0),
        (LiveState.RUNNING, OPENED, OLD_SECONDS + 1),
        (LiveState.STALLED, SILENT, 9.0),
    ):
        view.picture = LivePicture(1.0, time.perf_counter() - age, image, result, (40.0, 90.0))
        view.update(camera(state, reason))
        assert view.overlay.isVisible()
        words = re.sub(r"[\d.]+ s", "N s", view.overlay.accessibleName())
        seen.append((words, view.overlay.light.styleSheet().split(";")[0].removeprefix("background: ")))
    good, warning = theme.colour("GOOD"), theme.colour("ON_STAGE_WARNING")
    assert seen == [("Live · picture N s old", good), ("Live · picture N s old", warning), ("Stalled · picture N s old", warning)]
    assert "no frame has arrived" in view.overlay.accessibleDescription().casefold()
    assert "99 of 100 within 90.0 ms" in view.overlay.accessibleDescription()
