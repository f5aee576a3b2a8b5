"""Reading true objects, and finding their pictures and classes in sessions."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framefleet.engine.evaluation.evaluate import Evaluation, evaluate, read_truth
from framefleet.engine.evaluation.fit import fit
from framefleet.engine.evaluation.truth import MAX_BYTES, Truth, TruthPicture
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import SourceError, UsageError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.corrections import Corrections
from framefleet.engine.store.export import export_session
from framefleet.engine.store.exporters.pictures import picture_name
from framefleet.engine.store.session import SessionReader, SessionWriter
from tests.support.faults.damage import memory_below
from tests.support.store import LABELS, make_frame, video_info, write_one, write_session

FRAMES = 20

NOTHING = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 4)), np.zeros(0, bool))
"""The objects of a truth that has none."""


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of one video, whose frames have two boxes each: see ``make_frame``."""
    return write_session(tmp_path / "session.sqlite", {"clip.mp4": FRAMES})


def boxes_of(index: int) -> list[tuple[int, float, float, float, float]]:
    """Class, x, y, width and height of what ``make_frame`` puts into a frame."""
    found = make_frame(0, index).detections
    assert found is not None
    return [(int(c), float(x), float(y), float(r - x), float(b - y)) for c, (x, y, r, b) in zip(found.class_ids, found.boxes, strict=True)]


def coco(names: list[str | None], **image: Any) -> dict[str, Any]:
    """The truth of the first frames. names: of their pictures; None: the frame's index instead."""
    keys = [{"file_name": name} if name else {"frame": index} for index, name in enumerate(names)]
    return {
        "images": [{"id": 7 + index, "width": 640, "height": 480, **key, **image} for index, key in enumerate(keys)],
        "categories": [{"id": 3 * number + 2, "name": label} for number, label in enumerate(LABELS)],
        "annotations": [
            {"id": 1 + 2 * index + n, "image_id": 7 + index, "category_id": 3 * c + 2, "bbox": box, "iscrowd": 0}
            for index in range(len(names))
            for n, (c, *box) in enumerate(boxes_of(index))
        ],
    }


def yolo(folder: Path, names: list[str]) -> Path:
    (folder / "labels").mkdir(parents=True)
    (folder / "data.yaml").write_text("train: images\nnames:\n" + "".join(f"  {n}: {label}\n" for n, label in enumerate(LABELS)))
    for index, name in enumerate(names):
        path = folder / "labels" / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        rows = [(c, (x + w / 2) / 640, (y + h / 2) / 480, w / 640, h / 480) for c, x, y, w, h in boxes_of(index)]
        path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    return folder


CVAT = """<?xml version="1.0" encoding="utf-8"?><annotations><version>1.1</version><meta><task><start_frame>0</start_frame>
<stop_frame>{last}</stop_frame><labels>{labels}</labels><original_size><width>640</width><height>480</height></original_size></task></meta>
{tracks}</annotations>"""


def cvat(path: Path, frames: int) -> Path:
    labels = "".join(f"<label><name>{label}</name></label>" for label in LABELS)
    tracks = "".join(
        f'<track id="0" label="{LABELS[c]}"><box frame="{index}" outside="0" xtl="{x}" ytl="{y}" xbr="{x + w}" ybr="{y + h}"/>'
        f'<box frame="{index + 1}" outside="1" xtl="0" ytl="0" xbr="9" ybr="9"/></track>'
        for index in range(frames)
        for c, x, y, w, h in boxes_of(index)
    )
    path.write_text(CVAT.format(last=frames - 1, labels=labels, tracks=tracks))
    return path


def run(session: Path, truth: Path, **options: Any) -> Evaluation:
    return evaluate({"run": session}, read_truth(truth), **options)


def assert_perfect(evaluation: Evaluation, pictures: int = FRAMES) -> None:
    (result,) = evaluation.results
    assert (evaluation.pictures, evaluation.objects) == (pictures, 2 * pictures)
    assert (result.map50, result.map50_95) == (pytest.approx(1), pytest.approx(1))
    assert [each.label for each in result.classes] == ["person", "bicycle"]
    assert result.curve.chosen == (1, 1, 1)
    assert result.worst == ()
    assert result.confusion.tolist() == np.diag([pictures, pictures, 0, 0]).tolist()


@pytest.mark.parametrize("form", ["clip/{}.jpg", "somewhere/clip/{}.png", "{}.jpg"])
def test_coco_names_frames_by_time(session: Path, tmp_path: Path, form: str) -> None:
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(coco([form.format(picture_name(index / 25)) for index in range(FRAMES)])))
    assert_perfect(run(session, path))


@pytest.mark.parametrize("name", ["clip.mp4#{}", None])
def test_coco_names_frames_by_index(session: Path, tmp_path: Path, name: str | None) -> None:
    path = tmp_path / "truth.json.gz"
    path.write_bytes(gzip.compress(json.dumps(coco([name and name.format(index) for index in range(FRAMES)])).encode()))
    assert_perfect(run(session, path))


def test_our_own_export_is_a_truth(session: Path, tmp_path: Path) -> None:
    with SessionReader(session) as reader:
        write_one("coco", reader, reader.sources()[0], tmp_path / "clip.coco.json")
    assert_perfect(run(session, tmp_path / "clip.coco.json"))


@pytest.mark.parametrize("names", ["{}", "clip/{}"])
def test_yolo(session: Path, tmp_path: Path, names: str) -> None:
    assert_perfect(run(session, yolo(tmp_path / "set", [names.format(picture_name(index / 25)) for index in range(FRAMES)])))


def test_cvat_for_videos(session: Path, tmp_path: Path) -> None:
    assert_perfect(run(session, cvat(tmp_path / "task.xml", FRAMES)))


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A session of a folder of pictures."""
    path = tmp_path / "pictures.sqlite"
    writer = SessionWriter(path, LABELS, {})
    writer.add_source(0, "shots", SourceInfo("shots", SourceKind.IMAGES, "jpeg", 640, 480, 3, 3.0, 1.0, ()))
    writer.add_frames(make_frame(0, index, name=f"day.{index}/a.jpg") for index in range(3))
    writer.finish_source(0, "shots", Ledger(3, 3), 1.0)
    writer.close(complete=True)
    return path


def test_cvat_for_pictures(pictures: Path, tmp_path: Path) -> None:
    path = tmp_path / "task.xml"
    images = "".join(
        f'<image id="{index}" name="day.{index}/a.jpg" width="640" height="480">'
        + "".join(f'<box label="{LABELS[c]}" xtl="{x}" ytl="{y}" xbr="{x + w}" ybr="{y + h}"/>' for c, x, y, w, h in boxes_of(index))
        + "</image>"
        for index in range(3)
    )
    path.write_text(CVAT.format(last=-1, labels="".join(f"<label><name>{label}</name></label>" for label in LABELS), tracks=images))
    assert_perfect(run(pictures, path), 3)


def test_pictures_with_equal_names_in_several_folders(pictures: Path, tmp_path: Path) -> None:
    assert_perfect(run(pictures, yolo(tmp_path / "set", [f"day.{index}/a" for index in range(3)])), 3)
    with pytest.raises(UsageError, match="has none of the 1 pictures"):
        run(pictures, yolo(tmp_path / "other", ["a"]))


@pytest.fixture
def stations(tmp_path: Path) -> Path:
    """Two stations whose cameras give their folders, pictures and videos equal names, and a third with more pictures."""
    path = tmp_path / "stations.sqlite"
    with SessionWriter(path, LABELS, {}) as writer:
        for number, (folder, count) in enumerate((("north/cam1", 2), ("south/cam1", 2), ("west/cam2", 4))):
            writer.add_source(number, folder, SourceInfo(folder, SourceKind.IMAGES, "jpg", 640, 480, count, None, None, ()))
            writer.add_frames(make_frame(number, index, name=f"IMG_{index}.jpg") for index in range(count))
            writer.finish_source(number, folder, Ledger(count, count), 1.0)
        for number, folder in enumerate(("north", "south"), 3):
            writer.add_source(number, f"{folder}/v.mp4", video_info("v.mp4", 3))
            writer.add_frames(make_frame(number, index) for index in range(3))
            writer.finish_source(number, f"{folder}/v.mp4", Ledger(3, 3), 1.0)
    return path


def found_in(session: Path, *names: str) -> list[tuple[int, int] | None]:
    """The source and index of the frame that each name of a picture stands for."""
    truth = Truth(Path("t.json"), (), tuple(TruthPicture(name, None, None) for name in names), *NOTHING)
    with SessionReader(session) as reader:
        frames = fit(truth, reader, common=True).frames
    return [None if frame is None else (frame.source, frame.index) for frame in frames]


def test_names_that_tables_and_exports_give_are_those_of_one_picture(stations: Path) -> None:
    names = ("north/cam1/IMG_1.jpg", "south/cam1/IMG_1.jpg", "cam2/IMG_1.jpg", "north/v.mp4#2", "v-2/00000400.jpg")
    assert found_in(stations, *names) == [(0, 1), (1, 1), (2, 1), (3, 2), (4, 1)]


@pytest.mark.parametrize("source", range(5))
def test_our_own_exports_are_truths_of_sources_with_equal_names(stations: Path, tmp_path: Path, source: int) -> None:
    with SessionReader(stations) as reader:
        export_session(reader, tmp_path, ["coco"], only=[source])
        count = reader.count(source)
    (path,) = tmp_path.glob("*.coco.json")
    assert_perfect(run(stations, path), count)


def test_our_own_data_set_is_a_truth_of_sources_with_equal_names(stations: Path, tmp_path: Path) -> None:
    with SessionReader(stations) as reader:
        export_session(reader, tmp_path, ["yolo"])
    assert_perfect(run(stations, tmp_path / "yolo"), 14)


def test_our_own_export_of_another_file_with_an_equal_name_is_no_truth(stations: Path, tmp_path: Path) -> None:
    other = write_session(tmp_path / "other.sqlite", {"south/v.mp4": 3})
    with SessionReader(other) as reader:
        write_one("coco", reader, reader.sources()[0], tmp_path / "v.coco.json")
    with pytest.raises(UsageError, match=r"Several sources have a picture 'v/00000000\.jpg'"):
        run(stations, tmp_path / "v.coco.json")


@pytest.mark.parametrize("names", [("a.jpg", "a.png", "b.png"), ("shots/a.jpg", "shots/a.png", "b.jpg"), ("old/a.jpg", "old/a.png", "b")])
def test_pictures_that_differ_in_their_suffix_only(tmp_path: Path, names: tuple[str, ...]) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "shots", SourceInfo("shots", SourceKind.IMAGES, "jpg", 640, 480, 3, None, None, ()))
        writer.add_frames(make_frame(0, index, name=name) for index, name in enumerate(("a.jpg", "a.png", "b.jpg")))
        writer.finish_source(0, "shots", Ledger(3, 3), 1.0)
    assert found_in(tmp_path / "s.sqlite", *names, "a.bmp", "a") == [(0, 0), (0, 1), (0, 2), None, None]


def test_a_picture_is_not_taken_for_one_of_the_same_name_in_another_folder(stations: Path) -> None:
    assert found_in(stations, "cam2/IMG_0.jpg", "cam1/IMG_3.jpg", "archive/IMG_3.jpg") == [(2, 0), None, (2, 3)]


@pytest.mark.parametrize(
    ("name", "example"), [("IMG_0.jpg", "'cam2/IMG_0.jpg'"), ("v/00000400.jpg", "'folder/clip.mp4#12' for a frame of a video")]
)
def test_names_that_several_sources_have_are_explained(stations: Path, name: str, example: str) -> None:
    truth = Truth(Path("t.json"), (), (TruthPicture(name, None, None),), *NOTHING)
    words = f"Several sources have a picture '{name}': write the folder in front of the name, as in {example}"
    with SessionReader(stations) as reader, pytest.raises(UsageError, match=words):
        fit(truth, reader)


@pytest.mark.parametrize("suffix", ["jfif", "PPM"])
def test_pictures_of_all_kinds_that_detection_reads_are_found_by_name(tmp_path: Path, suffix: str) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "shots", SourceInfo("shots", SourceKind.IMAGES, suffix, 640, 480, 3, 3.0, 1.0, ()))
        writer.add_frames(make_frame(0, index, name=f"a{index}.{suffix}") for index in range(3))
        writer.finish_source(0, "shots", Ledger(3, 3), 1.0)
    assert_perfect(run(tmp_path / "s.sqlite", yolo(tmp_path / "set", [f"a{index}" for index in range(3)])), 3)


def test_errors_are_counted_where_they_are(session: Path, tmp_path: Path) -> None:
    data = coco([None] * FRAMES)
    data["annotations"][6]["bbox"] = [400, 300, 50, 50]  # the first of frame 3
    data["annotations"][9]["category_id"] = 8  # the second of frame 4: a car, not a bicycle
    del data["annotations"][20:22]  # all of frame 10
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(data))
    (result,) = run(session, path, worst=2).results
    assert [(each.frame, each.objects, each.missed, each.wrong) for each in result.worst] == [(3, 2, 1, 1), (4, 2, 1, 1)]
    assert result.worst[0].time == 3 / 25
    (file,) = result.files
    assert (file.path, file.pictures, file.objects, file.right, file.wrong, file.missed) == ("clip.mp4", FRAMES, 38, 36, 4, 2)
    assert result.confusion.tolist() == [[18, 0, 0, 1], [0, 18, 0, 0], [0, 1, 0, 0], [2, 1, 0, 0]]
    assert file.map50 == pytest.approx(result.map50)


def test_sessions_may_have_the_files_in_another_order(tmp_path: Path) -> None:
    one = write_session(tmp_path / "one.sqlite", {"a.mp4": 6, "b.mp4": 4})
    other = write_session(tmp_path / "other.sqlite", {"b.mp4": 4, "a.mp4": 6}, boxes=1)
    data = coco([f"a.mp4#{index}" for index in range(6)])
    more = coco([f"b.mp4#{index}" for index in range(4)])
    for image in more["images"]:
        data["images"].append(image | {"id": image["id"] + 100})
    for note in more["annotations"]:
        data["annotations"].append(note | {"id": note["id"] + 100, "image_id": note["image_id"] + 100})
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(data))
    both = evaluate({"one": one, "other": other}, read_truth(path))
    assert [result.map50 for result in both.results] == [pytest.approx(1), pytest.approx(0.5)]
    for result, missed in zip(both.results, (0, 1), strict=True):
        assert [(file.path, file.pictures, file.missed) for file in result.files] == [("a.mp4", 6, 6 * missed), ("b.mp4", 4, 4 * missed)]
    apart = {name: write_session(tmp_path / f"{name}.sqlite", {f"{name}.mp4": 4}) for name in "ab"}
    with pytest.raises(UsageError, match=r"the sessions have no picture of .* in common"):
        evaluate(apart, read_truth(path), common=True)


def test_pictures_of_a_part_are_scored_only_on_demand(session: Path, tmp_path: Path) -> None:
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(coco([None] * FRAMES)))
    shorter = write_session(tmp_path / "shorter.sqlite", {"clip.mp4": 12})
    with pytest.raises(UsageError, match=r"does not have 8 of the 20 pictures .* \('frame 12'.*give --common"):
        evaluate({"long": session, "short": shorter}, read_truth(path))
    both = evaluate({"long": session, "short": shorter}, read_truth(path), common=True)
    assert (both.pictures, both.left_out) == (12, 8)
    assert [result.map50 for result in both.results] == [pytest.approx(1)] * 2
    first, second = both.results
    assert first.difference50 is not None
    assert (second.difference50 and (second.difference50.low, second.difference50.high)) == (0, 0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"categories": [{"id": 2, "name": "person"}, {"id": 5, "name": "cow"}]},
            r"labels 'cow', which .* does not know.*--map 'cow=LABEL'",
        ),
        ({"images": [{"id": 7, "frame": 0, "width": 1280, "height": 720}]}, "frame 0 has 1280×720 pixels, but .* it has 640×480"),
        (
            {"images": [{"id": 7, "file_name": "other.jpg", "width": 640, "height": 480}]},
            "has none of the 1 pictures.*it is about 'clip.mp4'",
        ),
        ({"images": [{"id": 7, "frame": 0}, {"id": 8, "file_name": "clip.mp4#0"}]}, "more than once"),
    ],
)
def test_a_truth_that_does_not_fit_is_refused(session: Path, tmp_path: Path, change: dict[str, Any], says: str) -> None:
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(coco([None]) | change))
    with pytest.raises(UsageError, match=says):
        run(session, path)


def test_labels_can_be_renamed(session: Path, tmp_path: Path) -> None:
    text = json.dumps(coco([None] * FRAMES)).replace("person", "Human being").replace('"bicycle"', '"BICYCLE"')
    path = tmp_path / "truth.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="'Human being'"):
        run(session, path)
    (result,) = run(session, path, renamed={"Human being": "person"}).results
    assert result.map50 == pytest.approx(1)
    with pytest.raises(UsageError, match="has no label 'dog'"):
        run(session, path, renamed={"dog": "person"})
    with pytest.raises(UsageError, match="'Human being' and 'BICYCLE' are the same class"):
        run(session, path, renamed={"Human being": "person", "BICYCLE": "person"})


def test_detections_of_other_classes_are_said_and_not_counted(session: Path, tmp_path: Path) -> None:
    data = coco([None] * FRAMES)
    data["categories"] = data["categories"][:1]
    data["annotations"] = [note for note in data["annotations"] if note["category_id"] == 2]
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(data))
    (result,) = run(session, path).results
    assert (result.map50, result.unused) == (pytest.approx(1), ("bicycle",))
    assert result.curve.chosen == (1, 1, 1)


def test_failed_frames_count_as_frames_without_detections(tmp_path: Path) -> None:
    path = tmp_path / "failed.sqlite"
    writer = SessionWriter(path, LABELS, {})
    writer.add_source(0, "clip.mp4", SourceInfo("clip.mp4", SourceKind.VIDEO, "h264", 640, 480, 4, 0.16, 25.0, ()))
    writer.add_frames(make_frame(0, index, failure="broken" if index == 2 else None) for index in range(4))
    writer.finish_source(0, "clip.mp4", Ledger(4, 3), 1.0)
    writer.close(complete=True)
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps(coco([None] * 4)))
    (result,) = run(path, truth).results
    assert (result.failed, result.worst[0].frame, result.worst[0].missed) == (1, 2, 2)


def test_names_of_classes_in_data_yaml(tmp_path: Path) -> None:
    forms = ["names: [cat, 'dog']\nnc: 2", "nc: 2\nnames:\n- cat\n- dog\n", 'names:\n  0: cat  # first\n  1: "dog"\nval: x']
    forms.append("names:\n  1: dog\n  0: cat")
    for number, text in enumerate(forms):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "data.yaml").write_text(text)
        (folder / "a.txt").write_text("1 0.5 0.5 0.1 0.1\n")
        (folder / "b.jpg").write_bytes(b"")
        truth = read_truth(folder)
        assert truth.labels == ("cat", "dog")
        assert truth.pictures == (TruthPicture("a", None, None), TruthPicture("b", None, None))


CVAT_LABELS = f"<labels>{''.join(f'<label><name>{label}</name></label>' for label in LABELS)}</labels>"


def cvat_file(path: Path, body: str, meta: str = "") -> Path:
    described = meta or f"<task><start_frame>0</start_frame><stop_frame>{FRAMES - 1}</stop_frame>{CVAT_LABELS}</task>"
    path.write_text(f"<annotations><version>1.1</version><meta>{described}</meta>{body}</annotations>")
    return path


def tracks_of(frames: range, task: str = "", shape: str = '<box {} xtl="{x}" ytl="{y}" xbr="{r}" ybr="{b}"/>') -> str:
    return "".join(
        f'<track id="{index}" label="{LABELS[c]}"{task}>'
        + shape.format(f'frame="{index}" outside="0"', x=x, y=y, r=x + w, b=y + h, w=w, h=h, mx=x + w / 2, my=y + h / 2)
        + "</track>"
        for index in frames
        for c, x, y, w, h in boxes_of(index)
    )


@pytest.mark.parametrize(
    ("kind", "start", "stop", "more", "frames"),
    [
        ("job", 5, 12, "", range(5, 13)),
        ("task", 5, FRAMES - 1, "", range(5, FRAMES)),
        ("task", 2, 15, "<frame_filter>step=4</frame_filter>", range(2, 16, 4)),
    ],
)
def test_a_job_and_a_part_of_a_video_have_the_video_s_numbers(
    session: Path, tmp_path: Path, kind: str, start: int, stop: int, more: str, frames: range
) -> None:
    meta = f"<{kind}><start_frame>{start}</start_frame><stop_frame>{stop}</stop_frame>{more}{CVAT_LABELS}</{kind}>"
    body = tracks_of(frames) + tracks_of(frames[:1]).replace('outside="0"', 'outside="1"')
    assert_perfect(run(session, cvat_file(tmp_path / "job.xml", body, meta)), len(frames))


SHAPES = {
    "polygon": '<polygon {} points="{x},{my};{mx},{y};{r},{my};{mx},{b}"/>',
    "ellipse": '<ellipse {} cx="{mx}" cy="{my}" rx="5.25" ry="10.125" rotation="180.00"/>',
    "skeleton": '<skeleton {} keyframe="1"><points label="1" outside="0" points="{x},{b}"/><points label="2" outside="0" points="{r},{y}"/>'
    '<points label="3" outside="1" points="0,0"/></skeleton>',
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_box_around_a_shape_of_cvat_counts(session: Path, tmp_path: Path, name: str) -> None:
    path = cvat_file(tmp_path / "task.xml", tracks_of(range(FRAMES), shape=SHAPES[name]))
    evaluation = run(session, path)
    assert_perfect(evaluation)
    assert [(remark.code, remark.fields["count"]) for remark in evaluation.remarks] == [("evaluation.outlines", 2 * FRAMES)]


def test_boxes_of_cvat_are_turned_about_their_centres(tmp_path: Path) -> None:
    body = '<track label="car"><box frame="0" xtl="100" ytl="100" xbr="140" ybr="120" rotation="{}"/></track>'
    for angle, expected in (
        (0, (100, 100, 40, 20)),
        (90, (110, 90, 20, 40)),
        (180, (100, 100, 40, 20)),
        (45, (98.787, 88.787, 42.426, 42.426)),
    ):
        truth = read_truth(cvat_file(tmp_path / "task.xml", body.format(angle)))
        assert truth.boxes[0].tolist() == pytest.approx(expected, abs=1e-3)
    mask = '<image id="0" name="a.jpg" width="9" height="9"><mask label="car" rle="0, 6" left="4" top="2" width="3" height="2"/></image>'
    assert read_truth(cvat_file(tmp_path / "task.xml", mask)).boxes.tolist() == [[4, 2, 3, 2]]


@pytest.mark.parametrize("kind", ["polyline", "points", "cuboid"])
def test_shapes_of_cvat_without_an_outline_are_refused_by_name(tmp_path: Path, kind: str) -> None:
    body = f'<track label="car"><{kind} frame="0" outside="0" points="1,1;2,2"/></track>'
    with pytest.raises(SourceError, match=f"task.xml has shapes .* 1 of the kind '{kind}'"):
        read_truth(cvat_file(tmp_path / "task.xml", body))


def test_tags_of_cvat_s_pictures_are_no_objects(tmp_path: Path) -> None:
    body = '<image id="0" name="a.jpg" width="9" height="9"><tag label="car"><attribute name="a">1</attribute></tag></image>'
    assert len(read_truth(cvat_file(tmp_path / "task.xml", body)).boxes) == 0


def project() -> str:
    tasks = "".join(
        f"<task><id>{number}</id><name>{name}</name><start_frame>0</start_frame><stop_frame>{count - 1}</stop_frame>"
        + f"<subset>{subset}</subset><source>{name}</source></task>"
        for number, name, count, subset in ((4, "a.mp4", 6, "Train"), (9, "b.mp4", 4, "Test"))
    )
    return f"<project><id>1</id><tasks>{tasks}</tasks>{CVAT_LABELS}</project>"


def test_the_videos_of_a_cvat_project_stay_apart(tmp_path: Path) -> None:
    session = write_session(tmp_path / "one.sqlite", {"b.mp4": 4, "a.mp4": 6})
    body = tracks_of(range(6), ' task_id="4" subset="Train"') + tracks_of(range(4), ' task_id="9" subset="Test"')
    evaluation = run(session, cvat_file(tmp_path / "project.xml", body, project()))
    assert_perfect(evaluation, 10)
    assert [(file.path, file.pictures) for file in evaluation.results[0].files] == [("b.mp4", 4), ("a.mp4", 6)]
    with pytest.raises(SourceError, match="several tasks"):
        read_truth(cvat_file(tmp_path / "project.xml", tracks_of(range(6)), project()))


def test_a_session_of_one_video_of_a_cvat_project(session: Path, tmp_path: Path) -> None:
    body = tracks_of(range(6), ' task_id="4" subset="Train"')
    with pytest.raises(UsageError, match="has none of the 10 pictures"):
        run(session, cvat_file(tmp_path / "project.xml", body, project()))


@pytest.mark.parametrize(("source", "name"), [("clip.mp4", "frame_{:06}"), ("", "frame_{:06}.PNG"), ("", "frame_{:06}")])
def test_cvat_for_images_names_the_frames_of_a_video(session: Path, tmp_path: Path, source: str, name: str) -> None:
    images = "".join(
        f'<image id="{index}" name="{name.format(index)}" width="640" height="480">'
        + "".join(f'<box label="{LABELS[c]}" xtl="{x}" ytl="{y}" xbr="{x + w}" ybr="{y + h}"/>' for c, x, y, w, h in boxes_of(index))
        + "</image>"
        for index in range(4, FRAMES)
    )
    described = f"{CVAT_LABELS}<source>{source}</source>" if source else CVAT_LABELS
    meta = f"<job><start_frame>4</start_frame><stop_frame>{FRAMES - 1}</stop_frame>{described}</job>"
    assert_perfect(run(session, cvat_file(tmp_path / "images.xml", images, meta)), FRAMES - 4)


@pytest.mark.parametrize("folder", ["", "train/", "obj_train_data/"])
def test_cvat_s_other_formats_name_the_frames_of_a_video(session: Path, tmp_path: Path, folder: str) -> None:
    names = [f"{folder}frame_{index:06}" for index in range(5, FRAMES)]
    truth = yolo(tmp_path / "truth", [f"frame_{index:06}" for index in range(FRAMES)])
    for index in range(5):
        (truth / "labels" / f"frame_{index:06}.txt").unlink()
    if folder:
        (truth / "labels" / folder).mkdir()
        for name in names:
            (truth / "labels" / f"{Path(name).name}.txt").rename(truth / "labels" / f"{name}.txt")
    file = tmp_path / "coco.json"
    content = coco([f"{folder}frame_{index:06}.PNG" for index in range(FRAMES)])
    content["images"] = content["images"][5:]
    content["annotations"] = [each for each in content["annotations"] if each["image_id"] >= 12]
    file.write_text(json.dumps(content))
    for path in (truth, file):
        found = evaluate({"a": session}, read_truth(path))
        assert_perfect(found, FRAMES - 5)
        (remark,) = (each for each in found.remarks if each.code == "evaluation.frame_numbers")
        assert remark.fields["count"] == FRAMES - 5


def test_ids_of_coco_may_be_texts(session: Path, tmp_path: Path) -> None:
    data = coco([None] * FRAMES)
    for image in data["images"]:
        image["id"] = f"img-{image['id']}"
    for category in data["categories"]:
        category["id"] = f"c{category['id']}"
    for note in data["annotations"]:
        note |= {"id": f"a{note['id']}", "image_id": f"img-{note['image_id']}", "category_id": f"c{note['category_id']}"}
    path = tmp_path / "truth.json"
    path.write_text(json.dumps({name: data[name] for name in ("annotations", "categories", "images")}))
    assert_perfect(run(session, path))


def test_coco_s_boxes_without_an_area_and_annotations_without_a_box(session: Path, tmp_path: Path) -> None:
    data = coco([None] * FRAMES)
    for note in data["annotations"][2:]:
        x, y, w, h = note.pop("bbox")
        note["segmentation"] = [[x, y, x + w / 2, y + h], [x + w / 2, y, x + w, y + h / 3]]
    common = {"image_id": 7, "category_id": 2}
    data["annotations"] += [
        common | {"bbox": [300, 200, 0, 40]},
        common | {"caption": "a man"},
        common | {"bbox": None, "segmentation": []},
    ]
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(data))
    evaluation = run(session, path)
    assert evaluation.objects == 2 * FRAMES + 1
    assert [str(remark) for remark in evaluation.remarks] == [
        "2 annotations have neither a box nor a polygon, and are left out.",
        "1 object has no width or no height. It counts as missed, as in pycocotools.",
    ]
    (result,) = evaluation.results
    assert [(each.frame, each.missed, each.wrong) for each in result.worst] == [(0, 1, 0)]


def test_coco_s_ignore_does_not_count_but_crowds_do(session: Path, tmp_path: Path) -> None:
    data = coco([None] * FRAMES)
    for note in data["annotations"]:
        note["ignore"] = 1
    data["annotations"][0]["iscrowd"] = 1
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(data))
    assert run(session, path).objects == 2 * FRAMES - 1


def test_without_objects_the_accuracy_is_undefined(session: Path, tmp_path: Path) -> None:
    data = coco([None] * FRAMES) | {"annotations": []}
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(data))
    evaluation = run(session, path)
    (result,) = evaluation.results
    assert evaluation.objects == 0
    assert np.isnan([result.map50, result.map50_95, result.curve.chosen.recall, result.curve.chosen.f1]).all()
    assert (result.curve.chosen.precision, result.classes, result.interval50) == (0, (), None)


def test_coco_files_are_read_in_any_order_and_in_pieces(session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = coco([None] * FRAMES)
    data = {"info": {"a": [1, {"annotations": []}]}, "more": [[], {}, 3.5, "x"], **{name: data[name] for name in reversed([*data])}}
    for encoding, indent in (("utf-8", None), ("utf-8-sig", 1), ("utf-16", 2)):
        path = tmp_path / f"{encoding}.json"
        path.write_text(json.dumps(data, indent=indent), encoding)
        for size in (1 << 20, 4, 37):
            monkeypatch.setattr("framefleet.engine.evaluation.coco.CHUNK", size)
            assert_perfect(run(session, path))
            monkeypatch.undo()


@pytest.mark.parametrize(
    ("labels", "images", "asked"),
    [
        ("train/labels", "train/images", "."),
        ("valid/labels", "valid/images", "valid"),
        ("labels/val", "images/val", "."),
        ("labels", "images", "labels"),
    ],
)
def test_layouts_of_yolo_data_sets(session: Path, tmp_path: Path, labels: str, images: str, asked: str) -> None:
    folder, names = tmp_path / "set", [picture_name(index / 25) for index in range(FRAMES)]
    yolo(folder, names)
    (folder / "labels").rename(tmp_path / "moved")
    (folder / labels).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "moved").rename(folder / labels)
    (folder / images).mkdir(parents=True)
    for name in names:
        (folder / images / f"{name}.jpg").write_bytes(b"")
    for name in ("README.dataset.txt", "README.roboflow.txt"):
        (folder / name).write_text("https://universe.roboflow.com\nLicense: CC BY 4.0\n")
        (folder / labels / name).write_text("exported on 1 November\n")
    for path in (folder / labels).glob("0*.txt"):
        path.write_text(path.read_text().replace("0 0.", "0.0 0."))
    assert_perfect(run(session, folder / asked))


def test_names_that_roboflow_gives_to_pictures(session: Path, tmp_path: Path) -> None:
    names = [f"{picture_name(index / 25)}_jpg.rf.{index:032x}" for index in range(FRAMES)]
    assert_perfect(run(session, yolo(tmp_path / "set", names)))


def test_outlines_in_yolo_labels(session: Path, tmp_path: Path) -> None:
    folder = yolo(tmp_path / "set", [picture_name(index / 25) for index in range(FRAMES)])
    for path in (folder / "labels").iterdir():
        rows = [[float(part) for part in line.split()] for line in path.read_text().splitlines()]
        path.write_text("".join(f"{int(c)} {x - w / 2} {y} {x} {y - h / 2} {x + w / 2} {y} {x} {y + h / 2}\n" for c, x, y, w, h in rows))
    evaluation = run(session, folder)
    assert_perfect(evaluation)
    assert [remark.code for remark in evaluation.remarks] == ["evaluation.outlines"]


@pytest.mark.parametrize(
    "text",
    [
        "names: *a",
        "names: {x: cat}",
        "names: 3",
        "names: [[cat]]",
        "names: [cat",
        "\tnames: [cat]",
        "names: {99999999999: cat}",
        "x: " + "[" * 5000,
        "a: &a [x, x]\nb: &b [*a, *a]\nnames: [*b, *b]",
    ],
)
def test_descriptions_of_data_sets_that_cannot_be_used(tmp_path: Path, text: str) -> None:
    (tmp_path / "data.yaml").write_text(text)
    (tmp_path / "a.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    with pytest.raises(SourceError, match=r"data\.yaml"):
        read_truth(tmp_path)


def test_a_description_with_much_else_is_read_fast(tmp_path: Path) -> None:
    chain = "".join(f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 9)}]\n" for level in range(1, 30))
    (tmp_path / "data.yaml").write_text(f"l0: &l0 [x]\n{chain}a:{' ' * 200_000}b\nnames: [cat]\n")
    (tmp_path / "a.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    assert read_truth(tmp_path).labels == ("cat",)


def test_only_classes_that_were_looked_for_count(session: Path, tmp_path: Path) -> None:
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(coco([None] * FRAMES)))
    only = write_session(tmp_path / "only.sqlite", {"clip.mp4": FRAMES}, boxes=1, facts={"classes": "0"})
    evaluation = evaluate({"all": session, "only": only}, read_truth(path))
    assert (evaluation.counted, evaluation.objects) == (("person",), FRAMES)
    assert [(result.map50, result.curve.chosen) for result in evaluation.results] == [(pytest.approx(1), (1, 1, 1))] * 2
    chosen = run(session, path, classes=["Bicycle", "car"])
    assert (chosen.counted, chosen.objects) == (("bicycle", "car"), FRAMES)
    assert [each.label for each in chosen.results[0].classes] == ["bicycle"]
    with pytest.raises(UsageError, match="has no label 'dog'"):
        run(session, path, classes=["dog"])
    with pytest.raises(UsageError, match=r"no class of .* was looked for in all sessions"):
        run(only, path, classes=["car"])
    with SessionReader(only) as reader:
        (written,) = (each.path for each in export_session(reader, tmp_path / "out", ["yolo"]))
    with pytest.raises(UsageError, match="does not have these classes: only 'person' were looked for"):
        run(session, written, classes=["car"])


@pytest.mark.parametrize("form", ["coco", "cvat", "yolo"])
def test_exports_of_a_run_for_some_classes_say_which(session: Path, tmp_path: Path, form: str) -> None:
    only = write_session(tmp_path / "only.sqlite", {"clip.mp4": FRAMES}, boxes=1, facts={"classes": "0"})
    with SessionReader(only) as reader:
        (written,) = (each.path for each in export_session(reader, tmp_path / "out", [form]))
    evaluation = run(session, written)
    assert (evaluation.counted or evaluation.labels, evaluation.objects) == (("person",), FRAMES)
    assert evaluation.results[0].curve.chosen == (1, 1, 1)


@pytest.mark.parametrize("confidence", [0.855, 0.9, 0.7999])
def test_all_results_are_at_the_same_confidence(session: Path, tmp_path: Path, confidence: float) -> None:
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(coco([None] * FRAMES)))
    (result,) = run(session, path, confidence=confidence).results
    found = (confidence <= 0.9) + (confidence <= 0.8)
    assert result.curve.chosen.recall == found / 2
    assert sum(file.right for file in result.files) == found * FRAMES
    assert result.confusion[:3, :3].sum() == found * FRAMES


FORMS = ('{{"more": [{}]}}', '{{"images": [{}], "categories": [], "annotations": []}}', '{{"images": {}}}', "{}")
PARTS = ('{"":{}},', "[],", '{"a":[[],{}]},')


@pytest.mark.parametrize(
    ("form", "part"),
    [
        pytest.param(form, part, marks=[] if first % 3 == second else pytest.mark.slow)
        for first, form in enumerate(FORMS)
        for second, part in enumerate(PARTS)
    ],
)
def test_a_small_compressed_file_takes_little_memory(tmp_path: Path, form: str, part: str) -> None:
    before, after = form.split("{}") if form == "{}" else form.format("\0").split("\0")
    path = tmp_path / "bomb.json.gz"
    with gzip.open(path, "wb", 6) as file:
        file.write(before.encode())
        for _ in range(8):
            file.write(part.encode() * (1_000_000 // len(part)))
        file.write(b"{}" + after.encode())
    with memory_below(400 << 20), pytest.raises(SourceError, match="bomb"):
        read_truth(path)


NOT_TRUTH = {
    "text.json": b"no json",
    "list.json": b"[]",
    "keys.json": b'{"images": [], "annotations": []}',
    "none.json": b'{"images": [], "annotations": [], "categories": []}',
    "box.json": b'{"images": [{"id": 1, "file_name": "a"}], "categories": [{"id": 1, "name": "b"}],'
    b' "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, -1, 5]}]}',
    "huge.json": b'{"images": [{"id": 1, "file_name": "a"}], "categories": [{"id": 1, "name": "b"}],'
    b' "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1e400, 5]}]}',
    "foreign.json": b'{"images": [], "categories": [], "annotations": [{"id": 4, "image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1]}]}',
    "deep.json": b"[" * 100_000,
    "cut.json.gz": gzip.compress(b"{}" * 1000)[:-9],
    "bomb.json.gz": gzip.compress(b" " * (1 << 20)) * 600,
    "text.xml": b"no xml",
    "frames.xml": b"<annotations><meta><task><stop_frame>99999999999</stop_frame></task></meta></annotations>",
    "filter.xml": b"<annotations><meta><task><stop_frame>9</stop_frame><frame_filter>every=5</frame_filter></task></meta></annotations>",
    "encoding.xml": b'<?xml version="1.0" encoding="utfm8"?><annotations/>',
    "laughs.xml": b'<!DOCTYPE a [<!ENTITY b "ha">]><a>&b;</a>',
    "wide.xml": '<?xml version="1.0" encoding="utf-16"?><a/>'.encode("utf-16"),
    "track.xml": b"<annotations><meta><task><stop_frame>9</stop_frame></task></meta>"
    b'<track id="0"><box frame="0" outside="0"/></track></annotations>',
    "other.txt": b"what is this",
    "session.sqlite": b"SQLite format 3",
}


@pytest.mark.parametrize("name", NOT_TRUTH)
def test_what_is_no_truth_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(NOT_TRUTH[name])
    with pytest.raises(SourceError, match=name) as caught:
        read_truth(path)
    assert len(str(caught.value)) < 600


def test_files_that_cannot_be_read_as_text(tmp_path: Path) -> None:
    for name in ("latin", "gone", "memory"):
        (tmp_path / name).mkdir()
    (tmp_path / "latin" / "a.txt").write_bytes("0 0.5 0.5 0.1 0.1 \xe4".encode("latin-1"))
    (tmp_path / "gone" / "a.txt").symlink_to(tmp_path / "none")
    (tmp_path / "memory" / "a.txt").symlink_to("/proc/self/mem")  # the system lets nobody read its beginning
    for name, code in {"latin": "evaluation.no_utf8", "gone": "evaluation.no_labels", "memory": "general.unreadable"}.items():
        with pytest.raises(SourceError, match=name) as caught:
            read_truth(tmp_path / name)
        assert caught.value.notice.code == code
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(SourceError, match=r"pipe\.json is not a file"):
        read_truth(tmp_path / "pipe.json")


def test_files_that_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "truth.json").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(SourceError, match=r"truth\.json has 2\.1 GB, and a truth file may have 2\.1 GB: divide it"):
        read_truth(tmp_path / "truth.json")
    (tmp_path / "a.txt").write_text("0 0.5 0.5 0.1 0.1\n" * 20_000)
    monkeypatch.setattr("framefleet.engine.evaluation.truth.free_host_memory", lambda: 1 << 20)
    with pytest.raises(SourceError, match=r"has more than 10,000 objects in 1 pictures"):
        read_truth(tmp_path)


def test_a_process_with_too_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> str:
        raise MemoryError

    (tmp_path / "a.txt").write_text("0 0.5 0.5 0.1 0.1")
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(SourceError, match="needs more memory than this process may take"):
        read_truth(tmp_path)


LINES = ["0 0.5 0.5 0.1", "a 0.5 0.5 0.1 0.1", "-1 0.5 0.5 0.1 0.1", "0 0.5 0.5 0 0.1", "0 nan 0.5 0.1 0.1", "9 .5 .5 .1 .1"]


@pytest.mark.parametrize("line", LINES)
def test_lines_that_are_no_labels_are_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.txt").write_text(line)
    (tmp_path / "data.yaml").write_text("names: [cat]")
    with pytest.raises(SourceError, match=str(tmp_path)):
        read_truth(tmp_path)


def test_the_folder_of_a_session_is_no_truth(session: Path) -> None:
    (session.parent / "clip.mot" / "det").mkdir(parents=True)
    (session.parent / "clip.mot" / "det" / "det.txt").write_text("1,1,382.51,0.0,144.48,378.63,0.9936,1,1,-1\n")
    with pytest.raises(SourceError) as caught:
        read_truth(session.parent)
    assert caught.value.notice.code == "evaluation.session_as_truth"


def test_a_missing_truth(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        read_truth(tmp_path / "truth.json")
    with pytest.raises(SourceError, match="names no pictures"):
        read_truth(tmp_path)


def test_fit_reads_only_detections_of_the_truth_s_frames(session: Path, tmp_path: Path) -> None:
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(coco(["clip.mp4#0"])))
    truth: Truth = read_truth(path)
    with SessionReader(session) as reader:
        assert len(fit(truth, reader).found) == 2


@pytest.mark.parametrize("form", ["coco", "cvat"])
def test_exports_list_classes_that_a_person_added(tmp_path: Path, form: str) -> None:
    only = write_session(tmp_path / "only.sqlite", {"clip.mp4": FRAMES}, boxes=1, facts={"classes": "0"})
    with Corrections(only) as corrections:
        corrections.add(0, 1, 2, (100, 100, 150, 150))
    with SessionReader(only) as reader:
        (written,) = (each.path for each in export_session(reader, tmp_path / "out", [form]))
    assert read_truth(written).labels == ("person", "car")
    assert form == "coco" or "<name>car</name>" in written.read_text()
