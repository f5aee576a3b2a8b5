"""The names of pictures in COCO files and data sets denote the frames that ffmpeg extracts under these names."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.export import export_session
from framefleet.engine.store.exporters.pictures import picture_name
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.types import Detections, FrameResult, InferenceFailure
from tests.support.media import damaged, make_video, number_of
from tests.support.notices import words
from tests.support.store import CPU, LABELS, write_session


def store(video: Path) -> Path:
    """Decode as a worker does, and store a box in each frame whose left edge is the number in the picture."""
    info = probe(video)
    frames: list[FrameResult] = []
    for segment in info.segments:
        for outcome in decode(info, segment):
            if isinstance(outcome, DecodedFrame):
                number, (height, width, _) = number_of(outcome.image), outcome.image.shape
                found = Detections(np.array([[number, 0, 200, 10]], np.float32), np.ones(1, np.float32), np.zeros(1, np.int32))
                frames.append(FrameResult(outcome.ref._replace(index=len(frames)), CPU, width, height, found))
            else:
                for _ in range(outcome.count):
                    frames.append(
                        FrameResult(outcome.ref._replace(index=len(frames)), CPU, info.width, info.height, InferenceFailure(outcome.reason))
                    )
    database = video.with_suffix(".sqlite")
    with SessionWriter(database, LABELS, {}) as writer:
        writer.add_source(0, str(video), info)
        writer.add_frames(frames)
        failed = sum(frame.failure is not None for frame in frames)
        reasons = {words("damaged"): failed} if failed else {}
        writer.finish_source(0, str(video), Ledger(len(frames), len(frames) - failed, {}, reasons), 1.0)
    return database


def extract(video: Path, size: tuple[int, int]) -> dict[str, NDArray[np.uint8]]:
    """Decode every frame that FFmpeg returns, marked as damaged or not, as ffmpeg does; name pictures by time as its option -frame_pts."""
    pictures = {}
    with av.open(str(video)) as container:
        stream = container.streams.video[0]
        assert stream.time_base is not None
        for packet in container.demux(stream):
            try:
                frames = packet.decode()
            except av.FFmpegError:
                continue
            for frame in frames:
                assert isinstance(frame, av.VideoFrame)
                assert frame.pts is not None
                units = frame.pts * stream.time_base * 10_000
                name = f"{(2 * units.numerator + units.denominator) // (2 * units.denominator):08d}.jpg"
                pictures[name] = frame.reformat(*size, "rgb24").to_ndarray()
    return pictures


def normal(folder: Path) -> Path:
    return make_video(folder / "a.mp4", 30, bframes=2)


def anamorphic(folder: Path) -> Path:
    pts = [0, 1, 2, 4, 8, 9, 15, 16, 40, *range(41, 62)]
    return make_video(folder / "a b%d.mp4", 30, pts=pts, time_base=Fraction(1, 24), aspect=Fraction(64, 45))


def late(folder: Path) -> Path:
    return make_video(folder / "a.ts", 30, rate=Fraction(30000, 1001), bframes=2)


def broken(folder: Path) -> Path:
    return damaged(make_video(folder / "whole.mp4", 60, gop=10), folder / "a.mp4", [(0.2, 400), (0.5, 300), (0.7, 300)])


def avi(folder: Path) -> Path:
    return make_video(folder / "a.avi", 30, codec="mpeg4", options={"q": "2", "bf": "2"})


KINDS = (normal, anamorphic, late, broken)


def read_coco(video: Path) -> tuple[dict[str, object], dict[str, int], tuple[int, int], int]:
    """Export. Returns COCO's info, the number of each named picture, the size that all pictures have, and the number of failed frames."""
    with SessionReader(store(video)) as reader:
        export_session(reader, video.parent, ["coco"])
    data = json.loads((video.parent / f"{video.stem}.coco.json").read_text())
    numbers = {box["image_id"]: round(box["bbox"][0]) for box in data["annotations"]}
    named = {image["file_name"]: numbers[image["id"]] for image in data["images"] if "failed" not in image}
    (size,) = {(image["width"], image["height"]) for image in data["images"]}
    return data["info"], named, size, len(data["images"]) - len(named)


@pytest.mark.parametrize("kind", KINDS)
def test_names_denote_the_frames_that_are_extracted(tmp_path: Path, kind: Callable[[Path], Path]) -> None:
    video = kind(tmp_path)
    _, named, size, failed = read_coco(video)
    pictures = extract(video, size)
    assert (failed > 0) == (kind is broken)
    assert len(named) > 20
    for name, number in named.items():
        folder, _, file = name.partition("/")
        assert folder == video.stem
        assert number_of(pictures[file]) == number


@pytest.mark.parametrize(
    ("form", "file", "path"),
    [("coco", "street.coco.json", "../clips/street.mp4"), ("yolo", "yolo/data.yaml", "../../clips/street.mp4")],
)
def test_the_command_finds_the_video_from_the_folder_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, file: str, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with SessionReader(write_session(tmp_path / "session.sqlite", {"clips/street.mp4": 1})) as reader:
        export_session(reader, tmp_path / "out", [form])
    assert f"ffmpeg -copyts -i {path} -vf" in (tmp_path / "out" / file).read_text()


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs the program ffmpeg")
@pytest.mark.parametrize("kind", [*KINDS, avi])
def test_the_command_makes_these_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Callable[[Path], Path]) -> None:
    video = kind(tmp_path)
    info, named, size, failed = read_coco(video)
    monkeypatch.chdir(tmp_path)
    subprocess.run(str(info["images"]), shell=True, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    made = {f"{video.stem}/{path.name}" for path in (tmp_path / video.stem).iterdir()}
    assert made >= named.keys() if failed else made == named.keys(), "a damaged file has pictures of failed frames, too"
    for name, number in named.items():
        image = cv2.imread(str(tmp_path / name))
        assert image is not None
        assert (image.shape[1], image.shape[0]) == size
        assert number_of(np.asarray(image, np.uint8)) == number


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs the program ffmpeg")
def test_the_command_in_a_description_of_a_data_set_makes_its_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "-a 100%").mkdir()
    video = make_video(tmp_path / "-a 100%" / "a.mp4", 30, rate=25, bframes=2)
    monkeypatch.chdir(video.parent)
    write_session(tmp_path / "session.sqlite", {video.name: 30})
    with SessionReader(tmp_path / "session.sqlite") as reader:
        export_session(reader, tmp_path / "out", ["yolo"])
    folder = tmp_path / "out" / "yolo"
    (command,) = (line for line in (folder / "data.yaml").read_text().splitlines() if "ffmpeg" in line)
    subprocess.run(command.removeprefix("# "), shell=True, check=True, capture_output=True, stdin=subprocess.DEVNULL, cwd=folder)
    made = {path.stem for path in (folder / "images" / video.stem).glob("*.jpg")}
    labelled = {path.stem for path in (folder / "labels" / video.stem).glob("*.txt")}
    assert len(made) == 30
    assert made == labelled


@pytest.mark.parametrize("character", ["\n", "\u2028", "\x1b", "\x85", "\x7f", "\ufeff", "\uffff"])
def test_a_name_that_no_comment_can_have_gets_no_command(tmp_path: Path, character: str) -> None:
    with SessionReader(write_session(tmp_path / "session.sqlite", {f"a{character}b.mp4": 1})) as reader:
        export_session(reader, tmp_path / "out", ["yolo"])
    text = (tmp_path / "out" / "yolo" / "data.yaml").read_text("utf-8")
    assert yaml.safe_load(text)["train"] == "images"
    assert "# no command for " in text.splitlines()[-1]
    assert "its name has a character that this file cannot have" in text.splitlines()[-1]


@pytest.mark.parametrize(("pts", "name"), [(0.0, "00000000"), (0.00025, "00000003"), (1001 / 30000, "00000334"), (-0.04, "-00000400")])
def test_names_are_rounded_as_ffmpeg_rounds(pts: float, name: str) -> None:
    assert picture_name(pts) == name


def test_a_name_with_other_spaces_is_the_same_in_cvat(tmp_path: Path) -> None:
    name = "Screen 9.41\N{NARROW NO-BREAK SPACE}写真\N{IDEOGRAPHIC SPACE}\N{ZERO WIDTH JOINER}\x01"
    with SessionReader(write_session(tmp_path / "s.sqlite", {f"{name}.mp4": 2})) as reader:
        (written,) = (each.path for each in export_session(reader, tmp_path / "out", ["cvat"]))
    assert f"<name>{name.replace(chr(1), '?')}</name>" in written.read_text()
