"""Tracks, and what a person verified, are in each format that has a place for them."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import av
import numpy as np
import pyarrow.parquet as pq
import pytest

from framefleet.engine.evaluation.evaluate import read_truth
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.appearances import MAX_CHAPTERS, chapters_of
from framefleet.engine.store.corrections import Corrections, OneDetection, OneTrack
from framefleet.engine.store.export import export_session
from framefleet.engine.store.exporters.options import ExportOptions, Least
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_session, track_source
from framefleet.engine.types import Detections, FrameRef, FrameResult
from tests.support.media import make_video
from tests.support.store import CPU, LABELS, make_frame, video_info, write_session

FORMATS = ("jsonl", "csv", "parquet", "coco", "cvat", "labelstudio", "mot", "yolo", "megadetector")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video of 10 frames with track 1, a person without a detection in frames 4 and 5, and weaker bicycles without a track."""
    path = tmp_path_factory.mktemp("tracked") / "s.sqlite"
    with SessionWriter(path, LABELS, {"model": "tiny"}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 10))
        writer.add_frames(make_frame(0, index, 0 if index in (4, 5) else 2) for index in range(10))
    track_session(path)
    return path


@pytest.fixture(scope="module")
def written(session: Path) -> Path:
    with SessionReader(session) as reader:
        export_session(reader, session.parent / "out", FORMATS)
    return session.parent / "out"


def test_tables_and_json_have_the_track_of_each_detection(written: Path) -> None:
    lines = [json.loads(line) for line in (written / "a.jsonl").read_text().splitlines()]
    assert [[found["track"] for found in line["detections"]] for line in lines] == [[1, None]] * 4 + [[]] * 2 + [[1, None]] * 4
    assert "verified" not in lines[0]["detections"][0]
    with (written / "a.detections.csv").open() as file:
        assert [row["track"] for row in csv.DictReader(file)] == ["1", ""] * 8
    with (written / "counts.csv").open() as file:
        assert [(row["label"], row["tracks"]) for row in csv.DictReader(file)] == [("person", "1"), ("bicycle", "0")]
    assert pq.read_table(written / "a.detections.parquet")["track"].to_pylist() == [1, None] * 8
    assert [line.split(",")[1] for line in (written / "a.mot" / "det" / "det.txt").read_text().splitlines()] == ["1", "-1"] * 8
    assert [line.split(",")[1] for line in (written / "a.mot" / "gt" / "gt.txt").read_text().splitlines()] == ["1"] * 8


@pytest.fixture(scope="module")
def changing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video with one track, of the class car: 4 frames show a person with confidence 0.9, and 16 show a car with confidence 0.4."""
    path = tmp_path_factory.mktemp("changing") / "s.sqlite"
    with SessionWriter(path, LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 20))
        for index in range(20):
            score, class_id = (0.9, 0) if index % 5 == 0 else (0.4, 2)
            found = Detections(np.array([[50, 50, 90, 90]], np.float32), np.array([score], np.float32), np.array([class_id], np.int32))
            writer.add_frames([FrameResult(FrameRef(0, index, index / 25), CPU, 640, 480, found)])
    track_session(path)
    return path


@pytest.mark.parametrize(
    ("shown", "rows"),
    [
        ({}, [("person", "4", "0"), ("car", "16", "1")]),
        ({"confidence": 0.5}, [("person", "4", "0"), ("car", "0", "1")]),
        ({"classes": frozenset({0})}, [("person", "4", "0")]),
        ({"classes": frozenset({2})}, [("car", "16", "1")]),
    ],
)
def test_a_track_counts_once_and_in_its_class(changing: Path, tmp_path: Path, shown: dict[str, Any], rows: list[object]) -> None:
    with SessionReader(changing, **shown) as reader:
        export_session(reader, tmp_path, ["csv"])
    with (tmp_path / "counts.csv").open() as file:
        assert [(row["label"], row["frames_with"], row["tracks"]) for row in csv.DictReader(file)] == rows


@pytest.mark.parametrize(("frames", "person"), [(1, 8), (8, 8), (9, 0)])
def test_a_class_counts_in_a_file_if_one_track_of_it_is_seen_long_enough(session: Path, tmp_path: Path, frames: int, person: int) -> None:
    with SessionReader(session) as reader:
        export_session(reader, tmp_path, ["csv"], options=ExportOptions(least_seen=Least(frames)))
    with (tmp_path / "files.csv").open() as file:
        (entry,) = csv.DictReader(file)
    assert entry["empty"] == ("FALSE" if person else ""), "the run was stopped, so the file may not be empty"
    assert (entry["person_frames_with"], entry["bicycle_frames_with"]) == (str(person), "8" if frames == 1 else "0"), (
        "bicycles have no track"
    )


@pytest.mark.parametrize(
    ("shown", "least", "expected"),
    [
        ({}, "1", {"person": "4", "car": "16"}),
        ({}, "20", {"person": "0", "car": "16"}),
        ({}, "0.8s", {"person": "0", "car": "16"}),
        ({"confidence": 0.5}, "4", {"person": "0", "car": "0"}),
        ({"classes": frozenset({2})}, "16", {"car": "16"}),
    ],
)
def test_a_track_is_seen_in_its_class(changing: Path, tmp_path: Path, shown: dict[str, Any], least: str, expected: dict[str, str]) -> None:
    with SessionReader(changing, **shown) as reader:
        export_session(reader, tmp_path, ["csv"], options=ExportOptions(least_seen=Least.read(least)))
    with (tmp_path / "files.csv").open() as file:
        (entry,) = csv.DictReader(file)
    assert entry["empty"] == "FALSE"
    assert {name.removesuffix("_frames_with"): entry[name] for name in entry if name.endswith("_frames_with")} == expected


def test_files_without_tracks_beside_tracked_ones_are_seen_by_their_frames(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        for number, name in enumerate(("a.mp4", "b.mp4")):
            writer.add_source(number, name, video_info(name, 10))
            writer.add_frames(make_frame(number, index, 1) for index in range(10))
            writer.finish_source(number, name, Ledger(10, 10), 1.0)
        writer.add_source(2, "photos", SourceInfo("photos", SourceKind.IMAGES, "jpeg", 640, 480, 1, None, None, ()))
        writer.add_frames([make_frame(2, 0, 1, name="c.jpg")])
        writer.finish_source(2, "photos", Ledger(1, 1), 1.0)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        track_source(reader.path, 0, reader.frames(0))
        export_session(reader, tmp_path, ["csv"], options=ExportOptions(least_seen=Least.read("0.2s")))
    with (tmp_path / "files.csv").open() as file:
        assert [(row["file"], row["person_frames_with"]) for row in csv.DictReader(file)] == [
            *(("a.mp4", "10"), ("b.mp4", "10"), ("photos/c.jpg", "1"))
        ]
    with (tmp_path / "counts.csv").open() as file:
        assert [(row["source"], row["tracks"]) for row in csv.DictReader(file)] == [("a.mp4", "1"), ("b.mp4", ""), ("photos", "")]


def test_coco_has_the_track_where_cvat_and_datumaro_look_for_it(written: Path) -> None:
    annotations = json.loads((written / "a.coco.json").read_text())["annotations"]
    assert [each.get("track_id") for each in annotations] == [1, None] * 8
    assert [each.get("attributes") for each in annotations] == [{"track_id": 1}, None] * 8


def test_cvat_has_a_track_with_its_gap_and_the_same_boxes(written: Path) -> None:
    tracks = ElementTree.parse(written / "a.cvat.xml").findall("track")
    assert [track.get("id") for track in tracks] == [*(str(number) for number in range(2, 10)), "1"]
    boxes = [(int(box.get("frame", "")), box.get("outside")) for box in tracks[-1]]
    assert boxes == [*((frame, "0") for frame in range(4)), (4, "1"), *((frame, "0") for frame in range(6, 10))]
    assert {track.get("source") for track in tracks} == {"auto"}
    truth = read_truth(written / "a.cvat.xml")
    assert len(truth.boxes) == 16


@pytest.mark.parametrize("shown", [{"classes": frozenset({0})}, {"confidence": 0.5}])
def test_cvat_declares_the_label_of_each_track(changing: Path, tmp_path: Path, shown: dict[str, Any]) -> None:
    with SessionReader(changing, **shown) as reader:
        export_session(reader, tmp_path, ["cvat"])
    tree = ElementTree.parse(tmp_path / "a.cvat.xml")
    assert {track.get("label") for track in tree.findall("track")} == {"car"}
    assert "car" in {label.text for label in tree.findall(".//labels/label/name")}
    assert len(read_truth(tmp_path / "a.cvat.xml").boxes) == 4


def test_labelstudio_has_a_region_with_its_gap(written: Path) -> None:
    (task,) = json.loads((written / "a.labelstudio.json").read_text())
    *single, track = task["predictions"][0]["result"]
    assert len(single) == 8
    shown = [(place["frame"], place["enabled"]) for place in track["value"]["sequence"]]
    assert shown == [(1, True), (2, True), (3, True), (4, False), (7, True), (8, True), (9, True), (10, False)]
    assert track["value"]["labels"] == ["person"]
    assert (track["score"], track["value"]["sequence"][6]["x"]) == (0.9, round(100 * 8 / 640, 4))


def test_what_a_person_verified_is_marked(session: Path, tmp_path: Path) -> None:
    (tmp_path / "s.sqlite").write_bytes(session.read_bytes())
    with Corrections(tmp_path / "s.sqlite") as corrections:
        corrections.confirm(OneTrack(0, 1))
        corrections.delete(OneDetection(0, 0, 1))
        corrections.relabel(OneDetection(0, 1, 1), 2)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        export_session(reader, tmp_path, FORMATS)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    marks = [[(found["label"], found["verified"]) for found in line["detections"]] for line in lines]
    assert marks[:3] == [[("person", True)], [("person", True), ("car", True)], [("person", True), ("bicycle", False)]]
    with (tmp_path / "a.detections.csv").open() as file:
        assert [row["verified"] for row in csv.DictReader(file)][:5] == ["TRUE", "TRUE", "TRUE", "TRUE", "FALSE"]
    assert pq.read_table(tmp_path / "a.detections.parquet")["verified"].to_pylist()[:5] == [True, True, True, True, False]
    annotations = json.loads((tmp_path / "a.coco.json").read_text())["annotations"]
    assert [each["attributes"] for each in annotations[:2]] == [{"track_id": 1, "verified": True}] * 2
    tracks = ElementTree.parse(tmp_path / "a.cvat.xml").findall("track")
    assert [(track.get("label"), track.get("source")) for track in tracks[::7]] == [("car", "manual"), ("person", "manual")]
    assert [track.get("source") for track in tracks[1:7]] == ["auto"] * 6
    assert len((tmp_path / "a.mot" / "verified.txt").read_text().splitlines()) == sum(
        map(sum, ([each[1] for each in line] for line in marks))
    )
    assert (tmp_path / "a.mot" / "verified.txt").read_text().startswith("1,1,")
    (entry,) = json.loads((tmp_path / "megadetector.json").read_text())["images"]
    assert [(each["track"], each["verified"]) for each in entry["detections"]][:3] == [(1, True), (1, True), (None, True)]
    with (tmp_path / "yolo" / "objects.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["line"], row["track"], row["verified"]) for row in rows[:3]] == [("1", "1", "TRUE"), ("1", "1", "TRUE"), ("2", "", "TRUE")]
    labels = (tmp_path / "yolo" / rows[2]["labels"]).read_text().splitlines()
    assert labels[1].startswith("2 ")
    regions = json.loads((tmp_path / "a.labelstudio.json").read_text())[0]["predictions"][0]["result"]
    assert [region.get("meta") for region in regions] == [{"text": ["verified"]}, *[None] * 6, {"text": ["verified"]}]


def test_boxes_that_a_person_drew_are_marked(session: Path, tmp_path: Path) -> None:
    (tmp_path / "s.sqlite").write_bytes(session.read_bytes())
    with Corrections(tmp_path / "s.sqlite") as corrections:
        corrections.add(0, 0, 2, (300, 300, 340, 380))
        corrections.move(OneDetection(0, 1, 0), (5, 6, 35, 46))
    with SessionReader(tmp_path / "s.sqlite") as reader:
        export_session(reader, tmp_path, FORMATS)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    marks = [[(found["label"], found["verified"], found["drawn"]) for found in line["detections"]] for line in lines]
    assert marks[0][0] == ("car", True, True)
    assert lines[0]["detections"][0]["box"] == [300, 300, 40, 80]
    assert marks[1][0] == ("person", True, True)
    assert lines[1]["detections"][0]["box"] == [5, 6, 30, 40]
    assert [mark for line in marks for mark in line].count(("car", True, True)) == 1
    with (tmp_path / "a.detections.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["drawn"] for row in rows].count("TRUE") == 2
    assert rows[0]["drawn"] == "TRUE"
    assert pq.read_table(tmp_path / "a.detections.parquet")["drawn"].to_pylist().count(True) == 2
    annotations = json.loads((tmp_path / "a.coco.json").read_text())["annotations"]
    assert annotations[0]["attributes"] == {"verified": True, "drawn": True}
    assert (tmp_path / "a.mot" / "drawn.txt").read_text().splitlines() == ["1,-1,300.0,300.0,40.0,80.0", "2,1,5.0,6.0,30.0,40.0"]
    (entry,) = json.loads((tmp_path / "megadetector.json").read_text())["images"]
    assert sum(each["drawn"] for each in entry["detections"]) == 2
    with (tmp_path / "yolo" / "objects.csv").open(newline="") as file:
        assert [row["drawn"] for row in csv.DictReader(file)].count("TRUE") == 2
    regions = json.loads((tmp_path / "a.labelstudio.json").read_text())[0]["predictions"][0]["result"]
    assert {"text": ["verified", "drawn"]} in [region.get("meta") for region in regions]
    assert {"text": ["drawn"]} in [region.get("meta") for region in regions]


def test_cvat_says_which_boxes_of_pictures_a_person_verified(tmp_path: Path) -> None:
    info = replace(video_info("photos", 2), kind=SourceKind.IMAGES, rate=None, duration=None)
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "photos", info)
        writer.add_frames(make_frame(0, index, 1, name=f"{index}.png") for index in range(2))
    with Corrections(tmp_path / "s.sqlite") as corrections:
        corrections.confirm(OneDetection(0, 1, 0))
    with SessionReader(tmp_path / "s.sqlite") as reader:
        export_session(reader, tmp_path, ["cvat"])
    images = ElementTree.parse(tmp_path / "photos.cvat.xml").findall("image")
    assert [[box.get("source") for box in image] for image in images] == [["auto"], ["manual"]]


def test_a_long_video_has_no_more_chapters_than_an_mp4_holds(tmp_path: Path) -> None:
    """A class appears every 40 s, 400 times."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 800))
        frames = (make_frame(0, index, index % 2) for index in range(800))
        writer.add_frames(replace(frame, ref=frame.ref._replace(pts=20.0 * frame.ref.index)) for frame in frames)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        assert 190 < len(chapters_of(reader, 0, 16_000.0)) <= MAX_CHAPTERS


def test_sessions_without_tracks_and_corrections_have_no_such_keys(tmp_path: Path) -> None:
    with SessionReader(write_session(tmp_path / "s.sqlite", {"a.mp4": 2})) as reader:
        export_session(reader, tmp_path, ["jsonl", "coco", "csv"])
    texts = [(tmp_path / name).read_text() for name in ("a.jsonl", "a.coco.json", "a.detections.csv")]
    assert not any(word in text for text in texts[:2] for word in ("track", "verified", "attributes"))
    assert "verified" not in texts[2]


def test_an_annotated_video_has_a_chapter_for_each_class_that_appears(tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", 100, (640, 480), rate=25)
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, str(video), video_info("", 100))
        writer.add_frames(make_frame(0, index, {10: 1, 60: 2}.get(index // 10 * 10, 0)) for index in range(100))
        writer.finish_source(0, str(video), Ledger(100, 100), 1.0)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        export_session(reader, tmp_path, ["video"])
    with av.open(str(tmp_path / "a.annotated.mp4")) as container:
        chapters = container.chapters()
    found = [(each["metadata"]["title"], each["start"] * each["time_base"]) for each in chapters]
    assert found == [("Beginning", 0), ("person", Fraction(2, 5)), ("bicycle", Fraction(12, 5))]
    assert chapters[-1]["end"] * chapters[-1]["time_base"] == 4


@pytest.mark.parametrize("late", [0.02, 20.0])
@pytest.mark.parametrize(("frame", "titles"), [(0, ["person"]), (1, ["Beginning", "person"])])
def test_no_chapter_of_an_annotated_video_is_shorter_than_a_frame(tmp_path: Path, late: float, frame: int, titles: list[str]) -> None:
    """The first frame is shown late, as in recordings of broadcasts."""
    times = [round((late + index / 25) * 90_000) for index in range(30)]
    video = make_video(tmp_path / "a.mkv", 30, rate=25, pts=times, time_base=Fraction(1, 90_000))
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, str(video), video_info("", 30))
        for index in range(30):
            made = make_frame(0, index, int(index >= frame))
            writer.add_frames([replace(made, ref=made.ref._replace(pts=late + index / 25))])
        writer.finish_source(0, str(video), Ledger(30, 30), 1.0)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        export_session(reader, tmp_path, ["video"])
    with av.open(str(tmp_path / "a.annotated.mp4")) as container:
        chapters = container.chapters()
    assert [each["metadata"]["title"] for each in chapters] == titles
    assert chapters[0]["start"] == 0
    assert all((each["end"] - each["start"]) * each["time_base"] >= Fraction(1, 25) - Fraction(1, 1000) for each in chapters)
