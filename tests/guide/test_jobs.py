"""The commands and programs on the guide's pages run as they are printed there, on small clips and with the demo's model."""

from __future__ import annotations

import contextlib
import io
import shlex
import shutil
from pathlib import Path

import av
import cv2
import numpy as np
import pandas as pd
import pytest

from framefleet.resources import DEMO
from tests.support.cli import run_main
from tests.support.goldens import CLIP
from tests.support.guide import GUIDE, blocks
from tests.support.media import dated_picture, make_video
from tests.support.store import write_session

FAST = ["--labels", str(DEMO.labels), "--devices", "cpu:0", "--precision", "fp32", "--size", "320x192", "--quiet"]
"""Options that the pages leave out: their model has labels of its own. The choice of device and precision and a large input take time."""


ANIMALS = "bird,cat,dog,horse,sheep,cow,bear"
REPLACED = {"yolov4": str(DEMO.cfg), ANIMALS: "car,dog"}
"""The demo's model takes the place of one that has to be downloaded, and knows only one of COCO's animals."""


def follow(page: str) -> str:
    """Run all commands and programs of a page, in order. Returns what the programs print."""
    printed = io.StringIO()
    examples = [block for block in blocks(GUIDE / page) if block[0] in ("console", "python")]
    assert examples
    for kind, content in examples:
        if kind == "python":
            with contextlib.redirect_stdout(printed):
                exec(compile(content, page, "exec"), {})
            continue
        for line in content.splitlines():
            prompt, program, command, *options = shlex.split(line)
            assert (prompt, program) == ("$", "framefleet")
            options = [REPLACED.get(option, option) for option in options]
            run = run_main(command, *options, *(FAST if command == "detect" else []))
            assert run.status == 0, run.err
    return printed.getvalue()


def empty_picture(_number: int, size: tuple[int, int]) -> np.ndarray:
    """A grey picture without any object."""
    return np.full((size[1], size[0], 3), 110, np.uint8)


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_which_clips_are_empty(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    shutil.copy(CLIP, tmp_path / "clips" / "street.mp4")
    make_video(tmp_path / "clips" / "nothing.mp4", 5, (160, 96), picture=empty_picture)
    printed = follow("empty-clips.md")
    assert [line.strip() for line in printed.splitlines()][:1] == ["nothing.mp4"]
    files = pd.read_csv(tmp_path / "found" / "files.csv", index_col="file")
    assert files["empty"].to_dict() == {"nothing.mp4": True, "street.mp4": False}
    assert files.loc["street.mp4", "car_most_at_once"] >= 1
    assert (tmp_path / "found" / "megadetector.json").exists()
    strict = pd.read_csv(tmp_path / "strict" / "street.detections.csv")
    assert strict.confidence.min() >= 0.5


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_visits_at_camera_traps(tmp_path: Path) -> None:
    with av.open(CLIP) as video:
        street = next(video.decode(video=0)).to_ndarray(format="rgb24")
    times = {
        "oak": ("01 23:50", "02 00:10", "02 00:41", "02 00:30", "", "02 01:12", "02 01:12"),
        "brook/DCIM/100EK113": ("01 12:00",),
        "brook/DCIM/101EK113": ("01 12:20",),
    }
    for station, taken in times.items():
        (tmp_path / "stations" / station).mkdir(parents=True)
        for number, time in enumerate(taken):
            picture = dated_picture({36867: f"2026:11:{time}:00"} if time else {}, picture=street)
            (tmp_path / "stations" / station / f"IMG_{number}.jpg").write_bytes(picture)
    rows = [line.split() for line in follow("camera-traps.md").splitlines()]
    cars = [row for row in rows if row[1] == "car"]
    assert len({row[-1] for row in cars}) == 1, "all pictures are the same, also those of one minute"
    assert [(*row[:1], *row[2:-1]) for row in cars] == [
        ("brook", "1", "2026-11-01", "11:00:00+00:00", "2026-11-01", "11:20:00+00:00"),
        ("oak", "1", "2026-11-01", "22:50:00+00:00", "2026-11-01", "23:41:00+00:00"),
        ("oak", "2", "2026-11-02", "00:12:00+00:00", "2026-11-02", "00:12:00+00:00"),
    ]
    counts = pd.read_csv(tmp_path / "trap" / "counts.csv", keep_default_na=False)
    per_day = counts[(counts.label == "car") & (counts.source == "oak")].set_index("clock").frames.to_dict()
    assert per_day == {"": 1, "2026-11-01T00:00:00.000+01:00": 1, "2026-11-02T00:00:00.000+01:00": 5}


@pytest.mark.usefixtures("_here")
def test_a_day_of_traffic(tmp_path: Path) -> None:
    (tmp_path / "recordings").mkdir()
    for time in ("074459500", "080000"):
        shutil.copy(CLIP, tmp_path / "recordings" / f"north_20261101_{time}.mp4")
    printed = follow("traffic-counts.md")
    quarters = [line.split()[0] for line in printed.splitlines() if line.startswith("2026")]
    assert quarters == [f"2026-11-01T{time}.000+01:00" for time in ("07:30:00", "07:45:00", "08:00:00")]
    assert pd.read_csv(tmp_path / "counted" / "counts.csv").tracks.max() >= 1
    hours = pd.read_csv(tmp_path / "hourly" / "counts.csv")
    assert set(hours.clock.str.slice(11, 16)) == {"07:00", "08:00"}
    assert hours.frames.groupby(hours.source).max().sum() == 2 * pd.read_csv(tmp_path / "hourly" / "files.csv").inferred.max()


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_a_job_array(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    for name in "abcd":
        make_video(tmp_path / "clips" / f"{name}.mp4", 3, (160, 96), picture=empty_picture)
    follow("job-arrays.md")
    assert sorted(pd.read_csv(tmp_path / "found" / "files.csv").file) == ["a.mp4", "b.mp4", "c.mp4", "d.mp4"]
    assert len([*(tmp_path / "found").glob("*.jsonl")]) == 4


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_a_training_set_from_doubtful_frames(tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    shutil.copy(CLIP, tmp_path / "videos" / "street.mp4")
    follow("retraining.md")
    yolo = tmp_path / "training" / "yolo"
    pictures, labels = sorted(yolo.rglob("*.jpg")), sorted((yolo / "labels").rglob("*.txt"))
    assert [path.stem for path in pictures] == [path.stem for path in labels]
    assert len(pictures) == 1  # the clip lasts a second
    assert cv2.imread(str(pictures[0])) is not None
    assert labels[0].read_text()
    assert {path.suffix for path in (tmp_path / "labelling").iterdir()} == {".xml", ".json"}


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_the_page_about_tracks(tmp_path: Path) -> None:
    shutil.copy(CLIP, tmp_path / "street.mp4")
    follow("tracks.md")
    table = pd.read_csv(tmp_path / "street" / "street.detections.csv")
    assert table.confidence.min() >= 0.25
    tracked = table.dropna(subset="track").groupby("track").frame.count()
    assert tracked.index.min() == 1
    assert tracked.max() > 10, "an object is followed through most of the clip"


@pytest.mark.usefixtures("_here")
def test_the_page_about_exporting(tmp_path: Path) -> None:
    (tmp_path / "detections").mkdir()
    write_session(tmp_path / "detections" / "session.sqlite", {"a.mp4": 4}, boxes=3)
    follow("exporting.md")
    assert set(pd.read_parquet(tmp_path / "tables" / "a.detections.parquet").label) == {"person", "car"}


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_lines_and_zones(tmp_path: Path) -> None:
    shutil.copy(CLIP, tmp_path / "street.mp4")
    (zones,) = (content for kind, content in blocks(GUIDE / "zones.md") if kind == "json")
    (tmp_path / "crossing.json").write_text(zones)
    follow("zones.md")
    folder = tmp_path / "counted"
    assert {path.name for path in folder.glob("*.csv")} == {
        *("crossings.csv", "line-counts.csv", "line-totals.csv", "zone-times.csv", "zone-counts.csv", "routes.csv", "events.csv")
    }
    visits = pd.read_csv(folder / "zone-times.csv")
    assert set(visits.label) == {"person"}
    assert (visits.seconds > 0).any()
    assert set(pd.read_csv(folder / "events.csv").event) >= {"appearance", "visit"}
    assert (folder / "street.annotated.mp4").exists()
