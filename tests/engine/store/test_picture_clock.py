"""Clock times of pictures, from EXIF data and file names to every table."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import ExportError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.settings.clock import ClockSettings, ClockSource
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.session import SessionReader, SessionWriter
from tests.support.cli import FAST, read_lines, run_main
from tests.support.media import dated_picture
from tests.support.store import LABELS, make_frame

TIMES = {
    "2026-10-02_23-30-00.jpg": "2026:11:02 07:00:00",
    "2026-10-01_12-00-00.jpg": "2026:11:01 23:59:59",
    "IMG_0003.jpg": "2026:11:02 07:10:00",
    "IMG_0004.jpg": "",
    "IMG_0005.jpg": "0000:00:00 00:00:00",
}
"""Name and time of exposure of the pictures of a station; in the order of the names, the times go back."""

ZONE = ("--time-zone", "Europe/Berlin")


@pytest.fixture
def station(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "station"
    folder.mkdir()
    for number, (name, time) in enumerate(TIMES.items()):
        (folder / name).write_bytes(dated_picture({36867: time} if time else {}, size=(96 + 8 * number, 64)))
    monkeypatch.chdir(tmp_path)
    return folder


def detect(*options: str) -> None:
    run = run_main("detect", "station", *FAST, "--confidence", "0.05", "--quiet", *options)
    assert run.status == 0, run.err


def clocks(folder: Path = Path("detections")) -> list[str]:
    return pd.read_csv(folder / "files.csv", keep_default_na=False).clock.to_list()


METADATA = ["2026-11-01T23:59:59.000+01:00", "2026-11-02T07:00:00.000+01:00", "2026-11-02T07:10:00.000+01:00", "", ""]
NAMES = ["2026-10-01T12:00:00.000+02:00", "2026-10-02T23:30:00.000+02:00", "", "", ""]


@pytest.mark.usefixtures("station")
def test_every_table_has_the_time_of_each_picture() -> None:
    detect("--clock", "metadata", *ZONE, "--format", "csv,jsonl,coco,megadetector,labelstudio,parquet,yolo,cvat")
    out = Path("detections")
    assert clocks() == METADATA
    times = dict(zip(sorted(TIMES), METADATA, strict=True))
    detections = pd.read_csv(out / "station.detections.csv", keep_default_na=False)
    assert len({*detections.source}) == 5
    assert [times[source.removeprefix("station/")] for source in detections.source] == detections.clock.to_list()
    assert {*detections.time} == {""}
    binary = pd.read_parquet(out / "station.detections.parquet")
    assert [*pd.to_datetime(detections.clock, utc=True)] == [*binary.clock.astype("datetime64[us, UTC]")]
    assert [line.get("clock", "") for line in read_lines(out / "station.jsonl")] == METADATA
    assert [image.get("date_captured", "") for image in json.loads((out / "station.coco.json").read_text())["images"]] == METADATA
    assert [task["data"].get("taken", "") for task in json.loads((out / "station.labelstudio.json").read_text())] == METADATA
    images = json.loads((out / "megadetector.json").read_text())["images"]
    assert "began" not in (out / "yolo" / "data.yaml").read_text() + (out / "station.cvat.xml").read_text()
    exif = ["2026:11:01 23:59:59", "2026:11:02 07:00:00", "2026:11:02 07:10:00", None, None]
    assert [image.get("datetime") for image in images] == exif


@pytest.mark.usefixtures("station")
def test_pictures_count_in_the_day_in_which_they_were_taken() -> None:
    detect("--clock", "metadata", *ZONE, "--format", "csv", "--interval", "24h")
    counts = pd.read_csv(Path("detections") / "counts.csv", keep_default_na=False)
    detections = pd.read_csv(Path("detections") / "station.detections.csv", keep_default_na=False)
    days = ["", "2026-11-01T00:00:00.000+01:00", "2026-11-02T00:00:00.000+01:00"]
    assert list(dict.fromkeys(counts.clock)) == days
    assert {*counts.start} == {*counts.end} == {""}
    for day, pictures in zip(days, (2, 1, 2), strict=True):
        found = detections[detections.clock.str[:10] == day[:10]]
        for row in counts[counts.clock == day].itertuples():
            per_picture = found[found.class_id == row.class_id].groupby("source").size()
            assert (row.frames, row.frames_with, row.most_at_once) == (
                pictures,
                len(per_picture),
                per_picture.max() if len(per_picture) else 0,
            )
            assert row.mean == pytest.approx(per_picture.sum() / pictures, abs=1e-4)


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ("24h", {"2026-10-24T00:00:00.000+02:00": 1, "2026-10-25T00:00:00.000+02:00": 3}),
        ("168h", {"2026-10-19T00:00:00.000+02:00": 4}),
        ("1h", {"2026-10-24T23:00:00.000+02:00": 1, "2026-10-25T02:00:00.000+02:00": 2, "2026-10-25T12:00:00.000+01:00": 1}),
        ("0.0000001s", None),
    ],
)
def test_intervals_when_the_clocks_change(tmp_path: Path, interval: str, expected: dict[str, int] | None) -> None:
    """The picture that is taken last comes first in the order of names."""
    times = ("2026:10:25 12:00:00+01:00", "2026:10:25 02:30:00+02:00", "2026:10:25 02:30:00+01:00", "2026:10:24 23:59:59+02:00")
    with SessionWriter(tmp_path / "session.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "trap", SourceInfo("trap", SourceKind.IMAGES, "jpeg", 640, 480, 4, None, None, ()))
        writer.set_picture_clock(0, Path("trap"), ClockSettings(ClockSource.METADATA))
        frames = [make_frame(0, index, 1, f"{index}.jpg") for index in range(len(times))]
        taken = [f"{time[:10].replace(':', '-')}T{time[11:]}" for time in times]
        refs = [frame.ref._replace(pts=float(frame.ref.index), created=time) for frame, time in zip(frames, taken, strict=True)]
        writer.add_frames(replace(frame, ref=ref) for frame, ref in zip(frames, refs, strict=True))
        writer.finish_source(0, "trap", Ledger(4, 4), 1.0)
    run = run_main("results", tmp_path, "--format", "csv", "--interval", interval, "--quiet")
    assert run.status == 0, run.err
    counts = pd.read_csv(tmp_path / "counts.csv")
    found = counts.groupby("clock").frames.max()
    assert found.sum() == 4
    assert expected is None or found.to_dict() == expected


@pytest.mark.usefixtures("station")
def test_without_the_option_a_folder_has_one_row_for_each_class() -> None:
    detect("--format", "csv")
    assert clocks() == [""] * 5
    counts = pd.read_csv(Path("detections") / "counts.csv", keep_default_na=False)
    assert counts.class_id.is_unique
    assert {*counts.frames} == {5}


def test_the_option_applies_to_finished_folders_and_to_pictures_that_come_later(station: Path) -> None:
    detect("--format", "csv")
    detect("--format", "csv", "--clock", "name", *ZONE)
    assert clocks() == NAMES
    (station / "z 20261103 040506.jpg").write_bytes(dated_picture({}))
    detect("--format", "csv", "--clock", "name", *ZONE)
    times = [*NAMES, "2026-11-03T04:05:06.000+01:00"]
    assert clocks() == times
    detect("--format", "csv")
    assert clocks() == times, "without the option, the times stay"
    (station / "z 20261103 040507.jpg").write_bytes(dated_picture({}))
    detect("--format", "csv")
    times.append("2026-11-03T04:05:07.000+01:00")
    assert clocks() == times, "and apply to pictures that come later"
    detect("--format", "csv", "--clock", "2026-11-01 08:00")
    assert clocks() == times, "a time that is given is that of a video's start"
    (station / "z 20261103 040508.jpg").write_bytes(dated_picture({}))
    detect("--format", "csv")
    assert clocks() == [*times, "2026-11-03T04:05:08.000+01:00"]


@pytest.mark.usefixtures("station")
def test_results_take_other_times_for_one_export() -> None:
    detect("--clock", "name", *ZONE)
    for options, expected in ((("--clock", "metadata", *ZONE), METADATA), ((), NAMES)):
        run = run_main("results", "detections", *options, "--format", "csv", "--quiet", "--out", "tables")
        assert run.status == 0, run.err
        assert clocks(Path("tables")) == expected


def test_a_single_picture_has_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "20261101_080000.jpg").write_bytes(dated_picture({36867: "2026:11:01 07:59:58", 36881: "+02:00"}, size=(96, 64)))
    monkeypatch.chdir(tmp_path)
    for clock, expected in (("name", "2026-11-01T08:00:00.000+01:00"), ("metadata", "2026-11-01T07:59:58.000+02:00")):
        run = run_main("detect", "20261101_080000.jpg", *FAST, "--quiet", "--format", "csv", "--clock", clock, *ZONE)
        assert run.status == 0, run.err
        assert clocks() == [expected]


@pytest.mark.usefixtures("station")
def test_a_damaged_time_is_an_error_that_names_the_session() -> None:
    detect("--clock", "name")
    database = Path("detections") / "session.sqlite"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE frames SET clock = 'noon'")
        connection.commit()
    with SessionReader(database) as reader, pytest.raises(ExportError, match=r"session\.sqlite"):
        Clock.of(reader, reader.source(0))
