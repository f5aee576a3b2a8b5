"""A worker's decode threads with a real decoder, and segments that another device goes on with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from queue import SimpleQueue

import pytest

from framefleet.engine.media.decoder import FfmpegDecoder
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import SourceInfo
from framefleet.engine.pool.protocol import Began, Detect, Done, Failed, FromWorker, Need, Revoke
from framefleet.engine.pool.worker.decode_threads import DecodeThreads
from framefleet.engine.pool.worker.message_buffer import End, FrameBuffer, Item, Picture
from framefleet.engine.processes.watchdog import Watchdog
from tests.support.media import make_video

ROOM = 4


@pytest.fixture(scope="module")
def info(tmp_path_factory: pytest.TempPathFactory) -> SourceInfo:
    """Three segments of 108 frames."""
    return probe(make_video(tmp_path_factory.mktemp("reader") / "video.mp4", 324, (160, 120)))


def die(why: Failed) -> None:
    raise AssertionError(why)


def start_thread(name: str, target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, name=name)
    thread.start()
    return thread


class OneThread:
    """One decode thread, its messages, and the buffer it decodes into."""

    def __init__(self, info: SourceInfo) -> None:
        self.said: SimpleQueue[FromWorker] = SimpleQueue()
        self.buffer = FrameBuffer(pictures=ROOM)
        self.info = info
        watchdog = Watchdog(60.0, lambda: False, die)  # type: ignore[arg-type]
        self.threads = DecodeThreads(FfmpegDecoder(), self.buffer, 200, self.said.put, watchdog, start_thread)

    def give(self, number: int, skip: int = 0) -> None:
        self.threads.put(Detect(0, replace(self.info, segments=()), self.info.segments[number], skip))

    def hear(self, *expected: FromWorker) -> None:
        for message in expected:
            assert self.said.get(timeout=10) == message

    def take(self) -> list[Item]:
        """Everything up to the end of a task."""
        items: list[Item] = []
        while not items or not isinstance(items[-1], End):
            items += self.buffer.take(1) or pytest.fail("the buffer was closed")
        return items


@pytest.fixture
def thread(info: SourceInfo) -> Iterator[OneThread]:
    """A decode thread that asks for the next task as soon as it has one."""
    thread = OneThread(info)
    thread.threads.start()
    thread.hear(Need())
    yield thread
    thread.buffer.close()
    thread.threads.stop()
    assert thread.threads.join(10)


def test_a_task_under_way_ends_with_what_is_decoded(thread: OneThread) -> None:
    thread.give(0)
    thread.hear(Began(0, 0), Need())
    thread.threads.revoke(Revoke(0, 0))
    *pictures, end = thread.take()
    assert isinstance(end, End)
    assert (end.frames, end.complete, end.error) == (len(pictures), False, None)
    assert 1 <= len(pictures) <= ROOM + 2
    assert all(isinstance(picture, Picture) for picture in pictures)
    thread.give(1)
    thread.hear(Began(0, 1))


def test_a_task_that_waits_is_given_back_at_once_and_requested_again(thread: OneThread) -> None:
    thread.give(0)
    thread.hear(Began(0, 0), Need())
    thread.give(1, skip=7)
    thread.threads.revoke(Revoke(0, 1))
    thread.hear(Done(0, 1, 7, complete=False), Need())
    end = thread.take()[-1]
    assert isinstance(end, End)
    assert (end.frames, end.complete) == (108, True)
    thread.give(2)
    thread.hear(Began(0, 2))


def test_a_segment_that_comes_back_is_done(thread: OneThread) -> None:
    thread.threads.revoke(Revoke(0, 0))  # it has ended before
    thread.give(0, skip=100)
    end = thread.take()[-1]
    assert isinstance(end, End)
    assert (end.frames, end.complete) == (108, True)
