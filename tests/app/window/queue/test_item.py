from dataclasses import replace
from pathlib import Path

import pytest

from framefleet.app.window.queue.item import ItemState, RateMeter, Results
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import Notice, tables
from framefleet.engine.pool.live_sources import LiveSource
from tests.support.store import video_info
from tests.support.window import changed, queue_item

ITEM = queue_item(Path("a.mp4"), info=video_info("a.mp4", 200))


def test_a_running_file_says_how_far_how_fast_and_how_long() -> None:
    item = changed(ITEM, state=ItemState.RUNNING, frames=50, rate=25.0)
    assert item.fraction == 0.25
    assert item.remaining == 6.0
    assert item.summary == "25 % · 25.0 frames/s · 6 s left"


def test_a_file_that_goes_on_has_its_first_frames_and_a_stream_begins_anew() -> None:
    begun = Results(Path("s.sqlite"), 2)
    for results in (None, replace(begun, source=-1)):
        item = changed(ITEM, results=results, begun=begun)
        assert item.stored == begun
        assert replace(item, stream=LiveSource(LiveAddress.read("rtsp://127.0.0.1:9/cam"))).stored is None
    unknown = replace(begun, source=-1)
    assert changed(ITEM, begun=unknown).stored is None
    assert changed(ITEM, results=replace(begun, source=3), begun=begun).stored == Results(Path("s.sqlite"), 3)


def test_without_an_announced_number_of_frames_it_counts() -> None:
    item = changed(ITEM, info=video_info("a.mp4", 0), state=ItemState.RUNNING, frames=50, rate=25.0)
    assert item.fraction is None
    assert item.remaining is None
    assert item.summary == "50 frames · 25.0 frames/s"


@pytest.mark.parametrize(
    ("changes", "summary"),
    [
        ({}, "Waiting"),
        ({"state": ItemState.DONE, "frames": 200, "seconds": 4.0}, "200 frames · 50.0 frames/s"),
        ({"state": ItemState.DONE, "frames": 200, "failed": 3, "seconds": 4.0}, "3 of 200 frames failed · 50.0 frames/s"),
        ({"state": ItemState.CANCELLED, "frames": 7}, "Cancelled after 7 frames"),
        ({"state": ItemState.CANCELLED}, "Cancelled"),
        ({"state": ItemState.FAILED, "reason": Notice("general.of_path", path=Path("a.mp4"))}, "Is empty: try it again"),
        ({"state": ItemState.FAILED, "reason": Notice("cluster.run_has_ended")}, "The run has ended"),
        ({"reason": "Needs a model"}, "Needs a model"),
    ],
)
def test_every_state_in_words(changes: dict[str, object], summary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tables.TEXTS, "general.of_path", "{path} is empty: try it again")
    assert changed(ITEM, **changes).summary == summary


@pytest.mark.parametrize(
    ("changes", "brief"),
    [
        ({"state": ItemState.CANCELLED}, "Cancelled at 6 %"),
        ({"state": ItemState.PAUSED}, "Paused at 6 %"),
        ({"state": ItemState.DONE}, "12 frames"),
        ({"state": ItemState.DONE, "failed": 3}, "3 of 12 failed"),
    ],
)
def test_a_narrow_row_says_how_far_a_file_came(changes: dict[str, object], brief: str) -> None:
    assert " · ".join(changed(ITEM, frames=12, **changes).brief) == brief


def test_the_rate_is_that_of_the_last_seconds() -> None:
    meter = RateMeter(window=4.0)
    assert meter.mark(0.0, 0) is None
    assert meter.mark(0.1, 5) is None
    for second in range(1, 11):
        slow = meter.mark(float(second), 10 * second)
    assert slow == pytest.approx(10.0)
    for second in range(11, 16):
        fast = meter.mark(float(second), 100 + 50 * (second - 10))
    assert fast == pytest.approx(50.0)


def test_pictures_are_not_called_frames() -> None:
    item = queue_item(Path("photos"), info=replace(video_info("photos", 200), kind=SourceKind.IMAGES), frames=3)
    assert changed(item, state=ItemState.RUNNING, rate=25.0).summary == "1 % · 25.0 pictures/s · 8 s left"
    assert changed(item, state=ItemState.DONE, seconds=1.5).summary == "3 pictures · 2.0 pictures/s"
    assert changed(item, state=ItemState.CANCELLED).summary == "Cancelled after 3 pictures"
