"""The sound process with a real decoder, and with miniaudio's device that plays into nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from framefleet.engine.media.sound.process import InStep, Play, Silent, Stop, main
from framefleet.engine.processes.child import ChildProcess
from tests.support.media import make_sound, make_video

pytest.importorskip("miniaudio")


def start(*backends: str) -> ChildProcess:
    return ChildProcess("sound", main, backends, words="the sound process", nice=0)


@pytest.fixture
def sound() -> Iterator[ChildProcess]:
    child = start("NULL")
    yield child
    child.end(5.0)


def test_it_plays_in_step_jumps_and_stops(sound: ChildProcess, tmp_path: Path) -> None:
    path = str(make_sound(tmp_path / "tone.mp4", 20.0, begins=1.0))
    sound.send(Play(path, 0.0, time.monotonic()))
    answer = sound.receive()
    assert isinstance(answer, InStep)
    assert answer.path == path
    sound.send(Play(path, 10.0, time.monotonic()))
    assert isinstance(sound.receive(), InStep)
    sound.send(Stop())
    assert sound.exit_message is None


def test_a_file_without_sound_is_explained_and_the_next_one_plays(sound: ChildProcess, tmp_path: Path) -> None:
    sound.send(Play(str(make_video(tmp_path / "silent.mp4", 3)), 0.0, time.monotonic()))
    answer = sound.receive()
    assert isinstance(answer, Silent)
    assert "has no sound" in answer.reason
    sound.send(Play(str(make_sound(tmp_path / "tone.mp4", 3.0)), 0.0, time.monotonic()))
    assert isinstance(sound.receive(), InStep)


def test_without_an_audio_device_it_says_what_to_do(tmp_path: Path) -> None:
    child = start("JACK")  # no machine of the tests runs a JACK server
    child.send(Play(str(make_sound(tmp_path / "tone.mp4", 1.0)), 0.0, time.monotonic()))
    answer = child.receive()
    child.end(5.0)
    assert isinstance(answer, Silent)
    assert "there is no audio device" in answer.reason
    assert "connect one" in answer.reason
