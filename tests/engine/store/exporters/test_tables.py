"""CSV and Parquet tables, read by programs that are not ours."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import ExportError, UsageError, literal
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.export import export_session
from framefleet.engine.store.exporters import csv as tables
from framefleet.engine.store.exporters.csv import number_texts
from framefleet.engine.store.exporters.options import (
    Every,
    ExportOptions,
    Least,
    read_between,
    read_category_map,
    read_interval,
    read_parts,
)
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.types import Detections, FrameRef, FrameResult
from tests.support.notices import words
from tests.support.store import CPU, LABELS, make_frame, video_info, write_session


def export(session: Path, folder: Path, *formats: str, **options: object) -> list[str]:
    with SessionReader(session) as reader:
        return [item.path.name for item in export_session(reader, folder, formats, options=ExportOptions(**options))]  # type: ignore[arg-type]


def query(sql: str) -> list[list[object]]:
    """Ask DuckDB, in a process of its own: at exit it prints warnings if the window's tests have frozen the garbage collector."""
    script = "import duckdb, json, sys; print(json.dumps(duckdb.sql(sys.argv[1]).fetchall()))"
    answer: list[list[object]] = json.loads(subprocess.run([sys.executable, "-c", script, sql], check=True, capture_output=True).stdout)
    return answer


def frame_of(source: int, index: int, pts: float, classes: list[int]) -> FrameResult:
    """A frame with one box for each of these classes."""
    boxes = np.tile(np.array([1.5, 2.25, 11.75, 22.5], np.float32), (len(classes), 1))
    found = Detections(boxes, np.full(len(classes), 0.5, np.float32), np.array(classes, np.int32))
    return FrameResult(FrameRef(source, index, pts), CPU, 640, 480, found)


@pytest.fixture
def traffic(tmp_path: Path) -> Path:
    """A session of 40 s of traffic with a failed frame, an empty video, a folder of pictures, and a file that cannot be opened."""
    path = tmp_path / "traffic.sqlite"
    with SessionWriter(path, LABELS, {}) as writer:
        writer.add_source(0, 'cam 1, "north".mp4', video_info("", 5))
        times = [(0.0, [2, 2]), (9.5, [2]), (10.0, [2, 0]), (29.9, [])]
        writer.add_frames(frame_of(0, index, pts, classes) for index, (pts, classes) in enumerate(times))
        writer.add_frames([make_frame(0, 4, failure="corrupt")])
        writer.finish_source(0, 'cam 1, "north".mp4', Ledger(7, 4, {words("late"): 2}, {words("corrupt"): 1}, 9), 1.0)
        writer.add_source(1, "empty.mp4", video_info("", 3))
        writer.add_frames(make_frame(1, index, boxes=0) for index in range(3))
        writer.finish_source(1, "empty.mp4", Ledger(3, 3), 1.0)
        writer.add_source(2, "trap", SourceInfo("trap", SourceKind.IMAGES, "jpeg", 640, 480, 3, None, None, ()))
        pictures = [make_frame(2, 0, 1, "a.jpg"), make_frame(2, 1, 0, "späti.jpg"), make_frame(2, 2, name="c.jpg", failure="no picture")]
        writer.add_frames(replace(f, ref=f.ref._replace(pts=float(f.ref.index))) for f in pictures)
        writer.finish_source(2, "trap", Ledger(3, 2, {}, {words("no picture"): 1}, 5), 1.0)
        writer.finish_source(3, "broken.mp4", Ledger(), 0.0, words("broken.mp4 is no video"))
    return path


def test_pandas_and_duckdb_read_the_same_detections_from_both_formats(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.sqlite", {"a/x.mp4": 3000, "b/x.mp4": 2}, boxes=3)
    names = export(session, tmp_path / "out", "csv", "parquet")
    assert names == [
        *("x.detections.csv", "x.detections.parquet", "x-2.detections.csv", "x-2.detections.parquet"),
        *("counts.csv", "files.csv"),
    ]
    text, binary = pd.read_csv(tmp_path / "out" / names[0]), pd.read_parquet(tmp_path / "out" / names[1])
    assert list(text) == list(binary) == list(tables.DETECTIONS)
    assert len(text) == len(binary) == 9000
    pd.testing.assert_frame_equal(
        text.drop(columns=["clock", "track"]), binary.drop(columns=["clock", "track"]), check_dtype=False, check_exact=True
    )
    assert text.iloc[37].drop(["clock", "track"]).to_dict() == {
        "source": "a/x.mp4",
        "frame": 12,
        "time": 0.48,
        "class_id": 1,
        "label": "bicycle",
        "confidence": 0.8,
        "x": 13.0,
        "y": 1.0,
        "width": 10.5,
        "height": 20.25,
        "picture_width": 640,
        "picture_height": 480,
        "device": "cpu:0",
    }
    assert text["clock"].isna().all()
    assert binary["track"].isna().all()
    for suffix in (".parquet", "detections.csv"):
        found = query(f"SELECT source, count(*), max(frame) FROM '{tmp_path}/out/*{suffix}' GROUP BY source ORDER BY source")
        assert found == [["a/x.mp4", 9000, 2999], ["b/x.mp4", 6, 1]]


def test_parquet_is_written_in_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framefleet.engine.store.exporters.parquet.ROW_GROUP", 5000)
    export(write_session(tmp_path / "s.sqlite", {"a.mp4": 9000}), tmp_path, "parquet")
    file = parquet.ParquetFile(tmp_path / "a.detections.parquet").metadata
    assert [file.row_group(number).num_rows for number in range(file.num_row_groups)] == [8000, 8000, 2000], "whole blocks of frames"


def test_counts_per_interval(traffic: Path, tmp_path: Path) -> None:
    export(traffic, tmp_path, "csv", interval=10.0)
    counts = pd.read_csv(tmp_path / "counts.csv")
    assert list(counts) == list(tables.COUNTS)
    columns = ["start", "end", "label", "frames", "frames_with", "most_at_once", "mean"]
    assert counts[counts.source == 'cam 1, "north".mp4'][columns].to_numpy().tolist() == [
        [0.0, 10.0, "person", 2, 0, 0, 0.0],
        [0.0, 10.0, "car", 2, 2, 2, 1.5],
        [10.0, 20.0, "person", 1, 1, 1, 1.0],
        [10.0, 20.0, "car", 1, 1, 1, 1.0],
        [20.0, 30.0, "person", 1, 0, 0, 0.0],
        [20.0, 30.0, "car", 1, 0, 0, 0.0],
    ]
    assert set(counts.source) == {'cam 1, "north".mp4', "empty.mp4", "trap"}
    trap = counts[counts.source == "trap"]
    assert trap[columns[2:]].to_numpy().tolist() == [["person", 2, 1, 1, 0.5], ["car", 2, 0, 0, 0.0]], "pictures count without a time"
    assert trap[["start", "end", "clock", "tracks"]].isna().all(axis=None)
    export(traffic, tmp_path / "long", "csv", interval=20.0)
    counts = pd.read_csv(tmp_path / "long" / "counts.csv")
    assert counts[columns].to_numpy().tolist()[:2] == [
        [0.0, 20.0, "person", 3, 1, 1, 0.3333],
        [0.0, 20.0, "car", 3, 3, 2, 1.3333],
    ]


@pytest.mark.parametrize(("origin", "first"), [(1000003.25, 1000003.25), (None, 1000003.25), (1000000.0, 1000010.0)])
def test_intervals_begin_with_the_file(tmp_path: Path, origin: float | None, first: float) -> None:
    """The times of the file begin late. With the last pair, only a later part of it is analysed."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.ts", replace(video_info("", 3), origin=origin))
        writer.add_frames(frame_of(0, index, first + 10 * index, [0]) for index in range(3))
        writer.finish_source(0, "a.ts", Ledger(3, 3), 1.0)
    export(tmp_path / "s.sqlite", tmp_path, "csv", interval=10.0)
    starts = pd.read_csv(tmp_path / "counts.csv").start.to_list()
    assert starts == [first, first + 10, first + 20]


def test_a_row_per_file(traffic: Path, tmp_path: Path) -> None:
    export(traffic, tmp_path, "csv")
    files = pd.read_csv(tmp_path / "files.csv", index_col="file")
    assert list(files.index) == ['cam 1, "north".mp4', "empty.mp4", "trap/a.jpg", "trap/späti.jpg", "trap/c.jpg", "broken.mp4"]
    assert files["empty"].map(str).to_list() == ["False", "True", "False", "True", "nan", "nan"]
    assert files.inferred.to_list() == [4, 3, 1, 1, 0, 0]
    assert files.failed.to_list() == [1, 0, 0, 0, 1, 0]
    assert (files.dropped.iloc[0], files.skipped.iloc[0]) == (2, 9)
    assert files.skipped.loc["trap/a.jpg":"trap/c.jpg"].to_list() == [0, 0, 0], "they are not the pictures that were left out"
    assert files.error.fillna("").to_list() == ["", "", "", "", "no picture", "broken.mp4 is no video"]
    assert files.complete.to_list() == [True, True, True, True, False, False]
    assert files.path.to_list()[2:5] == ["trap/a.jpg", "trap/späti.jpg", "trap/c.jpg"], "the picture, not its folder"
    north = files.loc['cam 1, "north".mp4']
    assert [north[f"car_{column}"] for column in tables.PER_CLASS] == [0.0, 10.0, 3, 2]
    assert [north[f"person_{column}"] for column in tables.PER_CLASS] == [10.0, 10.0, 1, 1]
    assert files.loc["trap/a.jpg", "person_most_at_once"] == 1
    assert files.loc["empty.mp4", "person_frames_with"] == 0
    empty = query(f"SELECT file FROM '{tmp_path}/files.csv' WHERE empty ORDER BY file")
    assert empty == [["empty.mp4"], ["trap/späti.jpg"]]


def test_pictures_have_no_times_but_are_complete_one_by_one(tmp_path: Path) -> None:
    session = tmp_path / "s.sqlite"
    with SessionWriter(session, LABELS, {}) as writer:
        writer.add_source(0, "stations/trap", SourceInfo("trap", SourceKind.IMAGES, "jpeg", 640, 480, 3, None, None, ()))
        pictures = [make_frame(0, 0, 1, "a.jpg"), make_frame(0, 1, 2, "b.jpg")]
        writer.add_frames(replace(f, ref=f.ref._replace(pts=float(f.ref.index))) for f in pictures)
        writer.finish_source(0, "stations/trap", Ledger(2, 2), 1.0, cancelled=True)
    text, binary, *_ = export(session, tmp_path / "out", "csv", "parquet")
    for table in (pd.read_csv(tmp_path / "out" / text), pd.read_parquet(tmp_path / "out" / binary)):
        assert table["frame"].to_list() == [0, 1, 1]
        assert table["time"].isna().all(), "a picture's number is not a time"
    files = pd.read_csv(tmp_path / "out" / "files.csv")
    assert files[["path", "complete"]].to_numpy().tolist() == [["stations/trap/a.jpg", True], ["stations/trap/b.jpg", True]]


@pytest.fixture
def traps(tmp_path: Path) -> Path:
    """Clips of 2 s at 10 frames/s: a car in 3 frames, a person in 15 and a car in one, and nothing."""
    path = tmp_path / "traps.sqlite"
    contents = {"flicker": {2: 3}, "person": {0: 15, 2: 1}, "nothing": {}}
    with SessionWriter(path, LABELS, {}) as writer:
        for number, (name, classes) in enumerate(contents.items()):
            writer.add_source(number, f"{name}.mp4", video_info("", 20))
            found = [[each for each, frames in classes.items() if index < frames] for index in range(20)]
            writer.add_frames(frame_of(number, index, index / 10, seen) for index, seen in enumerate(found))
            writer.finish_source(number, f"{name}.mp4", Ledger(20, 20), 1.0)
    return path


@pytest.mark.parametrize(
    ("least", "empty"),
    [
        ("1", ["nothing.mp4"]),
        ("4", ["flicker.mp4", "nothing.mp4"]),
        ("0.3s", ["nothing.mp4"]),
        ("0.5s", ["flicker.mp4", "nothing.mp4"]),
        ("1.6s", ["flicker.mp4", "nothing.mp4", "person.mp4"]),
    ],
)
def test_a_file_is_empty_of_what_is_seen_too_briefly(traps: Path, tmp_path: Path, least: str, empty: list[str]) -> None:
    export(traps, tmp_path, "csv", least_seen=Least.read(least))
    files = pd.read_csv(tmp_path / "files.csv", index_col="file")
    assert sorted(files.index[files["empty"]]) == empty
    assert files.loc["person.mp4", "car_frames_with"] == (least == "1")
    assert pd.isna(files.loc["person.mp4", "car_first"]) == (least != "1")


@pytest.mark.parametrize(("failed", "empty"), [(1, True), (2, False), (15, False)])
def test_a_file_of_which_many_frames_failed_is_not_known_to_be_empty(failed: int, empty: bool, tmp_path: Path) -> None:
    """A clip whose end is missing may show an animal there."""
    why = words("its end is missing")
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        for number, classes in enumerate(([], [2])):
            writer.add_source(number, f"{number}.mp4", video_info("", 20))
            writer.add_frames(frame_of(number, index, index / 10, classes) for index in range(20 - failed))
            writer.add_frames(make_frame(number, index, failure=str(why)) for index in range(20 - failed, 20))
            writer.finish_source(number, f"{number}.mp4", Ledger(20, 20 - failed, {}, {why: failed}), 1.0)
    names = export(tmp_path / "s.sqlite", tmp_path, "csv", "megadetector")
    nothing, car = pd.read_csv(tmp_path / "files.csv").itertuples()
    assert str(nothing.empty) == ("True" if empty else "nan")
    assert (nothing.complete, car.complete, car.empty) == (empty, empty, False)
    assert pd.isna(nothing.error) if empty else nothing.error == str(why)
    first, second = json.loads((tmp_path / next(name for name in names if name.endswith(".json"))).read_text())["images"]
    assert (first.get("failure"), first["detections"]) == ((None, []) if empty else (str(why), None))
    assert len(second["detections"]) == 20 - failed


@pytest.mark.parametrize(
    ("least", "seen"), [("0.4s", [True, True]), ("0.5s", [False, True]), ("2.4s", [False, True]), ("2.5s", [False, False])]
)
def test_each_frame_counts_as_long_as_it_is_shown(tmp_path: Path, least: str, seen: list[bool]) -> None:
    """A person in four frames of 0.1 s, a car in three of 0.8 s; then eight frames of 0.1 s."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("", 15))
        times = np.cumsum([0.0, *[0.1] * 4, *[0.8] * 3, *[0.1] * 7]).round(6).tolist()
        writer.add_frames(frame_of(0, index, pts, [0] * (index < 4) + [2] * (4 <= index < 7)) for index, pts in enumerate(times))
        writer.finish_source(0, "a.mp4", Ledger(15, 15), 1.0)
    export(tmp_path / "s.sqlite", tmp_path, "csv", least_seen=Least.read(least))
    files = pd.read_csv(tmp_path / "files.csv")
    assert [bool(files[f"{label}_frames_with"][0]) for label in ("person", "car")] == seen


def test_the_tables_of_one_file_do_not_depend_on_the_other_files_of_its_session(tmp_path: Path) -> None:
    """A file in which other classes were found adds neither rows nor columns."""
    written: dict[int, list[bytes]] = {}
    for files in (1, 2):
        with SessionWriter(tmp_path / f"{files}.sqlite", LABELS, {}) as writer:
            for source in range(files):
                writer.add_source(source, f"{source}.mp4", video_info("", 2))
                writer.add_frames([frame_of(source, 0, 0.0, [source]), frame_of(source, 1, 0.04, [source])])
                writer.finish_source(source, f"{source}.mp4", Ledger(2, 2), 1.0)
        with SessionReader(tmp_path / f"{files}.sqlite") as reader:
            made = export_session(reader, tmp_path / str(files), ("csv",), only=(0,), whole=False)
        written[files] = [each.path.read_bytes() for each in made]
    assert [each.path.name for each in made] == ["0.detections.csv", "counts.csv", "files.csv"]
    assert written[1] == written[2]


def test_a_stopped_file_without_detections_is_not_called_empty(tmp_path: Path) -> None:
    export(write_session(tmp_path / "s.sqlite", {"a.mp4": 4}, boxes=0, cancelled=True), tmp_path, "csv")
    assert pd.read_csv(tmp_path / "files.csv")["empty"].isna().all()


def test_groups_continue_from_block_to_block(tmp_path: Path) -> None:
    export(write_session(tmp_path / "s.sqlite", {"a.mp4": 5000}, boxes=3), tmp_path, "csv", interval=150.0)
    counts = pd.read_csv(tmp_path / "counts.csv")
    assert counts.frames.to_list() == [3750] * 3 + [1250] * 3
    assert counts.frames_with.to_list() == counts.frames.to_list()
    files = pd.read_csv(tmp_path / "files.csv")
    assert (files.car_first[0], files.car_last[0], files.car_frames_with[0]) == (0.0, 199.96, 5000)


def test_csv_is_rfc_4180_and_begins_with_a_byte_order_mark_if_wanted(traffic: Path, tmp_path: Path) -> None:
    names = export(traffic, tmp_path / "out", "csv", bom=True)
    for name in names:
        content = (tmp_path / "out" / name).read_bytes()
        assert content.startswith(b"\xef\xbb\xbf")
        assert content.count(b"\n") == content.count(b"\r\n")
        rows = [*csv.reader(content.decode("utf-8-sig").splitlines(), strict=True)]
        assert len({len(row) for row in rows}) == 1
    export(traffic, tmp_path / "plain", "csv")
    assert not (tmp_path / "plain" / "files.csv").read_bytes().startswith(b"\xef")


@pytest.mark.parametrize("text", ["=1+1", "+cat", "-dog", "@home", "\t=1+1", '=HYPERLINK("x", "a, b")'])
def test_no_text_is_a_formula_in_spreadsheets(tmp_path: Path, text: str) -> None:
    with SessionWriter(tmp_path / "s.sqlite", [text], {}) as writer:
        writer.add_source(0, f"{text}.mp4", video_info("", 1))
        writer.add_frames([make_frame(0, 0, boxes=1)])
        writer.finish_source(0, f"{text}.mp4", Ledger(1, 1), 1.0)
    names = export(tmp_path / "s.sqlite", tmp_path, "csv", "parquet")
    detections, counts, files = (
        [*csv.DictReader((tmp_path / name).read_text("utf-8").splitlines())] for name in names if name.endswith("csv")
    )
    assert (detections[0]["label"], detections[0]["source"]) == (f"'{text}", f"'{text}.mp4")
    assert (counts[0]["label"], counts[0]["source"]) == (f"'{text}", f"'{text}.mp4")
    assert (files[0]["file"], files[0]["path"], files[0][f"'{text}_frames_with"]) == (f"'{text}.mp4", f"'{text}.mp4", "1")
    (exact,) = pd.read_parquet(next(tmp_path.glob("*.parquet"))).label
    assert exact == text


def test_a_filter_applies_to_all_tables(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.sqlite", {"a.mp4": 4}, boxes=3)  # person 0.9, bicycle 0.8, car 0.7
    with SessionReader(session, 0.7, frozenset((0, 2))) as reader:
        export_session(reader, tmp_path, ["csv", "parquet"])
    assert set(pd.read_csv(tmp_path / "a.detections.csv").label) == {"person", "car"}
    assert set(pd.read_parquet(tmp_path / "a.detections.parquet").label) == {"person", "car"}
    assert set(pd.read_csv(tmp_path / "counts.csv").label) == {"person", "car"}


def test_a_table_too_long_for_spreadsheets_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ROWS", 8)
    session = write_session(tmp_path / "s.sqlite", {"a.mp4": 4, "b.mp4": 3})
    with SessionReader(session) as reader:
        written = export_session(reader, tmp_path, ["csv"])
    assert [len(item.notes) for item in written] == [1, 0, 0, 0]
    assert "a.detections.csv has 9 rows, and spreadsheet programs show the first 8 only" in str(written[0].notes[0])


def test_an_export_reports_progress_and_can_be_cancelled(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.sqlite", {"a.mp4": 5000})

    def stop(path: Path, frames: int, total: int) -> None:
        seen.append((path.name, frames, total))
        if path.name in ("a.coco.json", "a.detections.parquet", "counts.csv"):
            raise ExportError(literal("cancelled"))

    seen: list[tuple[str, int, int]] = []
    problems: list[ExportError] = []
    with SessionReader(session) as reader:
        written = export_session(reader, tmp_path / "out", ["csv", "parquet", "coco", "jsonl"], stop, problems.append)
    assert [item.path.name for item in written] == ["a.detections.csv", "a.jsonl", "files.csv"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.detections.csv", "a.jsonl", "files.csv"]
    assert [entry for entry in seen if entry[0] == "a.detections.csv"] == [("a.detections.csv", n, 5000) for n in (2000, 4000, 5000)]
    assert seen[-1] == ("files.csv", 5000, 5000)
    assert len(problems) == 3


def test_two_exports_are_equal_byte_for_byte(traffic: Path, tmp_path: Path) -> None:
    formats = ("csv", "parquet", "coco", "jsonl")
    first, second = export(traffic, tmp_path / "1", *formats), export(traffic, tmp_path / "2", *formats)
    assert first == second
    assert all((tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes() for name in first)


def test_files_of_an_unfinished_session_never_replace_older_ones(tmp_path: Path) -> None:
    session, out = tmp_path / "s.sqlite", tmp_path / "out"
    export(write_session(session, {"a.mp4": 9}), out, "csv")
    before = (out / "files.csv").read_bytes()
    assert export(write_session(session, {"a.mp4": 4}, cancelled=True), out, "csv") == [
        "a.partial.detections.csv",
        "counts.partial.csv",
        "files.partial.csv",
    ]
    assert (out / "files.csv").read_bytes() == before


def test_memory_does_not_grow_with_the_video(tmp_path: Path) -> None:
    def peak(frames: int) -> int:
        session = write_session(tmp_path / f"{frames}.sqlite", {"a.mp4": frames})
        tracemalloc.start()
        export(session, tmp_path, "csv")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert peak(6_000) < 1.2 * peak(4_000)


@pytest.mark.parametrize("values", [[], [0.0, 0.01, 0.1, 0.29, 1.1, 100.0, 1919.99, 16383.99], [-0.01, 3.5], [16384.0, 1e9, 12.25]])
def test_numbers_are_written_as_python_writes_them(values: list[float]) -> None:
    assert [*number_texts(np.array(values))] == [repr(value) for value in values]


def test_the_detections_of_all_files_fit_into_one_table(traffic: Path, tmp_path: Path) -> None:
    apart = export(traffic, tmp_path / "apart", "csv", "parquet")
    assert export(traffic, tmp_path / "one", "csv", "parquet", one_table=True) == [
        *("detections.csv", "counts.csv", "files.csv", "detections.parquet")
    ]
    tables = [pd.read_csv(tmp_path / "apart" / name) for name in apart if name.endswith(".detections.csv")]
    assert len(tables) > 1
    whole = pd.read_csv(tmp_path / "one" / "detections.csv")
    pd.testing.assert_frame_equal(whole, pd.concat(tables, ignore_index=True), check_dtype=False)
    columns = parquet.read_table(tmp_path / "one" / "detections.parquet", columns=["source", "frame"]).to_pydict()
    assert columns == {name: whole[name].tolist() for name in columns}


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_parts, "boxes,heads", "'boxes,heads' is not a list of what to draw: choose from boxes, ids, trails, zones"),
        (Every.read, "often", "'often' is not a distance between frames: write a number of frames, such as 10"),
        (Least.read, "long", "'long' is not a length: write a number of frames"),
        (read_interval, "15", "'15' is not a time: write 30s, 15m or 1h"),
        (read_between, "0.6,0.3", "'0.6,0.3' is not a range of confidences"),
        (read_category_map, "dog", "'dog' maps no labels"),
    ],
)
def test_options_that_cannot_be_read(read: Callable[[str], object], text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        read(text)
    assert str(error.value).startswith(message)


def test_counts_need_lines_or_zones(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="no lines and zones to count at: give --zones FILE"):
        export(write_session(tmp_path / "s.sqlite", {"a.mp4": 3}), tmp_path / "out", "zones")
