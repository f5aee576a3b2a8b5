"""The capture process: states, reconnection, the time of a source, and what it sends to the decoder."""

from __future__ import annotations

import threading
import time
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.media.live import capture
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.media.live.capture import MAX_PAUSE, Rhythm, SourceClock, pause
from framefleet.engine.media.live.sources import GrowingFile, OpenError, check_host, open_live
from tests.support.live.http_camera import HttpCamera
from tests.support.live.reading import CONNECTING, PAUSING, RUNNING, WAITING, Reading, read
from tests.support.media import make_audio, make_video

# without a process


def test_pauses_grow_to_half_a_minute_and_stay_there() -> None:
    assert [pause(attempt, 0.0) for attempt in range(1, 8)] == [1, 2, 4, 8, 16, 25, 25]
    assert [pause(attempt, 1.0) for attempt in (6, 100, 100_000)] == [MAX_PAUSE] * 3


def test_the_stall_limit_follows_the_interval_of_frames() -> None:
    fast, slow = Rhythm(), Rhythm()
    for number in range(100):
        fast.arrived(number / 25)
        slow.arrived(5.0 * number)
    assert fast.limit == 3.0
    assert 20 < slow.limit < 30  # a camera with a frame every 5 s is not dead


def test_bursts_do_not_look_like_a_stall() -> None:
    rhythm = Rhythm()
    for segment in range(10):  # HLS: 6 s of video at once
        for frame in range(150):
            rhythm.arrived(6.0 * segment + 0.001 * frame)
    assert rhythm.limit > 20


def test_a_long_gap_is_forgotten() -> None:
    rhythm = Rhythm()
    for number in range(50):
        rhythm.arrived(number / 25)
    rhythm.arrived(60.0)
    assert rhythm.limit > 100
    for number in range(25 * 900):
        rhythm.arrived(60 + number / 25)
    assert rhythm.limit == 3.0


def test_a_new_source_may_take_its_time_to_the_first_frame() -> None:
    assert Rhythm().limit == 15.0
    assert Rhythm(40.0).limit == 40.0


def test_times_follow_the_clock_of_the_source() -> None:
    clock = SourceClock(0.0)
    arrivals = [10.0, 10.09, 10.05, 10.2]  # jitter of the network
    seconds = []
    for number, arrived in enumerate(arrivals):
        own = 5000 + number / 25
        assert clock.jump(own, arrived) is None
        seconds.append(clock.seconds(own, own, arrived))
    assert seconds == pytest.approx([10.0, 10.04, 10.08, 10.12])


@pytest.mark.parametrize("step", [3600.0, -3600.0, -1.0, 6.0])
def test_a_jump_of_the_clock_begins_an_epoch_at_the_time_of_arrival(step: float) -> None:
    clock = SourceClock(0.0)
    clock.seconds(100.0, 100.0, 1.0)
    jump = clock.jump(100.04 + step, 1.04)
    assert jump is not None
    assert jump.code == "live.clock_jumped"
    assert jump.fields["seconds"] == pytest.approx(step, abs=0.01)
    clock.begin()
    assert clock.seconds(100.04 + step, 100.04 + step, 1.04) == pytest.approx(1.04)


@pytest.mark.parametrize("speed", [1.0001, 1.01, 0.99, 25 / 21, 21 / 25])  # the last two: 25 frames/s declared, 21 sent, or reverse
def test_times_stay_near_those_of_arrival_although_the_clock_is_wrong(speed: float) -> None:
    clock, before = SourceClock(0.0), -1.0
    for number in range(25 * 3600):
        own, arrived = number / 25, number / 25 / speed
        assert clock.jump(own, arrived) is None
        seconds = clock.seconds(own, own, arrived)
        assert seconds > before
        assert abs(seconds - arrived) < 5
        before = seconds


def test_times_never_go_back_to_before_a_gap() -> None:
    clock = SourceClock(0.0)
    for number in range(200):  # a playlist delivers 8 s at once
        last = clock.seconds(number / 25, number / 25, 1.0)
    clock.begin()
    assert clock.seconds(0.0, 0.0, 2.0) > last


def test_frames_without_times_get_that_of_their_arrival() -> None:
    clock = SourceClock(0.0)
    assert [clock.seconds(None, None, arrived) for arrived in (1.0, 1.5, 1.5)] == [1.0, 1.5, 1.501]
    assert clock.jump(None, 9.0) is None


# HTTP


def test_mjpeg_over_http(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera, Reading(read(f"{camera.address}/mjpeg")) as reading:
        reading.until(lambda reading: len(reading.packets) > 20)
        ended = reading.stop()
        assert reading.states() == [CONNECTING, WAITING, RUNNING]
        assert [packet.number for packet in reading.packets] == [*range(ended.frames)]
        assert (ended.again, ended.error) == (False, None)
        assert reading.epochs[0].format.codec == "mjpeg"
        times = [packet.seconds for packet in reading.packets]
        assert times == sorted(times)


def test_a_file_over_http_ends_the_source(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera, Reading(read(f"{camera.address}/file.ts")) as reading:
        reading.until(lambda reading: reading.ended is not None and len(reading.packets) == 50)
        assert reading.ended is not None
        assert (reading.ended.again, reading.ended.error, reading.ended.frames) == (False, None, 50)
        assert PAUSING not in reading.states()
        assert {round(after.seconds - before.seconds, 3) for before, after in pairwise(reading.packets)} == {
            0.04
        }  # though it comes at once


def impatient(*arguments: Any) -> None:
    """A capture process that waits for no decoder that it may leave out."""
    capture.SEND_SECONDS = 0.0
    capture.main(*arguments)


def noise(number: int, size: tuple[int, int]) -> NDArray[np.uint8]:
    return np.random.default_rng(number).integers(0, 256, (size[1], size[0], 3), np.uint8)


def test_a_file_over_http_waits_for_a_slow_decoder_at_its_end(tmp_path: Path) -> None:
    """More than a pipe holds is queued when all is read."""
    with HttpCamera(tmp_path) as camera:
        make_video(camera.file, 60, (320, 240), 25, picture=noise)
        assert camera.file.stat().st_size > 2_000_000
        with Reading(read(f"{camera.address}/file.ts"), process=impatient) as reading:
            reading.until_told(lambda reading: reading.received == 60 or reading.ended is not None)
            reading.until(lambda reading: reading.ended is not None and reading.connection is None)
            assert reading.ended is not None
            assert (reading.ended.error, reading.ended.frames) == (None, 60)
            assert [packet.number for packet in reading.packets] == [*range(60)]


def test_a_playlist_that_ends_is_the_end_of_the_source(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera, Reading(read(f"{camera.address}/hls/live.m3u8")) as reading:
        reading.until(lambda reading: len(reading.packets) > 25)
        camera.last = int(time.monotonic() - camera.begun) + 4
        reading.until(lambda reading: reading.ended is not None and reading.connection is None)  # each has a pipe of its own
        assert reading.ended is not None
        assert (reading.ended.again, reading.ended.error) == (False, None)
        assert reading.states() == [CONNECTING, WAITING, RUNNING]
        first = reading.packets[0].number  # a decoder that comes late begins with the last keyframe
        assert [packet.number for packet in reading.packets] == [*range(first, reading.ended.frames)]


def test_a_playlist_of_a_whole_video_loses_nothing(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera:
        camera.last = 3
        with Reading(read(f"{camera.address}/hls/live.m3u8")) as reading:
            reading.until(lambda reading: reading.ended is not None and len(reading.packets) >= reading.ended.frames)
            assert len(reading.packets) == 75
            assert reading.epochs[0].waits
            assert PAUSING not in reading.states()


@pytest.mark.parametrize("first", ["later", "earlier"])
def test_a_clock_that_jumps_begins_an_epoch(first: str, tmp_path: Path) -> None:
    early = make_video(tmp_path / "early.ts", 50, (160, 120), 25).read_bytes()
    late = make_video(tmp_path / "late.ts", 50, (160, 120), 25, pts=[*range(90_000, 90_050)]).read_bytes()  # an hour
    with HttpCamera(tmp_path) as camera:
        camera.file.write_bytes(late + early if first == "later" else early + late)
        with Reading(read(f"{camera.address}/file.ts")) as reading:
            reading.until(lambda reading: reading.ended is not None and len(reading.packets) == reading.ended.frames)
    assert [epoch.reason.code for epoch in reading.epochs] == ["live.first", "live.clock_jumped"]
    jump = reading.epochs[1].reason.fields["seconds"]
    assert isinstance(jump, float)
    assert abs(jump) > 3500  # MPEG-TS counts to 26.5 h, and begins again at 0
    assert len(reading.packets) == 100
    times = [packet.seconds for packet in reading.packets]
    assert times == sorted(times)
    assert times[-1] - times[0] < 60  # nothing is invented in the gap


def test_user_and_password_over_http(tmp_path: Path) -> None:
    with HttpCamera(tmp_path, login="me:s3cret") as camera:
        named = camera.address.replace("//", "//me:s3cret@")
        with Reading(read(f"{named}/hls/live.m3u8")) as reading:
            reading.until(lambda reading: len(reading.packets) > 10)
        with Reading(read(f"{camera.address.replace('//', '//me:wrong@')}/mjpeg")) as reading:
            reading.until(lambda reading: reading.ended is not None)
            assert reading.ended is not None
            assert reading.ended.error is not None
            assert reading.ended.error.code == "live.login"


@pytest.mark.parametrize("place", ["moved/a", "leads.m3u8", "nested.m3u8"])
@pytest.mark.parametrize("target", ["http://localhost:{port}/secret", "file:///etc/passwd", "rtsp://127.0.0.1/cam"])
def test_nothing_leads_to_another_host_or_a_file(place: str, target: str, tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera, HttpCamera(tmp_path) as other:
        camera.elsewhere = target.format(port=other.address.rpartition(":")[2])
        with Reading(read(f"{camera.address}/{place}"), retries=0) as reading:
            reading.until(lambda reading: reading.ended is not None)
            assert reading.ended is not None
            assert reading.ended.frames == 0
            assert reading.ended.error is not None
            assert reading.ended.error.code == "live.gave_up"
        assert other.requests == []


@pytest.mark.parametrize("place", ["key.m3u8", "map.m3u8"])
@pytest.mark.parametrize("target", ["http://localhost:{port}/secret", "file:///etc/passwd"])
def test_no_key_and_no_first_part_comes_from_elsewhere(place: str, target: str, tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera, HttpCamera(tmp_path) as other:
        camera.elsewhere = target.format(port=other.address.rpartition(":")[2])
        with Reading(read(f"{camera.address}/{place}"), retries=0) as reading:
            reading.until(lambda reading: reading.ended is not None)
        assert any(path == f"/{place}" for path, _ in camera.requests)
        assert other.requests == []
        assert not any(b"root:" in packet.data for packet in reading.packets)


def test_a_playlist_of_playlists_is_read(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera, Reading(read(f"{camera.address}/hls/master.m3u8")) as reading:
        reading.until(lambda reading: len(reading.packets) > 30)
        assert reading.epochs[0].format.codec == "h264"
        assert any(path == "/hls/live.m3u8" for path, _ in camera.requests)


def test_other_hosts_are_named() -> None:
    check_host("https://cam/live/part1.ts", "cam")
    for url in ("http://169.254.169.254/latest", "file:///etc/passwd", "ftp://cam/a"):
        with pytest.raises(OpenError, match="which is not opened") as raised:
            check_host(url, "cam")
        assert raised.value.notice.code == "live.other_host"


def test_a_file_without_video(tmp_path: Path) -> None:
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(OpenError, match="the source sends no video"):
        open_live(LiveAddress.growing(make_audio(tmp_path / "a.m4a")), stopped)


def test_an_unknown_place_over_http(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera, Reading(read(f"{camera.address}/nothing"), retries=0) as reading:
        reading.until(lambda reading: reading.ended is not None)
        assert reading.ended is not None
        assert reading.ended.error is not None
        assert reading.ended.error.fields["why"].code == "live.not_found"


# files that grow


def test_a_file_that_grows_is_followed_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make_video(tmp_path / "whole.ts", 100, (160, 120), 25).read_bytes()
    path = tmp_path / "growing.ts"
    path.write_bytes(whole[: len(whole) // 2])
    with Reading(LiveAddress.growing(path)) as reading:
        reading.until(lambda reading: len(reading.packets) > 30)
        assert len(reading.packets) < 60
        with path.open("ab") as file:
            file.write(whole[len(whole) // 2 :])
        reading.until(lambda reading: len(reading.packets) >= 98)  # the last ones are complete only when the file ends
        ended = reading.stop()
        assert ended.error is None
        assert ended.frames >= 98


def test_the_end_of_a_growing_file_is_waited_for_once(tmp_path: Path) -> None:
    path = tmp_path / "growing.ts"
    path.write_bytes(b"12")
    seconds = count(0, 20)
    file = GrowingFile(path, threading.Event(), clock=lambda: float(next(seconds)))
    with file:
        assert [file.read(), file.read()] == [b"12", b""]
        asked = next(seconds)
        assert [file.read(), file.read(), next(seconds)] == [b"", b"", asked + 60]


def test_no_file_to_follow(tmp_path: Path) -> None:
    with Reading(LiveAddress.growing(tmp_path / "none.ts")) as reading:
        reading.until(lambda reading: reading.ended is not None)
        assert reading.ended is not None
        assert reading.ended.error is not None
        assert reading.ended.error.code == "live.refused"


def test_a_missing_camera_is_named() -> None:
    with Reading(read("camera:97"), retries=0) as reading:
        reading.until(lambda reading: reading.ended is not None)
        assert reading.ended is not None
        assert reading.ended.error is not None
        assert reading.ended.error.fields["why"].code == "live.no_camera"
        assert "/dev/video97 does not exist; cameras of this machine: " in str(reading.ended.error)
