"""Programs that are not ours read the exported files.

See ``tests.support.other_programs``: datumaro (with pycocotools), megadetector, label-studio-sdk.
CVAT's importer is in no package: ``FRAMEFLEET_CVAT`` names a checkout of CVAT's source.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import cv2
import pytest

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.export import export_session
from framefleet.engine.store.exporters.options import ExportOptions, PictureFormat
from framefleet.engine.store.session import SessionReader, SessionWriter
from tests.support.media import make_video, numbered
from tests.support.other_programs import read_with
from tests.support.store import LABELS, make_frame, video_info

CVAT = "FRAMEFLEET_CVAT"
FRAMES = 12

DATUMARO = """
import json, sys
from datumaro import AnnotationType, Dataset
path, form = sys.argv[1:]
data = Dataset.import_from(path, form)
labels = [label.name for label in data.categories()[AnnotationType.label]]
boxes = [[str(item.id), labels[a.label], *(round(v, 2) for v in (a.x, a.y, a.w, a.h))]
         for item in data for a in item.annotations if a.type is AnnotationType.bbox and not a.attributes.get("outside")]
print("\\n" + json.dumps({"labels": labels, "items": len(data), "boxes": boxes}))
"""

MEGADETECTOR = """
import json, sys
from megadetector.postprocessing.validate_batch_results import validate_batch_results
print("\\n" + json.dumps(validate_batch_results(sys.argv[1])["validation_results"]))
"""

LABEL_STUDIO = """
import json, sys
from pathlib import Path
from label_studio_sdk.label_interface import LabelInterface
tasks = json.loads(Path(sys.argv[1]).read_text())
interface = LabelInterface(Path(sys.argv[2]).read_text())
print("\\n" + json.dumps([interface.validate_prediction(task["predictions"][0], return_errors=True) for task in tasks]))
"""

LABEL_STUDIO_CONVERTER = """
import json, sys, tempfile
from pathlib import Path
from label_studio_sdk.converter import Converter
folder, tasks = Path(tempfile.mkdtemp()), json.loads(Path(sys.argv[1]).read_text())
for number, task in enumerate(tasks):
    task |= {"id": number, "annotations": [{"id": number, "result": task["predictions"][0]["result"], "completed_by": 1}]}
(folder / "tasks.json").write_text(json.dumps(tasks))
Converter(Path(sys.argv[2]).read_text(), str(folder), download_resources=False).convert(
    str(folder / "tasks.json"), str(folder / "out"), "COCO", is_dir=False
)
coco = json.loads((folder / "out" / "result.json").read_text())
names = {category["id"]: category["name"] for category in coco["categories"]}
print("\\n" + json.dumps([[names[each["category_id"]], *each["bbox"]] for each in coco["annotations"]]))
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the exports of a video, whose frame n has n % 3 boxes, and of two pictures."""
    folder = tmp_path_factory.mktemp("exported")
    video = make_video(folder / "a.mp4", FRAMES, (640, 480), rate=25)
    with SessionWriter(folder / "s.sqlite", LABELS, {"model": "tiny"}) as writer:
        writer.add_source(0, str(video), video_info("", FRAMES))
        writer.add_frames(make_frame(0, index, index % 3) for index in range(FRAMES))
        writer.finish_source(0, str(video), Ledger(FRAMES, FRAMES), 1.0)
        writer.add_source(1, str(folder / "trap"), SourceInfo("", SourceKind.IMAGES, "jpeg", 640, 480, 2, None, None, ()))
        writer.add_frames([make_frame(1, 0, 1, "späti.jpg"), make_frame(1, 1, 0, "b.jpg")])
        writer.finish_source(1, str(folder / "trap"), Ledger(2, 2), 1.0)
    with SessionReader(folder / "s.sqlite") as reader:
        formats = ["coco", "mot", "cvat", "labelstudio", "megadetector"]
        export_session(reader, folder / "out", formats)
        options = ExportOptions(pictures=PictureFormat.PNG)
        export_session(reader, folder / "video", ["yolo"], options=options, only=[0], whole=False)
    return folder


EXPECTED = [[number, LABELS[box], float(number + box), float(box), 10.5, 20.25] for number in range(FRAMES) for box in range(number % 3)]
"""The frame, label and box of each detection in the video."""


@pytest.mark.parametrize(("form", "path"), [("coco", "a.coco.json"), ("mot_seq", "a.mot"), ("cvat", "a.cvat.xml"), ("yolo", "yolo")])
def test_datumaro_reads_the_same_boxes(exported: Path, tmp_path: Path, form: str, path: str) -> None:
    place = exported / ("video" if form == "yolo" else "out") / path
    if place.is_file():  # datumaro searches a folder
        (tmp_path / "annotations").mkdir()
        (tmp_path / "images").mkdir()
        copy = tmp_path / "annotations" / ("instances_a.json" if form == "coco" else path)
        copy.write_bytes(place.read_bytes())
        place = tmp_path if form == "coco" else copy
    found = read_with("datumaro", DATUMARO, place, form)
    names = {"coco": "{:08.0f}", "yolo": "{:08.0f}", "mot_seq": "{}", "cvat": "frame_{:06}"}
    of_frame = {number: names[form].format({"mot_seq": number + 1, "cvat": number}.get(form, number * 400)) for number in range(FRAMES)}
    assert [label for label in found["labels"] if label != "background"] == list(LABELS)
    expected = sorted([of_frame[number], *rest] for number, *rest in EXPECTED)
    boxes = sorted([name.rpartition("/")[2], label, *place] for name, label, *place in found["boxes"])
    assert [box[:2] for box in boxes] == [box[:2] for box in expected]
    for box, wanted in zip(boxes, expected, strict=True):
        assert box[2:] == pytest.approx(wanted[2:], abs=0.01)


def test_datumaro_reads_the_pictures_of_cvat(exported: Path) -> None:
    (exported / "out" / "images").mkdir()
    for name in ("späti.jpg", "b.jpg"):
        cv2.imwrite(str(exported / "out" / "images" / name), numbered(1, (640, 480)))
    found = read_with("datumaro", DATUMARO, exported / "out" / "trap.cvat.xml", "cvat")
    assert found["boxes"] == [["späti", "person", 0.0, 0.0, 10.5, 20.25]]


def test_megadetectors_validator_accepts_the_file(exported: Path) -> None:
    found = read_with("megadetector", MEGADETECTOR, exported / "out" / "megadetector.json")
    assert (found["errors"], found["warnings"]) == ([], [])
    assert found["detection_category_id_to_count"] == {"2": len(EXPECTED) - 4 + 1, "3": 4}


@pytest.mark.parametrize(("name", "tasks"), [("a", 1), ("trap", 2)])
def test_label_studios_own_checks_accept_tasks_and_predictions(exported: Path, name: str, tasks: int) -> None:
    files = (exported / "out" / f"{name}.labelstudio.{suffix}" for suffix in ("json", "xml"))
    assert read_with("label_studio_sdk", LABEL_STUDIO, *files) == [[]] * tasks


def test_label_studios_converter_reads_the_same_boxes(exported: Path) -> None:
    files = (exported / "out" / f"trap.labelstudio.{suffix}" for suffix in ("json", "xml"))
    (box,) = read_with("label_studio_sdk", LABEL_STUDIO_CONVERTER, *files)
    assert box == ["person", *(pytest.approx(value, abs=0.01) for value in (0, 0, 10.5, 20.25))]


class Task:
    """A task of CVAT with these labels and pictures, for its importer: refuses other labels and frames, as CVAT's server does."""

    Attribute = Track = TrackedShape = LabeledShape = SimpleNamespace

    def __init__(self, labels: Sequence[str], pictures: Sequence[str]) -> None:
        self._labels, self._pictures = labels, pictures
        self.boxes: list[list[object]] = []

    def match(self, item: SimpleNamespace, instance_data: Task) -> int:
        assert instance_data is self
        return self._pictures.index(item.media.path)

    def abs_frame_id(self, number: int) -> int:
        return number

    def add_track(self, track: SimpleNamespace) -> None:
        for shape in track.shapes:
            self._add(track.label, shape)

    def add_shape(self, shape: SimpleNamespace) -> None:
        self._add(shape.label, shape)

    def _add(self, label: str, shape: SimpleNamespace) -> None:
        assert label in self._labels
        assert 0 <= int(shape.frame) < len(self._pictures)
        if not shape.outside:
            left, top, right, bottom = shape.points
            self.boxes.append([int(shape.frame), label, left, top, right - left, bottom - top])


@pytest.mark.parametrize(
    ("name", "pictures", "expected"),
    [("a", [""] * FRAMES, EXPECTED), ("trap", ["späti.jpg", "b.jpg"], [[0, "person", 0.0, 0.0, 10.5, 20.25]])],
)
def test_cvats_importer_reads_the_same_boxes(exported: Path, name: str, pictures: list[str], expected: list[list[object]]) -> None:
    checkout = os.environ.get(CVAT)
    if not checkout:
        pytest.skip(f"no source of CVAT: get https://github.com/cvat-ai/cvat, and set {CVAT} to its folder")
    source = (Path(checkout) / "cvat" / "apps" / "dataset_manager" / "formats" / "cvat.py").read_text("utf-8")
    (function,) = (part for part in ast.parse(source).body if isinstance(part, ast.FunctionDef) and part.name == "load_anno")
    task = Task(LABELS, pictures)
    names: dict[str, Any] = {"ElementTree": ElementTree, "osp": os.path, "DatasetItem": SimpleNamespace, "Image": SimpleNamespace}
    names["match_dm_item"] = task.match
    exec(compile(ast.Module([function], []), "load_anno", "exec"), names)
    with (exported / "out" / f"{name}.cvat.xml").open("rb") as file:
        names["load_anno"](file, task)
    assert sorted(task.boxes) == sorted(expected)
