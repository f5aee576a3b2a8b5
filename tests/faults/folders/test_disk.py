"""Disks that are full, folders that are read-only or vanish: the error names the file, and everything else continues."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from framefleet.engine.notices import ExportError
from framefleet.engine.store.session import SessionReader
from tests.support.cli import FAST, read_lines
from tests.support.faults.missing import can_mount, detect, finish, limited, mounted, read_only, run, small_disk, start
from tests.support.media import make_video
from tests.support.store import write_session

needs_mounting = pytest.mark.skipif(not can_mount(), reason="needs unshare and the right to mount in a namespace of its own")
FRAMES = 120


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("media") / "long.mp4", FRAMES, (64, 48), gop=10)


@pytest.fixture(scope="module")
def stored(video: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The session of a long and a short video."""
    out = tmp_path_factory.mktemp("stored")
    short = make_video(out / "short.mp4", 5, (64, 48))
    assert detect(video, short, "--out", out).status == 0
    return out


def stored_frames(out: Path) -> int:
    """The number of frames in a folder's session, 0 if there is none yet."""
    try:
        with SessionReader(out / "session.sqlite") as reader:
            return reader.count(0)
    except ExportError:
        return 0


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


@pytest.mark.slow
def test_a_disk_that_fills_during_the_run(video: Path, tmp_path: Path) -> None:
    with limited(3_000):
        done = detect(video, "--size", "256", "--out", tmp_path / "out")
    assert done.status == 1
    assert done.report["exit"] == "failed"
    assert 0 < done.report["sources"][0]["frames"]["inferred"] <= FRAMES
    assert "session.sqlite: a file may have 3,000 KiB here" in done.report["error"]
    assert done.report["error"] in done.err
    kept = stored_frames(tmp_path / "out")
    assert kept > 0
    later = run("results", tmp_path / "out")
    assert later.status == 0, later.err
    assert [line["frame"] for line in read_lines(tmp_path / "out" / "long.jsonl")] == list(range(kept))


def test_a_disk_that_is_full_at_the_start(video: Path, tmp_path: Path) -> None:
    with limited(2):
        done = detect(video, "--out", tmp_path / "out")
    assert done.status == 2
    assert done.report["exit"] == "unusable"
    assert "session.sqlite" in done.report["error"]
    assert "full" in done.report["error"]


def test_a_disk_that_fills_at_the_end_of_a_run(stored: Path, video: Path, tmp_path: Path) -> None:
    """The session fits, and not the text of its results."""
    size = (stored / "session.sqlite").stat().st_size
    assert size < (stored / "long.jsonl").stat().st_size
    with limited(size // 1024 + 512):
        done = detect(video, stored / "short.mp4", "--out", tmp_path / "out")
    assert (done.status, done.report["exit"]) == (1, "failed")
    assert [source["frames"]["inferred"] for source in done.report["sources"]] == [FRAMES, 5]
    assert "long.jsonl: a file may have " in done.err
    assert len(read_lines(tmp_path / "out" / "short.jsonl")) == 5
    assert stored_frames(tmp_path / "out") == FRAMES


def test_a_disk_that_fills_while_results_are_written(stored: Path, tmp_path: Path) -> None:
    with limited(1000):
        done = run("results", stored, "--out", tmp_path, "--format", "jsonl,coco")
    assert done.status == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["short.coco.json", "short.jsonl"]
    assert len(read_lines(tmp_path / "short.jsonl")) == 5
    for name in ("long.jsonl", "long.coco.json"):
        assert f"framefleet: cannot write {tmp_path / name}: a file may have 1,000 KiB here: raise the limit (ulimit -f)" in done.err


@pytest.mark.slow  # so do results above, and test_video.py limits the size of a video
@needs_mounting
def test_a_disk_that_fills_while_a_video_is_written(stored: Path, tmp_path: Path) -> None:
    done = run("results", stored, "--out", tmp_path, "--format", "video", before=mounted(small_disk(tmp_path, "16k")))
    assert done.status == 1
    assert f"cannot write {tmp_path / 'long.annotated.mp4'}: the disk is full" in done.err


@pytest.mark.slow
@needs_mounting
def test_a_disk_that_fills_while_clips_are_written(stored: Path, tmp_path: Path) -> None:
    before = mounted(small_disk(tmp_path, "16k"))
    done = run("clips", stored, "--source", "long.mp4", "--exact", "--confidence", "0.01", "--out", tmp_path, before=before)
    assert done.status == 1, done.err
    assert f"cannot write {tmp_path}/long." in done.err
    assert ".mp4: the disk is full" in done.err


@pytest.mark.slow
@needs_mounting
@pytest.mark.parametrize("size", ["64k", "256k", "512k", "1m", "2m", "4m"])
def test_a_small_disk(size: str, video: Path, tmp_path: Path) -> None:
    done = detect(video, "--out", tmp_path, before=mounted(small_disk(tmp_path, size)))
    assert done.report["exit"] in ("failed", "unusable")
    assert done.status == {"failed": 1, "unusable": 2}[done.report["exit"]]
    assert "full" in done.err


@needs_mounting
def test_a_read_only_folder(stored: Path, video: Path, tmp_path: Path) -> None:
    done = detect(video, "--out", tmp_path / "out", before=mounted(*read_only(tmp_path)))
    assert (done.status, done.report["exit"]) == (2, "unusable")
    assert f"{tmp_path / 'out'}" in done.err
    assert "choose another folder" in done.err
    copy = tmp_path / "stored"
    shutil.copytree(stored, copy)
    done = run("results", copy, before=mounted(*read_only(copy)))
    assert done.status == 2
    assert f"cannot write {copy}: Read-only file system: choose another folder" in done.err
    done = run("results", copy, "--out", tmp_path / "elsewhere", before=mounted(*read_only(copy)))
    assert done.status == 0, done.err
    assert len(read_lines(tmp_path / "elsewhere" / "long.jsonl")) == FRAMES


@needs_mounting
def test_a_session_with_checksums_on_a_read_only_disk(tmp_path: Path) -> None:
    session = write_session(tmp_path / "stored" / "session.sqlite", {"/v/a.mp4": 30})
    whole = session.read_bytes()
    done = run("results", session, "--out", tmp_path / "elsewhere", before=mounted(*read_only(session.parent)))
    assert done.status == 0, done.err
    assert len(read_lines(tmp_path / "elsewhere" / "a.jsonl")) == 30
    assert session.read_bytes() == whole


def test_a_folder_that_vanishes_during_the_run(video: Path, tmp_path: Path) -> None:
    out, videos = tmp_path / "out", [tmp_path / f"{number}.mp4" for number in range(10)]
    for path in videos:
        path.hardlink_to(video)
    process = start("detect", *videos, *FAST, "--size", "256", "--out", out, "--json")
    wait_for(lambda: stored_frames(out) >= 10, process)
    shutil.rmtree(out)
    done = finish(process)
    assert done.status == 1
    assert "session.sqlite was removed or moved while the run wrote it" in done.report["error"]
    assert stored_frames(out) >= 10, "what was stored is back"
    assert done.report["sources"][-1]["frames"]["inferred"] == 0, "the run did not go on"


@pytest.mark.slow  # a file that is missing when it is opened: tests/engine/pool/test_pool.py
def test_a_source_that_vanishes_before_its_turn(tmp_path: Path) -> None:
    """The first source is under way; the others are opened later."""
    videos = [make_video(tmp_path / f"{number}.mp4", 60, (64, 48)) for number in range(6)]
    out = tmp_path / "out"
    process = start("detect", *videos, *FAST, "--size", "256", "--out", out, "--json")
    wait_for(lambda: stored_frames(out) >= 5, process)
    videos[-1].unlink()
    done = finish(process)
    assert (done.status, done.report["exit"]) == (1, "failed")
    assert f"{videos[-1]} does not exist" in done.err
    inferred = [source["frames"]["inferred"] for source in done.report["sources"]]
    assert inferred == [60] * 5 + [0]


@pytest.mark.slow
def test_a_source_that_vanishes_during_its_turn(video: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone.mp4"
    shutil.copy(video, gone)
    out = tmp_path / "out"
    process = start("detect", gone, *FAST, "--size", "416", "--parallel", "segments", "--out", out, "--json")
    wait_for(lambda: stored_frames(out) >= 5, process)
    gone.unlink()
    done = finish(process)
    frames = done.report["sources"][0]["frames"]
    assert frames["decoded"] == frames["inferred"] + frames["failed"] == FRAMES
    assert (done.status, done.report["exit"]) == ((1, "failed") if frames["failed"] else (0, "ok"))
    assert len(read_lines(out / "gone.jsonl")) == FRAMES
    if frames["failed"]:
        assert f"{gone} does not exist" in done.err
