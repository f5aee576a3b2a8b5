from __future__ import annotations

import threading
import time

import numpy as np

from engine.media.types import Segment, SourceInfo, SourceKind
from engine.pool import buffer as module
from engine.pool.buffer import End, FrameBuffer, Gap, Picture
from engine.pool.protocol import Detect

TASK = Detect(0, SourceInfo("x", SourceKind.VIDEO, "h264", 8, 6, 9, None, None, ()), Segment(0, None, None, 9))


def picture(number: int, height: int = 6, width: int = 8) -> Picture:
    return Picture(TASK, float(number), np.zeros((height, width, 3), np.uint8), width, height, None, 0.0, 0.0)


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
    assert [item.pts for item in buffer.take(3) or [] if isinstance(item, Picture)] == [0, 1, 2]
    late.join()
    buffer.flush()
    assert [item.pts for item in buffer.take(3) or [] if isinstance(item, Picture)] == [3, 4]


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
    gap, end = Gap(TASK, 1.0, 3, "damaged"), End(TASK, 5, complete=True, error=None)
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
