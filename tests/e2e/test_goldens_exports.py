"""Every export of a stored session is the one that was recorded."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import chdir, closing
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.cli import Outcome, run_main
from tests.support.goldens import CLIP, Goldens, framefleet, write_stored

SUMMARY = "4 files: 0 empty, 3 with objects, 1 failed (pictures/06.png); 26 frames"
BLOCK = 16
"""Side of the squares in which pictures are compared, pixels."""
MEAN_TOLERANCE = 1.5
BLOCK_TOLERANCE = 16.0
"""Mean absolute difference of a picture and of one of its blocks, 0..255: encoders differ, and so does what they round."""


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A folder with the session and its video: the session's paths are relative to the folder that it was made in."""
    write_stored(tmp_path / "session.sqlite")
    shutil.copy(CLIP, tmp_path / "street.mp4")
    with closing(sqlite3.connect(tmp_path / "session.sqlite")) as connection:
        connection.execute("UPDATE session SET value = ? WHERE key = 'folder'", (str(tmp_path),))
        connection.commit()
    return tmp_path


def results(folder: Path, form: str, *options: str, program: bool = False) -> Outcome:
    """Export the session in a folder. program: in a process of its own, which takes a second more."""
    arguments = ("results", "session.sqlite", "--format", form, "--out", "out", *options)
    if program:
        done = framefleet(folder, *arguments)
        return Outcome(done.returncode, done.stdout, done.stderr)
    with chdir(folder):
        return run_main(*arguments)


@pytest.mark.parametrize(("form", "suffix"), [("jsonl", "jsonl"), ("coco", "coco.json")])
def test_text_formats_are_the_recorded_bytes(goldens: Goldens, stored: Path, form: str, suffix: str) -> None:
    run = results(stored, form, program=form == "jsonl")
    assert run.status == 0, run.err
    assert run.out.splitlines() == [f"out/street.{suffix}", f"out/pictures.{suffix}", SUMMARY]
    for name in ("street", "pictures"):
        content = (stored / "out" / f"{name}.{suffix}").read_bytes()
        # a list, so that a difference shows as lines
        assert content.splitlines(keepends=True) == goldens.expect(f"export.{name}.{suffix}.gz", content).splitlines(keepends=True)


def test_a_choice_of_what_is_stored_is_the_recorded_bytes(goldens: Goldens, stored: Path) -> None:
    options = ("--confidence", "0.9", "--classes", "car,truck")
    run = results(stored, "jsonl", *options)
    assert run.status == 0, run.err
    content = (stored / "out" / "street.jsonl").read_bytes()
    assert content.splitlines(keepends=True) == goldens.expect("export.choice.jsonl", content).splitlines(keepends=True)


def test_the_annotated_video_looks_as_recorded(goldens: Goldens, stored: Path) -> None:
    run = results(stored, "video")
    assert run.status == 0, run.err
    assert run.out.splitlines() == ["out/street.annotated.mp4", SUMMARY]
    target = stored / "out" / "street.annotated.mp4"
    golden = stored / "golden.mp4"
    golden.write_bytes(goldens.expect("export.street.annotated.mp4", target.read_bytes()))
    facts, pictures = decoded(target)
    recorded_facts, recorded_pictures = decoded(golden)
    assert facts == recorded_facts
    difference = np.abs(pictures.astype(np.int16) - recorded_pictures)
    assert difference.mean() < MEAN_TOLERANCE
    assert blocks(difference).max() < BLOCK_TOLERANCE


def decoded(path: Path) -> tuple[list[object], NDArray[np.uint8]]:
    """The codec, size and pts of a video, and its pictures, uint8 (frames, height, width, 3)."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        codec = stream.codec_context
        frames = list(container.decode(stream))
    facts: list[object] = [codec.name, codec.width, codec.height, codec.pix_fmt, [round(frame.time, 6) for frame in frames]]
    return facts, np.stack([frame.to_ndarray(format="rgb24") for frame in frames])


def blocks(difference: NDArray[np.int16]) -> NDArray[np.float64]:
    """The mean of each square of ``BLOCK`` pixels, of pictures (frames, height, width, 3)."""
    frames, height, width, channels = difference.shape
    rows, columns = height // BLOCK, width // BLOCK
    whole = difference[:, : rows * BLOCK, : columns * BLOCK]
    return whole.reshape(frames, rows, BLOCK, columns, BLOCK, channels).mean(axis=(2, 4, 5), dtype=np.float64)
