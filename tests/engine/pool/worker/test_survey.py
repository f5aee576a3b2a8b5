"""How fast a source is decoded, as a worker measures it: a real engine, real files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.backends import create_backend
from engine.backends.base import Backend
from engine.media.probe import probe
from engine.media.types import DecodedFrame, DecodedOnDevice, DecodeFailure, Segment, SourceInfo
from engine.pool.groups import decoding as front
from engine.pool.protocol import Survey, Surveyed
from engine.pool.worker import survey as module
from engine.pool.worker.survey import survey
from tests.support.media import make_video, truncated
from tests.support.models import tiny_network
from tests.support.pool import CPUS, tiny_settings

FRAMES = 2000


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    with create_backend(CPUS[0]) as backend:
        backend.activate(tiny_network(), tiny_settings().engine)
        yield backend


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> SourceInfo:
    path = tmp_path_factory.mktemp("survey") / "whole.mkv"
    make_video(path, FRAMES, (320, 240), gop=10 * FRAMES)
    return probe(path)


def measure(backend: Backend, info: SourceInfo, stopped: bool = False) -> Surveyed:
    return survey(Survey(7, info), backend, lambda: stopped)


def paced(backend: Backend, monkeypatch: pytest.MonkeyPatch, seconds: float, burst: int = 0) -> list[bool]:
    """The device's decoder takes so long for every frame, but for the first ones. Gives whether it was closed."""
    closed: list[bool] = []

    def slow(info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[DecodedFrame | DecodedOnDevice | DecodeFailure]:
        try:
            for number, frame in enumerate(front.decode(info, segment, skip)):
                time.sleep(0 if number < burst else seconds)
                yield frame
        finally:
            closed.append(True)

    monkeypatch.setattr(backend, "decode", slow)
    return closed


def test_the_rates_are_those_of_the_decoders(backend: Backend, video: SourceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = paced(backend, monkeypatch, 0.01, burst=1)
    found = measure(backend, video)
    assert found.source == 7
    assert not found.on_device
    assert found.own is not None
    assert 40 < found.own <= 100
    assert found.shared is not None
    assert found.shared > found.own
    assert closed == [True]


def test_frames_that_come_at_once_in_the_beginning_do_not_count(
    backend: Backend, video: SourceInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front, "cores", lambda: 16)
    paced(backend, monkeypatch, 0.02, burst=16)
    found = measure(backend, video)
    assert found.own is not None
    assert found.own <= 50


def test_it_takes_a_moment_only(backend: Backend, video: SourceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(front, "cores", lambda: 16)
    paced(backend, monkeypatch, 0.1)
    started = time.monotonic()
    found = measure(backend, video)
    assert time.monotonic() - started < 3
    assert found.own is None, "it did not get going"
    assert found.shared is not None


def test_it_ends_when_nobody_waits_any_more(backend: Backend, video: SourceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 60.0)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 60.0)
    closed = paced(backend, monkeypatch, 0.01)
    started = time.monotonic()
    measure(backend, video, stopped=True)
    assert time.monotonic() - started < 5
    assert closed == [True]


def test_a_file_that_cannot_be_read_has_no_rate(backend: Backend, video: SourceInfo, caplog: pytest.LogCaptureFixture) -> None:
    found = measure(backend, replace(video, path="/videos/missing.mkv"))
    assert (found.own, found.shared) == (None, None)
    assert "/videos/missing.mkv: how fast it is decoded cannot be measured" in caplog.text


def test_damaged_frames_count_and_a_short_file_is_enough(backend: Backend, video: SourceInfo, tmp_path: Path) -> None:
    short, damaged = tmp_path / "short.mkv", tmp_path / "damaged.mkv"
    make_video(short, 60, (320, 240), gop=600)
    truncated(short, damaged, 0.5)
    found = measure(backend, probe(damaged))
    assert found.own is not None
    assert found.shared is not None


def test_a_group_decodes_with_as_many_threads(video: SourceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    for count, whole, part in ((1, 1, 1), (8, 8, 2), (64, 16, 16)):
        monkeypatch.setattr(front, "cores", lambda count=count: count)
        assert front.threads_for(video.segments[0], decode_threads=4) == whole
        assert front.threads_for(Segment(1, 100, 200, 50), decode_threads=4) == part
