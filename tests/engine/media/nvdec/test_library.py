"""Decoders are used again, opened one after the other, and only where frames are wanted. Here opening one is waiting for a signal."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from framefleet.engine.media.nvdec import library
from framefleet.engine.media.nvdec.bitstream import DamagedError, UncertainEndError
from framefleet.engine.media.nvdec.library import SessionPool
from framefleet.engine.notices import DeviceError
from tests.support.notices import words

FORMAT = b"1080p"


class Opened(SimpleNamespace):
    """A session that can be referred to weakly."""


class Hardware:
    """Sessions that are open as soon as they are asked for, unless ``slow``; then when ``begin`` is called."""

    def __init__(self, slow: bool = False) -> None:
        self.slow = slow
        self.opened: list[Any] = []
        self.finished = 0
        self.wanted = True
        self.pool = SessionPool(self._open, lambda: self.wanted)

    def _open(self, codec: str, on_begun: Callable[[], None]) -> Any:
        if codec == "none":
            raise ValueError("no such hardware")
        self.opened.append(Opened(codec=codec, begun=not self.slow, on_begun=on_begun, finish=self._finish))
        return self.opened[-1]

    def begin(self) -> None:
        """The last one is open now."""
        self.opened[-1].begun = True
        self.opened[-1].on_begun()

    def _finish(self) -> None:
        self.finished += 1


class DecodeThread(threading.Thread):
    """Takes a session and keeps it until ``leave``."""

    def __init__(self, hardware: Hardware, codec: str = "h264", kind: bytes = FORMAT) -> None:
        super().__init__(daemon=True)
        self._pool, self._key = hardware.pool, (codec, kind)
        self.session: Any = None
        self._done = threading.Event()
        self.start()
        time.sleep(0.03)

    def run(self) -> None:
        with self._pool.turn() as turn, self._pool.use(*self._key, turn) as self.session:
            self._done.wait()

    def leave(self) -> None:
        self._done.set()
        self.join()


def soon(condition: Callable[[], bool], seconds: float = 1.5) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def test_a_session_is_used_again_by_streams_of_its_kind() -> None:
    hardware = Hardware()
    for key in (("h264", FORMAT), ("h264", FORMAT), ("h264", b"720p"), ("hevc", FORMAT), ("h264", FORMAT)):
        with hardware.pool.use(*key):
            pass
    assert [session.codec for session in hardware.opened] == ["h264", "h264", "hevc"]


def test_a_session_that_failed_is_not_used_again() -> None:
    hardware = Hardware()
    with pytest.raises(DamagedError), hardware.pool.use("h264", FORMAT):
        raise DamagedError(words("spoiled"))
    with pytest.raises(UncertainEndError), hardware.pool.use("h264", FORMAT):
        raise UncertainEndError(words("the last one may be missing"))
    assert hardware.finished == 1
    with hardware.pool.use("h264", FORMAT):
        pass
    assert len(hardware.opened) == 2


def test_what_cannot_be_opened_is_said_and_blocks_nobody() -> None:
    hardware = Hardware()
    with pytest.raises(DamagedError, match="its decoder cannot be opened: no such hardware"), hardware.pool.use("none", FORMAT):
        pass
    with hardware.pool.use("h264", FORMAT):
        pass


def test_one_is_opened_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_LOOK_SECONDS", 60.0)  # they are told
    hardware = Hardware(slow=True)
    decode_threads = [DecodeThread(hardware) for _ in range(3)]
    for count in (1, 2, 3):
        assert soon(lambda: sum(thread.session is not None for thread in decode_threads) == count)  # noqa: B023
        time.sleep(0.05)
        assert len(hardware.opened) == count
        hardware.begin()
    for thread in decode_threads:
        thread.leave()


def test_one_that_ends_before_it_is_open_blocks_nobody() -> None:
    hardware = Hardware(slow=True)
    first, second = DecodeThread(hardware), DecodeThread(hardware)
    assert second.session is None
    first.leave()
    assert soon(lambda: second.session is first.session)
    second.leave()


def test_where_no_frames_are_wanted_lanes_wait_for_each_other_in_their_order() -> None:
    hardware = Hardware()
    hardware.wanted = False
    working = DecodeThread(hardware)
    waiting = [DecodeThread(hardware) for _ in range(3)]
    assert [thread.session for thread in waiting] == [None] * 3
    for thread in waiting:
        working.leave()
        assert soon(lambda: thread.session is not None)  # noqa: B023
        assert [other.session is None for other in waiting[waiting.index(thread) + 1 :]] == [True] * (2 - waiting.index(thread))
        working = thread
    working.leave()
    assert len(hardware.opened) == 1


def test_another_kind_waits_for_nobody() -> None:
    hardware = Hardware()
    hardware.wanted = False
    decode_threads = [DecodeThread(hardware), DecodeThread(hardware, "hevc"), DecodeThread(hardware, "h264", b"720p")]
    assert all(thread.session is not None for thread in decode_threads)
    for thread in decode_threads:
        thread.leave()


def test_nobody_waits_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "PATIENCE_SECONDS", 0.2)
    hardware = Hardware()
    hardware.wanted = False
    decode_threads = [DecodeThread(hardware) for _ in range(3)]
    assert [thread.session is None for thread in decode_threads] == [False, True, True]
    assert soon(lambda: all(thread.session is not None for thread in decode_threads))
    assert len(hardware.opened) == 3
    for thread in decode_threads:
        thread.leave()


def test_who_came_first_is_served_first_however_long_it_takes_to_know_what_it_needs() -> None:
    hardware = Hardware()
    hardware.wanted = False
    working = DecodeThread(hardware)
    with hardware.pool.turn() as turn:  # a decode thread that opens its file
        later = DecodeThread(hardware)
        working.leave()
        time.sleep(0.1)
        assert later.session is None
        with hardware.pool.use("h264", FORMAT, turn) as session:
            assert session is working.session
    assert soon(lambda: later.session is session)
    later.leave()


def test_who_gives_up_its_turn_holds_nobody_up() -> None:
    hardware = Hardware()
    hardware.wanted = False
    working = DecodeThread(hardware)
    with hardware.pool.turn():
        later = DecodeThread(hardware)
        working.leave()
    assert soon(lambda: later.session is working.session)
    later.leave()


def test_one_without_a_turn_waits_for_nobody() -> None:
    hardware = Hardware(slow=True)
    hardware.wanted = False
    decode_threads = [DecodeThread(hardware), DecodeThread(hardware)]
    with hardware.pool.use("h264", FORMAT) as session:
        assert session is hardware.opened[1]
    for thread in decode_threads:
        thread.leave()


def test_a_closed_pool_lends_no_session_and_keeps_none() -> None:
    """A thread that waits for a session ends at once, and a session that comes back late is not kept alive."""
    hardware = Hardware()
    first = DecodeThread(hardware)
    hardware.wanted = False
    problems: list[Exception] = []

    def wait_for_one() -> None:
        try:
            with hardware.pool.turn() as turn, hardware.pool.use("h264", FORMAT, turn):
                pass
        except Exception as problem:
            problems.append(problem)

    second = threading.Thread(target=wait_for_one)
    second.start()
    time.sleep(0.05)
    hardware.pool.stop()
    second.join(timeout=library.PATIENCE_SECONDS / 2)
    assert not second.is_alive()
    assert isinstance(problems[0], DeviceError)
    returned = weakref.ref(hardware.opened.pop())
    first.leave()
    del first
    gc.collect()
    assert returned() is None
    assert not hardware.opened
