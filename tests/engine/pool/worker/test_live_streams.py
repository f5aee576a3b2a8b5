"""A few threads decode many live sources of a device. Every packet is accounted for, and no source holds up the others."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.media.live.messages import EpochBegan, Format, LivePacket
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.pool.protocol import FromWorker, Stream, StreamBegan, StreamCounts
from framefleet.engine.pool.worker.live_streams import StreamThreads
from framefleet.engine.pool.worker.message_buffer import End, FrameBuffer, Picture
from framefleet.engine.processes.watchdog import Watchdog
from tests.support.live.packets import HostDevice, packets_of
from tests.support.media import make_video

FIRST = Notice("live.first")


class Worker:
    """The live sources of a worker: sends their packets, takes their frames, and counts both."""

    def __init__(self, device: HostDevice | None) -> None:
        self.buffer = FrameBuffer(pictures=8)
        self.messages: list[FromWorker] = []
        self.pictures: Counter[int] = Counter()
        self.ends: dict[int, list[End]] = {}
        self.threads: list[threading.Thread] = []
        self.names: list[str] = []
        self.sent: Counter[int] = Counter()
        self._connections: dict[int, Any] = {}
        self.streams = StreamThreads(
            self.buffer, self.messages.append, Watchdog(60.0, lambda: False, _never), self._start, planes=False, device=lambda: device
        )
        self._start("take", self._take)

    def _start(self, name: str, run: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=run, name=name)
        self.names.append(name)
        self.threads.append(thread)
        thread.start()
        return thread

    def _take(self) -> None:
        while (items := self.buffer.take(4)) is not None:
            for item in items:
                if isinstance(item, Picture):
                    self.pictures[item.task.source] += 1
                elif isinstance(item, End):
                    self.ends.setdefault(item.task.source, []).append(item)

    def open(self, source: int, form: Format, waits: bool = False, watched: bool = False) -> None:
        theirs, ours = multiprocessing.Pipe()
        self._connections[source] = ours
        info = SourceInfo(f"rtsp://cam/{source}", SourceKind.LIVE, form.codec, 320, 240, 0, None, None, (), number=source)
        self.streams.start(Stream(source, info, 0, watched), theirs)
        ours.send(EpochBegan(form, FIRST, 0, waits))

    def send(self, source: int, packets: list[LivePacket]) -> None:
        for packet in packets:
            self._connections[source].send(packet)
        self.sent[source] += len(packets)

    def close(self, source: int) -> None:
        self._connections[source].close()

    def dropped(self, source: int) -> Counter[str]:
        found: Counter[str] = Counter()
        for message in self.messages:
            if isinstance(message, StreamCounts) and message.source == source:
                found.update({reason.code: count for reason, count in message.dropped.items()})
        return found

    def settled(self, sources: range) -> bool:
        return all(source in self.ends and self.ends[source][-1].complete for source in sources)

    def stop(self) -> None:
        self.streams.stop()
        self.buffer.close()
        assert self.streams.join(10.0)
        for thread in self.threads:
            thread.join()


def _never(why: object) -> Any:
    raise AssertionError(why)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def use_of(worker: Worker, source: int) -> DecoderUse:
    return sum((end.decoder for end in worker.ends[source]), DecoderUse())


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> tuple[Format, list[LivePacket]]:
    return packets_of(make_video(tmp_path_factory.mktemp("clips") / "a.mp4", 48))


def test_two_threads_serve_many_sources(clip: tuple[Format, list[LivePacket]]) -> None:
    form, packets = clip
    device = HostDevice()
    worker = Worker(device)
    for source in range(12):
        worker.open(source, form)
    for start in range(0, 48, 8):
        for source in range(12):
            worker.send(source, packets[start : start + 8])
    for source in range(12):
        worker.close(source)
    until(lambda: worker.settled(range(12)))
    worker.stop()
    assert {message.source for message in worker.messages if isinstance(message, StreamBegan)} == {*range(12)}
    for source in range(12):
        assert worker.pictures[source] + worker.dropped(source).total() == 48
        assert worker.dropped(source).keys() <= {"live.device_busy"}
        assert worker.pictures[source] > 0
    assert sorted(worker.names) == ["live 0", "live 1", "live open", "take"]
    assert len(device.opened) == 12


def test_the_decoder_of_an_ended_source_is_freed_while_others_go_on(clip: tuple[Format, list[LivePacket]]) -> None:
    form, packets = clip
    device = HostDevice()
    worker = Worker(device)
    for source in range(4):
        worker.open(source, form)
        worker.send(source, packets)
    for source in range(3):
        worker.close(source)
    until(lambda: worker.settled(range(3)) and len(device.alive) == 1)
    worker.close(3)
    until(lambda: not device.alive)
    worker.stop()
    assert len(device.opened) == 4


@pytest.mark.parametrize("required", [False, True])
def test_the_cpu_decodes_what_is_shown_unless_the_settings_require_the_gpu(required: bool, clip: tuple[Format, list[LivePacket]]) -> None:
    form, packets = clip
    device = HostDevice()
    device.required = required
    worker = Worker(device)
    worker.open(0, form, watched=True)
    worker.send(0, packets[:8])
    worker.close(0)
    until(lambda: worker.settled(range(1)))
    worker.stop()
    assert len(device.opened) == required
    assert ("stream 0" in worker.names) is not required


def test_opening_a_decoder_does_not_hold_up_other_sources(clip: tuple[Format, list[LivePacket]]) -> None:
    form, packets = clip
    go = threading.Event()
    go.set()
    worker = Worker(HostDevice(go.wait))
    worker.open(0, form)
    worker.send(0, packets[:1])
    until(lambda: worker.pictures[0] == 1)
    go.clear()
    for source in (1, 2, 3):
        worker.open(source, form)
        worker.send(source, packets)
    for packet in packets[1:]:
        before = worker.pictures[0]
        worker.send(0, [packet])
        until(lambda: worker.pictures[0] == before + 1)  # noqa: B023
    assert not any(worker.pictures[source] for source in (1, 2, 3))
    go.set()
    until(lambda: all(worker.pictures[source] for source in (1, 2, 3)))
    for source in range(4):
        worker.close(source)
    until(lambda: worker.settled(range(4)))
    worker.stop()
    assert all(worker.pictures[source] + worker.dropped(source).total() == 48 for source in range(4))


def test_sources_that_begin_at_once_all_begin(clip: tuple[Format, list[LivePacket]]) -> None:
    """Opening the decoders of all of them takes longer than a packet may wait."""
    form, packets = clip
    worker = Worker(HostDevice(lambda: time.sleep(0.15)))
    for source in range(8):
        worker.open(source, form)
        worker.send(source, [replace(packet, arrival=time.perf_counter()) for packet in packets[:12]])
    number = 12
    while not all(worker.pictures[source] for source in range(8)):
        assert number < 12 * 100
        time.sleep(0.2)
        for source in range(8):
            group = [replace(packet, number=number + packet.number, arrival=time.perf_counter()) for packet in packets[:12]]
            worker.send(source, group)
        number += 12
    for source in range(8):
        worker.close(source)
    until(lambda: worker.settled(range(8)))
    worker.stop()
    assert all(worker.pictures[source] + worker.dropped(source).total() == number for source in range(8))


def test_what_the_device_does_not_decode_gets_a_thread_of_its_own(tmp_path: Path, clip: tuple[Format, list[LivePacket]]) -> None:
    other, pictures = packets_of(make_video(tmp_path / "a.avi", 24, codec="mjpeg", pix_fmt="yuvj420p"))
    worker = Worker(HostDevice())
    worker.open(0, other)
    worker.open(1, clip[0])
    worker.send(0, pictures)
    worker.send(1, clip[1])
    for source in (0, 1):
        worker.close(source)
    until(lambda: worker.settled(range(2)))
    worker.stop()
    assert worker.names[-1] == "stream 0"
    assert "its codec is mjpeg" in str(use_of(worker, 0).reason)
    assert use_of(worker, 1).reason is None
    assert [worker.pictures[source] + worker.dropped(source).total() for source in (0, 1)] == [24, 48]


def test_a_source_that_can_wait_loses_no_frame(clip: tuple[Format, list[LivePacket]]) -> None:
    worker = Worker(HostDevice())
    worker.open(0, clip[0], waits=True)
    worker.send(0, clip[1])
    worker.close(0)
    until(lambda: worker.settled(range(1)))
    worker.stop()
    assert (worker.pictures[0], worker.dropped(0).total()) == (48, 0)
    assert worker.names[-1] == "stream 0"


def test_a_source_that_another_worker_takes_over_ends_at_once(clip: tuple[Format, list[LivePacket]]) -> None:
    worker = Worker(HostDevice())
    for source in (0, 1):
        worker.open(source, clip[0])
        worker.send(source, clip[1][:20])
    until(lambda: worker.pictures[0] > 0)
    assert worker.streams.end(0)
    assert not worker.streams.end(0)
    until(lambda: worker.settled(range(1)))
    worker.send(1, clip[1][20:])
    worker.close(1)
    until(lambda: worker.settled(range(2)))
    worker.stop()
    assert worker.pictures[1] + worker.dropped(1).total() == 48
    assert worker.pictures[0] + worker.dropped(0).total() <= 20


def test_a_stopped_worker_leaves_no_thread(clip: tuple[Format, list[LivePacket]]) -> None:
    worker = Worker(HostDevice())
    for source in range(6):
        worker.open(source, clip[0])
        worker.send(source, clip[1][:30])
    worker.stop()
    assert not any(thread.is_alive() for thread in worker.threads)


def test_a_required_device_that_cannot_decode_ends_the_source(tmp_path: Path) -> None:
    form, packets = packets_of(make_video(tmp_path / "a.avi", 4, codec="mjpeg", pix_fmt="yuvj420p"))
    device = HostDevice()
    device.required = True
    worker = Worker(device)
    worker.open(0, form)
    worker.send(0, packets[:1])
    until(lambda: worker.settled(range(1)))
    worker.stop()
    assert "NVDEC cannot decode rtsp://cam/0" in str(worker.ends[0][-1].error)


def test_without_nvdec_each_source_has_a_thread(clip: tuple[Format, list[LivePacket]]) -> None:
    form, packets = clip
    worker = Worker(None)
    for source in (0, 1):
        worker.open(source, form)
    until(lambda: worker.streams.idle)  # both wait for packets, so that decoding is not what limits the device
    for source in (0, 1):
        worker.send(source, [replace(packet, number=packet.number) for packet in packets])
        worker.close(source)
    until(lambda: worker.settled(range(2)))
    assert not worker.streams.idle
    worker.stop()
    assert worker.names == ["take", "stream 0", "stream 1"]
    assert all(use_of(worker, source).reason is None for source in (0, 1))
    assert all(worker.pictures[source] + worker.dropped(source).total() == 48 for source in (0, 1))
