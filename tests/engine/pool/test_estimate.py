"""What is expected of the two strategies for videos that cannot be cut, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.backends.base import EngineInfo
from engine.media.types import Segment, SourceInfo, SourceKind
from engine.pool.scheduling.strategies.estimate import Decoding, estimate, explain
from engine.types import DeviceId

HD = 1920 * 1080 * 3
STARTING = 2.0


def video(frames: int = 100_000, name: str = "long.mkv") -> SourceInfo:
    return SourceInfo(f"/videos/{name}", SourceKind.VIDEO, "h264", 1920, 1080, frames, None, None, (Segment(0, None, None, frames),))


def gpu(number: int = 0, images_per_s: float | None = None, upload: float | None = None) -> EngineInfo:
    device = DeviceId("cuda", str(number))
    return EngineInfo(device, "A GPU", "TensorRT", "fp16", "", 608, 608, 32, 3, 12, images_per_s, upload)


def paces(decoding: Decoding, engine: EngineInfo, others: Sequence[EngineInfo | None] = (None,), count: int = 1) -> tuple[float, float]:
    expected = estimate([video()] * count, engine, others, decoding, STARTING)
    return expected.segments.frames_per_second, expected.frames.frames_per_second


@pytest.mark.parametrize(
    ("decoding", "engine", "others", "count", "segments", "dealt", "limit"),
    [
        pytest.param((570, 2000), gpu(images_per_s=2000), 3, 1, 570, 2000, "processors", id="four fast GPUs, many cores"),
        pytest.param((570, 870), gpu(images_per_s=2000), 1, 1, 570, 870, "processors", id="four cores"),
        pytest.param((570, 217), gpu(images_per_s=2000), 1, 1, 570, 217, "processors", id="one core"),
        pytest.param((570, 2000), gpu(images_per_s=100), 3, 1, 100, 400, "network", id="slow engines"),
        pytest.param((570, 2000), gpu(images_per_s=400, upload=130 * HD), 1, 1, 400, 260, "link", id="slow links, fast decoders"),
        pytest.param((570, 2000), gpu(images_per_s=400, upload=130 * HD), 3, 1, 400, 520, "link", id="many slow links"),
        pytest.param((570, 2000), gpu(images_per_s=2000), 7, 4, 2280, 2000, "processors", id="four videos"),
        pytest.param((570, 2000), gpu(), 3, 1, 570, 2000, "processors", id="nothing known of the engines"),
    ],
)
def test_the_slowest_part_sets_the_pace(
    decoding: tuple[float, float], engine: EngineInfo, others: int, count: int, segments: float, dealt: float, limit: str
) -> None:
    expected = estimate([video()] * count, engine, [None] * others, Decoding(*decoding, on_device=True), STARTING)
    assert expected.segments.frames_per_second == pytest.approx(segments)
    assert expected.frames.frames_per_second == pytest.approx(dealt)
    assert limit in expected.frames.limit
    assert expected.pays is (dealt > segments)


def test_frames_that_the_processors_decode_for_a_device_have_to_be_uploaded() -> None:
    engine = gpu(images_per_s=2000, upload=130 * HD)
    assert paces(Decoding(400, 800, on_device=False), engine) == pytest.approx((130, 260))
    assert paces(Decoding(400, 800, on_device=True), engine) == pytest.approx((400, 260))


def test_devices_that_are_ready_say_how_fast_they_are() -> None:
    fast = Decoding(5000, 5000, on_device=True)
    assert paces(fast, gpu(images_per_s=1000), [None, gpu(2, 100)]) == pytest.approx((1000, 2100))
    assert paces(fast, gpu(images_per_s=1000), [gpu(1, 1000, upload=50 * HD)]) == pytest.approx((1000, 1050))
    assert paces(fast, gpu(images_per_s=1000), [gpu(1)]) == pytest.approx((1000, 5000)), "one that is not known limits nothing"


@pytest.mark.parametrize(("starting", "costs"), [(1.0, 1.7), (5.0, 8.5), (300.0, 15.0)])
def test_the_gain_has_to_be_worth_the_change(starting: float, costs: float) -> None:
    decoding, engine = Decoding(500, 1000, on_device=True), gpu()
    for frames, pays in ((1000 * costs - 100, False), (1000 * costs + 100, True)):
        expected = estimate([video(round(frames))], engine, [None], decoding, starting)
        assert expected.seconds_saved == pytest.approx(frames / 1000)
        assert expected.change_seconds == pytest.approx(costs)
        assert expected.pays is pays
    halves = [video(round(500 * costs))] * 2
    assert estimate(halves, engine, [None, None], Decoding(500, 1900, on_device=True), starting).pays is False
    assert estimate(halves * 2, engine, [None] * 4, Decoding(500, 1e6, on_device=True), starting).pays is False  # four do it as fast
    assert estimate(halves * 2, engine, [None] * 4, Decoding(200, 1e6, on_device=True), starting).pays is True


def test_the_words_say_what_is_done_how_fast_and_what_limits_it() -> None:
    def words(own: float, shared: float, sources: Sequence[SourceInfo] = (video(),)) -> str:
        expected = estimate(sources, gpu(images_per_s=3210), [None] * 3, Decoding(own, shared, on_device=True), STARTING)
        return explain(expected, sources, 4)

    assert words(568, 2013) == (
        "frames of long.mkv are decoded once and dealt to all 4 devices, as it cannot be cut at keyframes: about 2,000 frames/s "
        "(what the processors of this machine decode) instead of 570 frames/s (what a device decodes by itself) on one device; "
        "none can join or leave this run"
    )
    assert words(568, 312) == (
        "as it cannot be cut at keyframes, long.mkv stays on one device: about 570 frames/s (what a device decodes by itself); "
        "dealt to all 4 devices it would be 310 frames/s (what the processors of this machine decode)"
    )
    assert "too little to pay for the 3 s of the change" in words(568, 2013, [video(1000)])
    assert "(what the network allows)" in words(9000, 100)
    several = [video(name=name) for name in ("a.mp4", "b.ts", "c.mkv")]
    assert "as they cannot be cut at keyframes, each of a.mp4, b.ts and c.mkv stays on a device: about 1,700 frames/s" in words(
        568, 312, several
    )
    assert "frames of a.mp4, b.ts and c.mkv are decoded once" in words(568, 3000, several)
    assert "on 3 devices" in words(568, 3000, several)
    assert "about 0.21 frames/s" in words(0.212, 0.1)
    assert explain(None, several[:1], 4).endswith("a.mp4 stays on one device; how fast it would be otherwise could not be measured")
