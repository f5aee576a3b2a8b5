from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat
from framefleet.engine.media.types import DecodeFailure, DeviceFrame, Segment, SourceInfo, SourceKind
from framefleet.engine.pool.protocol import Detect
from framefleet.engine.pool.worker import message_buffer as module
from framefleet.engine.pool.worker.message_buffer import End, FrameBuffer, Gap, Item, Newest, Picture
from framefleet.engine.types import UNNUMBERED, FrameRef
from tests.support.notices import words

TASK = Detect(0, SourceInfo("x", SourceKind.VIDEO, "h264", 8, 6, 9, None, None, ()), Segment(0, None, None, 9))


def picture(number: int, height: int = 6, width: int = 8) -> Picture:
    return Picture(TASK, FrameRef(0, UNNUMBERED, float(number)), np.zeros((height, width, 3), np.uint8), width, height, 0.0, 0.0)


def on_device(release: Callable[[], None]) -> Picture:
    layout = FrameFormat(PixelFormat.NV12, 8, 10**6, 10**6, 8, 6, (False, None), "bt709", False)
    return Picture(TASK, FrameRef(0, UNNUMBERED, 0.0), DeviceFrame(layout, 0, None, release), 8, 6, 0.0, 0.0)


def blocked(action: threading.Thread) -> bool:
    action.start()
    action.join(0.1)
    return action.is_alive()


def test_a_full_buffer_holds_the_decoder_until_a_batch_is_taken() -> None:
    buffer = FrameBuffer(pictures=4)
    for number in range(4):
        buffer.put(picture(number))
    late = threading.Thread(target=buffer.put, args=(picture(4),))
    assert blocked(late)
    assert [item.ref.pts for item in buffer.take(3) or [] if isinstance(item, Picture)] == [0, 1, 2]
    late.join()
    buffer.flush()
    assert [item.ref.pts for item in buffer.take(3) or [] if isinstance(item, Picture)] == [3, 4]


def test_huge_pictures_are_bounded_by_bytes_but_one_always_fits() -> None:
    side = 8192
    assert side * side * 3 > module.MAX_BYTES
    buffer = FrameBuffer(pictures=4)
    buffer.put(picture(0, side, side))
    late = threading.Thread(target=buffer.put, args=(picture(1, side, side),))
    assert blocked(late)
    assert len(buffer.take(32) or []) == 1  # no full batch, but no more would ever fit
    late.join()
    buffer.close()


def test_gaps_and_ends_keep_their_place_and_need_no_room() -> None:
    buffer = FrameBuffer(pictures=1)
    gap, end = Gap(TASK, DecodeFailure(FrameRef(0, UNNUMBERED, 1.0), 3, words("damaged"))), End(TASK, 5, complete=True, error=None)
    first = picture(0)
    for item in (first, gap, end):
        buffer.put(item)
    buffer.flush()
    assert buffer.take(1) == [first]
    assert buffer.take(8) == [gap, end]


def test_settled_means_that_everything_has_left() -> None:
    buffer = FrameBuffer(pictures=4)
    buffer.put(picture(0))
    buffer.put(picture(1))
    waiting = threading.Thread(target=buffer.wait_settled)
    assert blocked(waiting)
    assert len(buffer.take(8) or []) == 2  # waiting flushes
    buffer.settle(1)
    time.sleep(0.05)
    assert waiting.is_alive()
    buffer.settle(1)
    waiting.join()


def test_closing_releases_everybody() -> None:
    buffer = FrameBuffer(pictures=1)
    taking = threading.Thread(target=buffer.take, args=(8,))
    assert blocked(taking)
    buffer.close()
    taking.join()
    assert buffer.take(1) is None
    buffer.put(picture(0))
    buffer.wait_settled()


def test_a_batch_is_not_waited_for_when_pictures_come_slowly() -> None:
    buffer = FrameBuffer(pictures=8)
    late = threading.Timer(0.05, buffer.put, (picture(0),))
    late.start()
    started = time.monotonic()
    assert len(buffer.take(4) or []) == 1
    assert time.monotonic() - started > module.PAUSE_SECONDS
    late.join()


def test_pictures_of_any_size_from_several_threads_never_block_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small ones that fill no batch, while a large one has no room: the batch must not be waited for."""
    side = 5000
    small, large = picture(0, side, side), picture(1, side, side + 100)
    assert 2 * small.host_bytes > module.MAX_BYTES > small.host_bytes
    tiny = picture(2, 4000, 5000)
    buffer = FrameBuffer(pictures=4)
    assert 2 * tiny.host_bytes < module.MAX_BYTES < tiny.host_bytes + large.host_bytes
    buffer.put(tiny)
    late = threading.Thread(target=buffer.put, args=(large,))
    assert blocked(late)
    monkeypatch.setattr(module, "PAUSE_SECONDS", 1000.0)  # longer than the test's own time limit
    assert buffer.take(4) == [tiny]
    late.join()
    buffer.close()


def test_pictures_that_are_put_together_stay_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that threads do not wait for each other at every picture."""
    monkeypatch.setattr(module, "PAUSE_SECONDS", 1000.0)  # longer than the test's own time limit
    buffer = FrameBuffer(pictures=4)
    groups = [[picture(10 * group + number) for number in range(6)] for group in range(3)]
    threads = [threading.Thread(target=buffer.put_all, args=(group,)) for group in groups]
    assert [blocked(thread) for thread in threads] == [True] * 3
    taken: list[Picture] = []
    while len(taken) < 18:
        taken += [item for item in buffer.take(2) or [] if isinstance(item, Picture)]
    for thread in threads:
        thread.join()
    assert taken == [*groups[0], *groups[1], *groups[2]]


@pytest.mark.parametrize("together", [1, 5])
def test_many_threads_at_once_keep_their_order_and_none_starves(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """together: pictures that a thread puts at once."""
    monkeypatch.setattr(module, "PAUSE_SECONDS", 1000.0)  # longer than the test's own time limit
    decode_threads, count, most = 6, 300, 8
    buffer, random = FrameBuffer(pictures=most), Random(1)
    tasks = [replace(TASK, segment=Segment(number, None, None, count)) for number in range(decode_threads)]
    waiting, put = 0, dict.fromkeys(range(decode_threads), 0)

    def fill(task: Detect) -> None:
        for first in range(0, count, together):
            numbers = range(first, first + together)
            buffer.put_all([replace(picture(number), task=task) for number in numbers])
            put[task.segment.number] += together
            for number in (each for each in numbers if each % 50 == 0):
                buffer.put(Gap(task, DecodeFailure(FrameRef(0, UNNUMBERED, float(number)), 1, words("damaged"))))
        buffer.put(End(task, count, complete=True, error=None))

    threads = [threading.Thread(target=fill, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()

    def end() -> None:
        for thread in threads:
            thread.join()
        buffer.flush()

    threading.Thread(target=end).start()
    taken: list[Item] = []
    progress: list[int] = []
    while len([item for item in taken if isinstance(item, End)]) < decode_threads:
        batch = random.choice((1, 4, 8))
        items = buffer.take(batch) or []
        pictures = [item for item in items if isinstance(item, Picture)]
        assert len(pictures) <= batch
        taken += items
        sums = [sum(item.task is task for item in taken if isinstance(item, Picture)) for task in tasks]
        progress.append(max(sums) - min(sums))
        waiting = max(waiting, sum(put.values()) - sum(sums))
        buffer.settle(len(items))
    for thread in threads:
        thread.join()
    assert waiting <= most
    assert max(progress[: len(progress) // 2]) <= 3 * most, "a thread was overtaken again and again"
    for task in tasks:
        mine = [item for item in taken if item.task is task]
        assert [item.ref.pts for item in mine if isinstance(item, Picture)] == list(range(count))
        assert isinstance(mine[-1], End)
        assert len([item for item in mine if isinstance(item, Gap)]) == count // 50
    buffer.wait_settled()


def test_frames_on_a_device_need_no_host_memory_and_are_released_when_nobody_takes_them() -> None:
    released: list[int] = []
    buffer = FrameBuffer(pictures=2)
    for number in range(2):
        buffer.put(on_device(lambda number=number: released.append(number)))  # type: ignore[misc]
    late = threading.Thread(target=buffer.put, args=(on_device(lambda: released.append(2)),))
    assert blocked(late)
    assert not released
    buffer.close()
    late.join()
    assert sorted(released) == [0, 1, 2]
    buffer.put(on_device(lambda: released.append(3)))
    assert released[-1] == 3


def newest(number: int, released: list[int]) -> Newest:
    return Newest(lambda: picture(number), lambda: released.append(number))


def numbers(items: list[Item] | None) -> list[float]:
    return [item.ref.pts for item in items or [] if isinstance(item, Picture)]


def test_a_newer_frame_replaces_the_one_before_which_is_given_back() -> None:
    buffer, released = FrameBuffer(pictures=4), list[int]()
    assert [buffer.offer(7, newest(number, released)) for number in range(3)] == [False, True, True]
    assert numbers(buffer.take(4)) == [2]
    assert released == [0, 1]
    assert buffer.offer(7, newest(3, released)) is False
    buffer.close()
    buffer.offer(7, newest(4, released))
    assert released == [0, 1, 3, 4]


def test_newest_frames_wait_for_a_full_batch_but_not_for_sources_that_have_one() -> None:
    buffer, released = FrameBuffer(pictures=8, gather=60.0), list[int]()
    for number in range(6):
        buffer.offer(number, newest(number, released))
    assert numbers(buffer.take(4)) == [0, 1, 2, 3]
    waiting = threading.Thread(target=buffer.take, args=(4,))
    assert blocked(waiting), "two frames of six sources"
    buffer.offer(0, newest(6, released))
    buffer.offer(1, newest(7, released))
    waiting.join()
    for number in (2, 3, 4, 5):
        buffer.withdraw(number)  # these sources have ended
    for number in (0, 1):
        buffer.offer(number, newest(number, released))
    assert numbers(buffer.take(4)) == [0, 1]


def test_newest_frames_wait_for_a_limited_time() -> None:
    buffer, released = FrameBuffer(pictures=8, gather=0.05), list[int]()
    for number in range(2):
        buffer.offer(number, newest(number, released))
    assert numbers(buffer.take(4)) == [0, 1]
    begun = time.monotonic()
    buffer.offer(0, newest(2, released))
    assert numbers(buffer.take(4)) == [2]
    assert time.monotonic() - begun >= 0.05
