"""Formats for labelling tools, trackers and training."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import cv2
import numpy as np
import pytest

from framefleet.engine.evaluation.evaluate import evaluate, read_truth
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.model.files import coco_labels
from framefleet.engine.notices import ExportError, Notice, literal
from framefleet.engine.pool.events import Ledger
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.store.corrections import Corrections, OneDetection
from framefleet.engine.store.export import Exported, export_session
from framefleet.engine.store.exporters.options import Every, ExportOptions, PictureFormat
from framefleet.engine.store.exporters.pictures import picture_name
from framefleet.engine.store.reader import Span
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.types import Detections, FrameRef, FrameResult
from tests.support.media import make_video, number_of, numbered
from tests.support.notices import words
from tests.support.store import CPU, LABELS, make_frame, video_info, write_session


def export(session: Path, folder: Path, *formats: str, **options: object) -> list[Exported]:
    with SessionReader(session) as reader:
        return export_session(reader, folder, formats, options=ExportOptions(**options))  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A session of a video with a failed frame and an empty one, and of a folder of pictures, one of them failed."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {"model": "tiny"}) as writer:
        writer.add_source(0, "site/a & b.mp4", video_info("", 4))
        writer.add_frames([make_frame(0, 0), make_frame(0, 1, failure="corrupt"), make_frame(0, 2, boxes=0), make_frame(0, 3, 1)])
        writer.finish_source(0, "site/a & b.mp4", Ledger(4, 3, {}, {words("corrupt"): 1}), 1.0)
        writer.add_source(1, "site/trap", SourceInfo("", SourceKind.IMAGES, "jpeg", 640, 480, 2, None, None, ()))
        writer.add_frames([make_frame(1, 0, 1, "späti.jpg"), make_frame(1, 1, name="b.jpg", failure="no picture")])
        writer.finish_source(1, "site/trap", Ledger(2, 1, {}, {words("no picture"): 1}), 1.0)
        writer.finish_source(2, "site/broken.mp4", Ledger(), 0.0, words("broken.mp4 is no video"))
    return tmp_path / "s.sqlite"


def test_mot_counts_frames_from_1(mixed: Path, tmp_path: Path) -> None:
    (written,) = export(mixed, tmp_path / "out", "mot")
    assert written.path == tmp_path / "out" / "a & b.mot"
    assert (written.path / "det" / "det.txt").read_text() == (
        "1,-1,0.0,0.0,10.5,20.25,0.9,1,1,-1\n1,-1,1.0,1.0,10.5,20.25,0.8,2,1,-1\n4,-1,3.0,0.0,10.5,20.25,0.9,1,1,-1\n"
    )
    assert (written.path / "gt" / "gt.txt").read_text() == ""  # nothing was tracked
    assert (written.path / "gt" / "labels.txt").read_text().splitlines() == list(LABELS)
    assert "frameRate=25\nseqLength=4\nimWidth=640\nimHeight=480\n" in (written.path / "seqinfo.ini").read_text()


def test_cvat_has_a_track_for_each_detection_of_a_video(mixed: Path, tmp_path: Path) -> None:
    video, pictures = (ElementTree.parse(item.path) for item in export(mixed, tmp_path / "out", "cvat"))
    assert video.findtext("version") == "1.1"
    assert video.findtext("meta/task/name") == "a & b"
    assert [label.text for label in video.findall("meta/task/labels/label/name")] == list(LABELS)
    tracks = video.findall("track")
    assert [track.get("label") for track in tracks] == ["person", "bicycle", "person"]
    assert [[(box.get("frame"), box.get("outside")) for box in track] for track in tracks] == [[("0", "0"), ("1", "1")]] * 2 + [
        [("3", "0")]
    ]
    assert [tracks[2][0].get(side) for side in ("xtl", "ytl", "xbr", "ybr")] == ["3.0", "0.0", "13.5", "20.25"]
    assert [(image.get("name"), len(image)) for image in pictures.findall("image")] == [("späti.jpg", 1), ("b.jpg", 0)]


def test_cvat_names_what_a_person_verified_in_pictures(mixed: Path, tmp_path: Path) -> None:
    with Corrections(mixed) as corrections:
        corrections.confirm(OneDetection(1, 0, 0))
    _, pictures = (ElementTree.parse(item.path) for item in export(mixed, tmp_path / "out", "cvat"))
    assert [box.get("source") for box in pictures.findall("image/box")] == ["manual"]


def test_boxes_of_a_video_refer_to_one_size(tmp_path: Path) -> None:
    """The pictures of the video become half as large, and with them the box of the object."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.ts", video_info("a.ts", 4))
        for index, part in enumerate((1, 1, 2, 2)):
            box = np.array([[100, 50, 140, 90]], np.float32) / part
            found = Detections(box, np.array([0.5], np.float32), np.array([0], np.int32))
            writer.add_frames([FrameResult(FrameRef(0, index, index / 25), CPU, 640 // part, 480 // part, found)])
        writer.finish_source(0, "a.ts", Ledger(4, 4), 1.0)
    export(tmp_path / "s.sqlite", tmp_path, "mot", "cvat", "coco", "yolo")
    lines = (tmp_path / "a.mot" / "det" / "det.txt").read_text().splitlines()
    assert lines == [f"{frame},-1,100.0,50.0,40.0,40.0,0.5,1,1,-1" for frame in range(1, 5)]
    boxes = ElementTree.parse(tmp_path / "a.cvat.xml").findall("track/box[@outside='0']")
    assert [[box.get(side) for side in ("xtl", "ytl", "xbr", "ybr")] for box in boxes] == [["100.0", "50.0", "140.0", "90.0"]] * 4
    data = json.loads((tmp_path / "a.coco.json").read_text())
    assert [(image["width"], image["height"]) for image in data["images"]] == [(640, 480)] * 4
    assert [note["bbox"] for note in data["annotations"]] == [[100, 50, 40, 40]] * 4
    for image, note in zip(data["images"][2:], data["annotations"][2:], strict=True):
        image["width"], image["height"], note["bbox"] = 320, 240, [50, 25, 20, 20]
    (tmp_path / "own.json").write_text(json.dumps(data))
    for name in ("a.cvat.xml", "a.coco.json", "yolo", "own.json"):
        (result,) = evaluate({"run": tmp_path / "s.sqlite"}, read_truth(tmp_path / name)).results
        assert (result.curve.chosen, result.map50_95) == ((1, 1, 1), pytest.approx(1)), name


def test_labelstudio_counts_frames_from_1_and_boxes_in_percent(mixed: Path, tmp_path: Path) -> None:
    video, configuration, pictures, _ = (item.path for item in export(mixed, tmp_path / "out", "labelstudio"))
    (task,) = json.loads(video.read_text())
    assert task["data"] == {"video": "site/a & b.mp4"}
    regions = task["predictions"][0]["result"]
    assert [region["value"]["sequence"][0]["frame"] for region in regions] == [1, 1, 4]
    assert len({region["id"] for region in regions}) == 3
    place = regions[2]["value"]["sequence"][0]
    assert [place[side] for side in ("x", "y", "width", "height")] == pytest.approx([300 / 640, 0, 1050 / 640, 2025 / 480], abs=1e-3)
    assert regions[0]["value"] | {"sequence": None} == {"framesCount": 4, "duration": 0.16, "sequence": None, "labels": ["person"]}
    names = {element.get("name") for element in ElementTree.parse(configuration).iter()}
    assert {regions[0]["from_name"], regions[0]["to_name"]} <= names
    first, second = json.loads(pictures.read_text())
    assert first["data"] == {"image": "site/trap/späti.jpg"}
    assert first["predictions"][0]["result"][0]["value"]["rectanglelabels"] == ["person"]
    assert second["predictions"][0]["result"] == []


def test_megadetector_has_an_entry_for_each_file(mixed: Path, tmp_path: Path) -> None:
    (written,) = export(mixed, tmp_path / "out", "megadetector")
    data = json.loads(written.path.read_text("utf-8"))
    assert data["info"]["format_version"] == "1.6"
    assert data["detection_categories"] == {"1": "animal", "2": "person", "3": "vehicle"}
    video, first, second, broken = data["images"]
    assert [entry["file"] for entry in data["images"]] == ["a & b.mp4", "trap/späti.jpg", "trap/b.jpg", "broken.mp4"]
    assert (video["frame_rate"], video["frames_processed"]) == (25.0, [0, 2, 3])
    assert [(entry["category"], entry["frame_number"]) for entry in video["detections"]] == [("2", 0), ("3", 0), ("2", 3)]
    assert video["detections"][1]["classifications"] == [["1", 0.8]]
    assert "classifications" not in video["detections"][0]
    assert first["detections"][0]["bbox"] == pytest.approx([0, 0, 10.5 / 640, 20.25 / 480], abs=1e-6)
    assert (second["detections"], second["failure"]) == (None, "no picture")
    assert (broken["detections"], broken["failure"]) == (None, "broken.mp4 is no video")


def test_a_category_map_names_the_categories(mixed: Path, tmp_path: Path) -> None:
    (written,) = export(mixed, tmp_path / "out", "megadetector", category_map={"bicycle": "machine"})
    data = json.loads(written.path.read_text("utf-8"))
    assert data["detection_categories"] == {"1": "animal", "2": "person", "3": "vehicle", "4": "machine", "5": "car"}
    assert [entry["category"] for entry in data["images"][0]["detections"]] == ["2", "4", "2"]


@pytest.mark.parametrize("chosen", [{}, {"person": "person", "aeroplane": "vehicle"}])
def test_of_cocos_labels_only_those_with_a_category_are_in_a_megadetector_file(tmp_path: Path, chosen: dict[str, str]) -> None:
    labels = tuple({"airplane": "aeroplane"}.get(label, label) for label in coco_labels())  # as Darknet spells it
    with SessionWriter(tmp_path / "s.sqlite", labels, {"model": "yolov4"}) as writer:
        writer.add_source(0, "a.mp4", video_info("", 2))
        person, chair = 0, 56
        found = Detections(np.tile(np.float32([0, 0, 9, 9]), (3, 1)), np.float32([0.9, 0.8, 0.7]), np.int32([person, chair, chair]))
        writer.add_frames(FrameResult(FrameRef(0, index, index / 25), CPU, 640, 480, found) for index in range(2))
        writer.finish_source(0, "a.mp4", Ledger(2, 2), 1.0)
    (written,) = export(tmp_path / "s.sqlite", tmp_path / "out", "megadetector", category_map=chosen)
    data = json.loads(written.path.read_text("utf-8"))
    assert data["detection_categories"] == {"1": "animal", "2": "person", "3": "vehicle"}
    assert [entry["category"] for entry in data["images"][0]["detections"]] == ["2", "2"]
    (note,) = written.notes
    assert "4 detections of classes without a category are left out (chair)" in str(note)


@pytest.mark.parametrize(
    ("inferred", "error", "cancelled", "failure"),
    [
        (4, None, False, None),
        (2, None, False, "its end is missing"),
        (4, words("a.mp4 ends early"), False, "a.mp4 ends early"),
        (4, None, True, "the run was stopped before the end"),
    ],
)
def test_a_video_without_objects_is_empty_for_megadetector_only_if_all_of_it_was_seen(
    tmp_path: Path, inferred: int, error: Notice | None, cancelled: bool, failure: str | None
) -> None:
    """The chairs have no category, so they are left out."""
    why = words("its end is missing")
    with SessionWriter(tmp_path / "s.sqlite", coco_labels(), {}) as writer:
        writer.add_source(0, "a.mp4", video_info("", 4))
        found = Detections(np.float32([[0, 0, 9, 9]]), np.float32([0.9]), np.int32([56]))
        writer.add_frames(FrameResult(FrameRef(0, index, index / 25), CPU, 640, 480, found) for index in range(inferred))
        writer.add_frames(make_frame(0, index, failure=str(why)) for index in range(inferred, 4))
        writer.finish_source(
            0, "a.mp4", Ledger(4, inferred, {}, {why: 4 - inferred} if inferred < 4 else {}), 1.0, error, cancelled=cancelled
        )
    (written,) = export(tmp_path / "s.sqlite", tmp_path / "out", "megadetector")
    (entry,) = json.loads(written.path.read_text("utf-8"))["images"]
    assert (entry.get("failure"), entry["detections"]) == (failure, None if failure else [])


def test_yolo_labels_are_normalized_and_empty_frames_have_an_empty_file(mixed: Path, tmp_path: Path) -> None:
    (written,) = export(mixed, tmp_path / "out", "yolo")
    files = contents(written.path)
    labels = "labels"
    assert sorted(files) == [
        "data.yaml",
        *(f"{labels}/a & b/{name}.txt" for name in ("00000000", "00000800", "00001200")),
        f"{labels}/trap/späti.txt",
    ]
    assert files[f"{labels}/a & b/00000800.txt"] == b""
    (line,) = files[f"{labels}/a & b/00001200.txt"].decode().splitlines()
    assert [float(part) for part in line.split()] == pytest.approx([0, 8.25 / 640, 10.125 / 480, 10.5 / 640, 20.25 / 480], abs=1e-6)
    assert '  0: "person"' in files["data.yaml"].decode()
    assert "site/a & b.mp4' -vf scale=640:480" in files["data.yaml"].decode()


def test_boxes_are_cut_to_the_picture(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("", 1))
        boxes = np.array([[-10, -5, 32, 24], [650, 10, 700, 20]], np.float32)
        found = Detections(boxes, np.array([0.9, 0.8], np.float32), np.zeros(2, np.int32))
        writer.add_frames([FrameResult(FrameRef(0, 0, 0.0), CPU, 640, 480, found)])
        writer.finish_source(0, "a.mp4", Ledger(1, 1), 1.0)
    export(tmp_path / "s.sqlite", tmp_path, "yolo")
    assert (tmp_path / "yolo/labels/a/00000000.txt").read_text() == "0 0.025000 0.025000 0.050000 0.050000\n"


@pytest.fixture
def detected(tmp_path: Path) -> Path:
    """A session of a numbered video and of a folder of numbered pictures, with confidences 0.0, 0.1, … in turn."""
    video = make_video(tmp_path / "a.mp4", 30, (160, 96), bframes=2)
    (tmp_path / "trap").mkdir()
    for name, number in (("x.png", 1), ("x.jpg", 2), ("y.png", 3)):
        cv2.imwrite(str(tmp_path / "trap" / name), numbered(number, (160, 96)))
    box = np.array([[8, 8, 40, 40]], np.float32)

    def frame(source: int, index: int, pts: float, name: str | None = None) -> FrameResult:
        found = Detections(box, np.array([index % 10 / 10], np.float32), np.zeros(1, np.int32))
        return FrameResult(FrameRef(source, index, pts, name), CPU, 160, 96, found)

    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, str(video), SourceInfo(str(video), SourceKind.VIDEO, "h264", 160, 96, 30, 1.0, 30.0, ()))
        writer.add_frames(frame(0, index, index * 512 / 15360) for index in range(30))
        writer.finish_source(0, str(video), Ledger(30, 30), 1.0)
        folder = str(tmp_path / "trap")
        writer.add_source(1, folder, SourceInfo(folder, SourceKind.IMAGES, "png", 160, 96, 3, None, None, ()))
        writer.add_frames(frame(1, index, float(index), name) for index, name in enumerate(("x.png", "x.jpg", "y.png")))
        writer.finish_source(1, folder, Ledger(3, 3), 1.0)
    return tmp_path / "s.sqlite"


@pytest.mark.parametrize("form", PictureFormat)
def test_pictures_are_the_frames_of_their_labels(detected: Path, tmp_path: Path, form: PictureFormat) -> None:
    (written,) = export(detected, tmp_path / "out", "yolo", pictures=form, every=Every(frames=4))
    files = contents(written.path)
    pictures = sorted(Path(name) for name in files if name.startswith("images"))
    labels = sorted(Path(name) for name in files if name.startswith("labels"))
    assert [path.with_suffix("").parts[1:] for path in pictures] == [path.with_suffix("").parts[1:] for path in labels]
    video = [path for path in pictures if path.parts[1] == "a"]
    numbers = [number_of(cv2.imread(str(written.path / path))) for path in video]
    assert numbers == list(range(0, 30, 4))
    assert [path.stem for path in video] == [picture_name(number / 30) for number in numbers]
    assert number_of(cv2.imread(str(next((written.path / "images/trap").iterdir())))) == 1
    assert "ffmpeg" not in files["data.yaml"].decode()


def test_only_doubtful_frames(detected: Path, tmp_path: Path) -> None:
    (written,) = export(detected, tmp_path / "out", "yolo", between=(0.35, 0.55))
    names = [picture_name(index / 30) for index in (4, 5, 14, 15, 24, 25)]
    assert [Path(name).stem for name in contents(written.path) if "/a/" in name] == names
    (written,) = export(detected, tmp_path / "out", "yolo", between=(0.35, 0.55), every=Every(frames=2))
    assert [Path(name).stem for name in contents(written.path) if "/a/" in name] == names[::2]
    (written,) = export(detected, tmp_path / "out", "yolo", every=Every(seconds=0.25))
    assert [Path(name).stem for name in contents(written.path) if "/a/" in name] == [picture_name(n / 30) for n in (0, 8, 15, 23)]
    (written,) = export(detected, tmp_path / "out", "yolo", every=Every(seconds=0.1))  # 0.3 // 0.1 is 2
    assert [Path(name).stem for name in contents(written.path) if "/a/" in name] == [picture_name(n / 10) for n in range(10)]


def test_pictures_of_one_stem_get_different_names(detected: Path, tmp_path: Path) -> None:
    (written,) = export(detected, tmp_path / "out", "yolo", pictures=PictureFormat.PNG)
    found = {path.name: number_of(cv2.imread(str(path))) for path in (written.path / "images/trap").iterdir()}
    assert found == {"x.png": 1, "x_jpg.png": 2, "y.png": 3}


def test_a_source_that_is_missing_or_another_one_is_refused_and_the_old_folder_stays(detected: Path, tmp_path: Path) -> None:
    export(detected, tmp_path / "out", "yolo", pictures=PictureFormat.JPEG)
    before = contents(tmp_path / "out")
    make_video(tmp_path / "a.mp4", 20, (160, 96), rate=7)
    with pytest.raises(ExportError, match=r"a\.mp4: the frame at 0\.033 s was not found again"):
        export(detected, tmp_path / "out", "yolo", pictures=PictureFormat.JPEG)
    (tmp_path / "a.mp4").unlink()
    with pytest.raises(ExportError, match=r"a\.mp4 is not there"):
        export(detected, tmp_path / "out", "yolo", pictures=PictureFormat.JPEG)
    assert contents(tmp_path / "out") == before
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["yolo"]


def test_a_new_export_replaces_the_whole_folder(detected: Path, tmp_path: Path) -> None:
    export(detected, tmp_path / "out", "yolo")
    (written,) = export(detected, tmp_path / "out", "yolo", every=Every(frames=29))
    assert len([name for name in contents(written.path) if "/a/" in name]) == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["yolo"]


def test_writing_pictures_can_be_cancelled(detected: Path, tmp_path: Path) -> None:
    def stop(_path: Path, _frames: int, _total: int) -> None:
        raise ExportError(literal("cancelled"))

    with SessionReader(detected) as reader, pytest.raises(ExportError, match="cancelled"):
        export_session(reader, tmp_path / "out", ["yolo"], stop, options=ExportOptions(pictures=PictureFormat.PNG))
    assert list((tmp_path / "out").iterdir()) == []


def test_the_progress_of_a_part_ends_with_its_last_picture(detected: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    with SessionReader(detected, span=Span(Moment(frames=29))) as reader:
        options = ExportOptions(pictures=PictureFormat.JPEG)
        report = lambda _path, *frames: seen.append(frames)  # noqa: E731
        (written,) = export_session(reader, tmp_path / "out", ["yolo"], report, options=options, only=[0], whole=False)
    assert len([name for name in contents(written.path) if name.endswith(".jpg")]) == 1
    assert (seen[0], seen[-1]) == ((0, 1), (1, 1)), "the first message comes after the first of 30 decoded frames"


def test_two_exports_are_equal_byte_for_byte(detected: Path, tmp_path: Path) -> None:
    for name in ("1", "2"):
        export(detected, tmp_path / name, "yolo", "mot", "cvat", "labelstudio", "megadetector", pictures=PictureFormat.JPEG)
    first, second = contents(tmp_path / "1"), contents(tmp_path / "2")
    assert list(first) == list(second)
    assert first == second


def test_a_session_of_pictures_only_has_no_mot(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "one.jpg", SourceInfo("one.jpg", SourceKind.IMAGES, "jpeg", 640, 480, 1, None, None, ()))
        writer.add_frames([make_frame(0, 0)])
        writer.finish_source(0, "one.jpg", Ledger(1, 1), 1.0)
    names = [item.path.name for item in export(tmp_path / "s.sqlite", tmp_path / "out", "mot", "megadetector", "yolo")]
    assert names == ["megadetector.json", "yolo"]
    assert json.loads((tmp_path / "out" / "megadetector.json").read_text())["images"][0]["file"] == "one.jpg"
    assert (tmp_path / "out" / "yolo" / "labels/one/one.txt").exists()


def test_a_hostile_name_stays_inside_the_folder(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.sqlite", {'../x"\n<&.mp4': 2})
    written = export(session, tmp_path / "out", "csv", "yolo", "mot", "cvat", "labelstudio", "megadetector")
    assert all(item.path.parent == tmp_path / "out" for item in written)
    for item in written:
        if item.path.suffix == ".json":
            json.loads(item.path.read_text("utf-8"))
        if item.path.suffix == ".xml":
            ElementTree.parse(item.path)
