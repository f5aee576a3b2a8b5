"""Recording: files cut by clock time, sound, a full or hanging disk, crashes, and another address than that of detection."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.media.live.messages import FileRecorded, LiveState, Record, RecordedFile, RecordingChanged, RecordSettings
from framefleet.engine.media.live.recording import QUEUE_BYTES, Recording
from tests.support.live.reading import PATIENCE, Reading
from tests.support.live.servers import RtspServer
from tests.support.media import make_sound, make_video, number_of

RATE = 25


def settings(folder: Path, **options: Any) -> RecordSettings:
    return RecordSettings(str(folder), "cam", **({"min_free": 0, "minutes": 24 * 60} | options))


def address_of(server: RtspServer) -> LiveAddress:
    address = LiveAddress.read(server.address)
    assert address is not None
    return address


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Recorder:
    """A recording that is fed with a video, as the reading thread does. said: what it has told."""

    def __init__(
        self, video: Path, folder: Path, free: Callable[[Path], int] = lambda _: 2**40, origin: float | None = None, **options: Any
    ):
        self.said: list[FileRecorded | RecordingChanged] = []
        self.recording = Recording(settings(folder, **options), time.perf_counter() if origin is None else origin, self.said.append, free)
        self.container = av.open(str(video))
        self.video = self.container.streams.video[0]
        self.sound = self.recording.begin(self.video, self.container.streams.audio)
        packets = [packet for packet in self.container.demux() if packet.size]
        self.pictures = [(bytes(packet), bool(packet.is_keyframe)) for packet in packets if packet.stream is self.video]
        self.sounds = [bytes(packet) for packet in packets if packet.stream is not self.video]

    def feed(self, count: int, start: float = 0.0, step: float = 1 / RATE) -> None:
        """Feed pictures, again from the first one."""
        for number in range(count):
            data, keyframe = self.pictures[number % len(self.pictures)]
            shown = start + number * step
            self.recording.put(data, shown, shown, keyframe)

    def end(self) -> list[RecordedFile]:
        """End, and return the complete files."""
        self.recording.close()
        self.recording.wait(PATIENCE)
        self.container.close()
        return self.files

    @property
    def files(self) -> list[RecordedFile]:
        return [said.file for said in self.said if isinstance(said, FileRecorded) and said.file.end is not None]

    @property
    def changes(self) -> list[tuple[bool, str]]:
        return [(said.on, said.reason.code) for said in self.said if isinstance(said, RecordingChanged)]


def pictures(path: str | Path) -> list[tuple[float, int]]:
    """The times and numbers of the pictures in a file."""
    with av.open(str(path)) as container:
        return [(float(frame.time), number_of(frame.to_ndarray(format="rgb24"))) for frame in container.decode(video=0)]


@pytest.fixture
def video(tmp_path: Path) -> Path:
    return make_video(tmp_path / "video.mp4", 50, (160, 120), RATE, gop=10)


def test_files_begin_at_keyframes_of_clock_time_and_are_named_by_it(video: Path, tmp_path: Path) -> None:
    now = datetime.now().astimezone()
    into = now.second + now.microsecond / 1e6  # seconds of the present minute
    recorder = Recorder(video, tmp_path / "rec", minutes=1)
    recorder.feed(150, step=1.0)  # 2.5 minutes, a keyframe every 10 s
    files = recorder.end()
    assert len(files) in (3, 4)
    begins = [datetime.fromisoformat(file.began) for file in files]
    assert len({begin.replace(second=0, microsecond=0) for begin in begins}) == len(files)  # one in each minute
    assert all(begin.second <= 11 for begin in begins[1:])  # the first keyframe of the minute
    assert files[1].begin >= 59 - into
    for file, begin in zip(files, begins, strict=True):
        assert Path(file.path).name == f"cam_{begin:%Y-%m-%d_%H-%M-%S}.mkv"
        assert file.size == Path(file.path).stat().st_size
    found = [(round(file.begin + seconds), number) for file in files for seconds, number in pictures(file.path)]
    assert found == [(second, second % 50) for second in range(150)]
    assert recorder.changes == [(True, "live.recording"), (False, "live.recording_ended")]


def test_long_groups_of_pictures_are_cut_late_and_nothing_is_lost(tmp_path: Path) -> None:
    clip = make_video(tmp_path / "smart.mp4", 200, (160, 120), RATE, gop=200)  # as smart codecs: one keyframe in 200 s
    recorder = Recorder(clip, tmp_path / "rec", minutes=1)
    recorder.feed(400, step=1.0)
    files = recorder.end()
    assert [round(file.begin) for file in files] == [0, 200]
    assert [number for file in files for _, number in pictures(file.path)] == [*range(200), *range(200)]


def test_an_epoch_begins_a_file_and_equal_names_get_a_number(video: Path, tmp_path: Path) -> None:
    recorder = Recorder(video, tmp_path / "rec")
    recorder.feed(20)
    recorder.recording.begin(recorder.video, ())
    recorder.feed(20, start=0.9)
    names = [Path(file.path).name for file in recorder.end()]
    assert len(set(names)) == 2
    assert [len(pictures(tmp_path / "rec" / name)) for name in names] == [20, 20]


def test_pictures_before_the_keyframe_of_a_file_are_left_out(tmp_path: Path) -> None:
    clip = make_video(tmp_path / "open.mp4", 60, (160, 120), RATE, gop=12, bframes=2, open_gop=True)
    recorder = Recorder(clip, tmp_path / "rec", minutes=1)
    with av.open(str(clip)) as container:
        for packet in container.demux(video=0):
            if packet.size:
                shown, decoded = float(packet.pts * packet.time_base), float(packet.dts * packet.time_base)
                recorder.recording.put(bytes(packet), 50 * shown, 50 * decoded, bool(packet.is_keyframe))  # 2 minutes
    files = recorder.end()
    assert len(files) >= 2
    for file in files:
        seconds = [seconds for seconds, _ in pictures(file.path)]
        assert seconds[0] == 0.0
        assert seconds == sorted(seconds)


@pytest.mark.parametrize(("codec", "stored"), [("pcm_alaw", "pcm_s16le"), ("pcm_mulaw", "pcm_s16le"), ("aac", "aac")])
def test_sound_is_recorded_without_loss(codec: str, stored: str, tmp_path: Path) -> None:
    source = make_sound(tmp_path / "sound.mov", 2.0, codec)
    recorder = Recorder(source, tmp_path / "rec")
    assert recorder.sound is not None
    recorder.feed(20, step=0.1)
    for number, data in enumerate(recorder.sounds):
        recorder.recording.sound(data, 2.0 * number / len(recorder.sounds))
    (file,) = recorder.end()
    assert len(pictures(file.path)) == 20

    def samples(path: str | Path) -> Any:
        with av.open(str(path)) as container:
            assert path == source or container.streams.audio[0].codec_context.name == stored
            return np.concatenate([frame.to_ndarray().reshape(-1) for frame in container.decode(audio=0)])

    wanted = samples(source)  # without the first samples of AAC, which only the container of the source leaves out
    assert np.array_equal(samples(file.path)[-len(wanted) :], wanted)


def test_sound_that_breaks_does_not_break_the_recording(tmp_path: Path) -> None:
    source = make_sound(tmp_path / "sound.mov", 2.0, "aac")
    recorder = Recorder(source, tmp_path / "rec")
    recorder.feed(10, step=0.1)
    for number, data in enumerate(recorder.sounds):
        recorder.recording.sound(data if number % 3 else b"\0", (1.0, 0.2, 1e6, -1e6, 0.7)[number % 5])
    recorder.feed(10, start=1.0, step=0.1)
    (file,) = recorder.end()
    assert len(pictures(file.path)) == 20
    assert recorder.changes[-1] == (False, "live.recording_ended")


def test_sound_that_cannot_be_held_is_named_and_left_out(tmp_path: Path) -> None:
    source = make_sound(tmp_path / "sound.mov", 1.0, "adpcm_ima_qt")
    recorder = Recorder(source, tmp_path / "rec")
    assert recorder.sound is None
    recorder.feed(10, step=0.1)
    (file,) = recorder.end()
    assert len(pictures(file.path)) == 10
    assert "live.no_sound" in [code for _, code in recorder.changes]


def test_a_full_disk_stops_recording_until_there_is_room(video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framefleet.engine.media.live.recording._RETRY_SECONDS", 0.1)
    monkeypatch.setattr("framefleet.engine.media.live.recording._CHECK_SECONDS", 0.05)
    free = [2**40]
    recorder = Recorder(video, tmp_path / "rec", lambda _: free[0], min_free=2**20)
    recorder.feed(10)
    until(lambda: recorder.changes == [(True, "live.recording")])
    free[0] = 0
    until(lambda: recorder.changes[-1] == (False, "live.disk_nearly_full"))
    recorder.feed(20, start=1.0)  # is not written
    free[0] = 2**40
    number = 0

    def goes_on() -> bool:
        nonlocal number
        number += 1
        recorder.feed(10, start=2.0 + number)
        return recorder.changes[-1] == (True, "live.recording")

    until(goes_on)
    files = recorder.end()
    assert recorder.changes == [
        (True, "live.recording"),
        (False, "live.disk_nearly_full"),
        (True, "live.recording"),
        (False, "live.recording_ended"),
    ]
    assert [len(pictures(file.path)) for file in files[:1]] == [10]
    assert len(files) == 2
    assert files[1].begin > 2.0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 200 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(folder)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_without_room_leaves_a_playable_file(small_disk: Path, tmp_path: Path) -> None:
    clip = make_video(tmp_path / "noise.mp4", 100, (320, 240), RATE, gop=10, options={"crf": "1"})
    recorder = Recorder(clip, small_disk)
    recorder.feed(1000)
    files = recorder.end()
    assert (False, "live.disk_full") in recorder.changes
    assert len(pictures(files[0].path)) > 5
    assert len(recorder.pictures[0][0]) > 0


def test_a_folder_that_cannot_be_written_is_named_once(video: Path, tmp_path: Path) -> None:
    place = tmp_path / "rec"
    place.write_text("a file")
    recorder = Recorder(video, place)
    recorder.feed(200)
    recorder.end()
    assert [code for _, code in recorder.changes] == ["live.not_written"]
    assert recorder.files == []


def test_a_disk_that_hangs_costs_recorded_frames_only(video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framefleet.engine.media.live.recording._CHECK_SECONDS", 0.0)
    hangs, goes_on = threading.Event(), threading.Event()

    def free(_: Path) -> int:
        hangs.set()
        goes_on.wait()
        return 2**40

    recorder = Recorder(video, tmp_path / "rec", free)
    data = bytes(2**20)
    recorder.feed(10)
    hangs.wait()
    for number in range(3 * QUEUE_BYTES // len(data)):  # returns, although nothing is written
        recorder.recording.put(data, 1.0 + number / RATE, 1.0 + number / RATE, False)
    goes_on.set()
    until(lambda: recorder.recording._bytes == 0)
    recorder.feed(10, start=60.0)
    recorder.end()
    assert (True, "live.disk_slow") in recorder.changes


@pytest.mark.parametrize("codec", ["h264", "hevc"])
def test_a_camera_with_sound_is_recorded_at_the_times_of_its_frames(codec: str, tmp_path: Path) -> None:
    with RtspServer(codec=codec, audio=True, group=10) as server, Reading(address_of(server), record=settings(tmp_path)) as reading:
        reading.more(40)
        reading.stop()
        (file,) = [file for file in reading.files if file.end is not None]
        times = [packet.seconds for packet in reading.packets]
    with av.open(file.path) as container:
        stored = [file.begin + float(frame.time) for frame in container.decode(video=0)]
        assert container.streams.video[0].codec_context.name == codec
    with av.open(file.path) as container:
        assert sum(frame.samples for frame in container.decode(audio=0)) > 2000
    assert len(stored) >= 30
    assert all(min(abs(seconds - each) for each in times) < 0.002 for seconds in stored)


def test_a_killed_process_leaves_a_playable_file(tmp_path: Path) -> None:
    with RtspServer(group=10) as server, Reading(address_of(server), record=settings(tmp_path)) as reading:
        reading.more(75)
        assert reading.child.pid is not None
        os.kill(reading.child.pid, signal.SIGKILL)
        reading.until(lambda reading: reading.ended is not None)
        (file,) = reading.files
        assert file.end is None
        assert _frames(file.path) > 20


def _frames(path: str) -> int:
    """The number of frames in a file, whose last one may be half."""
    count = 0
    with av.open(path) as container, suppress(av.InvalidDataError):
        for _ in container.decode(video=0):
            count += 1
    return count


def test_another_size_after_a_reconnection_is_another_file(tmp_path: Path) -> None:
    with RtspServer(group=10) as server, Reading(address_of(server), record=settings(tmp_path)) as reading:
        reading.more(25)
        known = len(reading.changes)
        server.stop()
        reading.next_state(LiveState.WAITING_TO_RECONNECT, known)
        server.start(width=320, height=240)
        reading.more(25)
        reading.stop()
        files = [file for file in reading.files if file.end is not None]
    sizes = []
    for file in files:
        with av.open(file.path) as container:
            sizes.append((container.streams.video[0].width, container.streams.video[0].height))
        assert _frames(file.path) > 10
    assert sizes == [(640, 360), (320, 240)]
    assert files[0].end is not None
    assert files[0].end < files[1].begin


def test_recording_begins_and_ends_when_it_is_asked_for(tmp_path: Path) -> None:
    with RtspServer(group=5) as server, Reading(address_of(server)) as reading:
        reading.more(10)
        reading.child.send(Record(settings(tmp_path)))
        reading.until(lambda reading: reading.files)
        reading.more(20)
        reading.child.send(Record(None))
        reading.until(lambda reading: any(file.end is not None for file in reading.files))
        reading.more(10)
        reading.stop()
        assert reading.states() == [LiveState.CONNECTING, LiveState.WAITING_FOR_KEYFRAME, LiveState.RUNNING]
        assert [packet.number for packet in reading.packets] == [*range(reading.packets[0].number, reading.packets[-1].number + 1)]
        files = [file for file in reading.files if file.end is not None]
    assert [_frames(file.path) > 10 for file in files] == [True]
