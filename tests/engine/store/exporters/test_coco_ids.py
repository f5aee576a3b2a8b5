from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.model.files import coco_labels
from framefleet.engine.notices import UsageError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.export import export_session
from framefleet.engine.store.exporters.coco import COCO_IDS, check_coco_labels
from framefleet.engine.store.exporters.options import ExportOptions
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.types import Detections, FrameRef, FrameResult
from tests.support.cli import run_main
from tests.support.store import CPU, video_info, write_session


def test_the_ids_are_those_of_coco() -> None:
    """Spot checks against instances_val2017.json: https://cocodataset.org."""
    ids = dict(zip(coco_labels(), COCO_IDS, strict=True))
    known = {"person": 1, "stop sign": 13, "backpack": 27, "suitcase": 33, "wine glass": 46, "dining table": 67, "toilet": 70}
    known |= {"tv": 72, "refrigerator": 82, "book": 84, "toothbrush": 90}
    assert {label: ids[label] for label in known} == known
    assert len(set(COCO_IDS)) == 80


def test_a_data_set_with_coco_s_ids(tmp_path: Path) -> None:
    labels = coco_labels()
    boxes = np.array([[0, 0, 10, 10]] * 80, np.float32)
    found = Detections(boxes, np.full(80, 0.5, np.float32), np.arange(80, dtype=np.int32))
    with SessionWriter(tmp_path / "s.sqlite", labels, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 1))
        writer.add_frames([FrameResult(FrameRef(0, 0, 0.0), CPU, 640, 480, found)])
        writer.finish_source(0, "a.mp4", Ledger(1, 1), 1.0)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        export_session(reader, tmp_path, ["coco"], options=ExportOptions(coco_ids=True))
    data = json.loads((tmp_path / "a.coco.json").read_text())
    assert {category["name"]: category["id"] for category in data["categories"]} == dict(zip(labels, COCO_IDS, strict=True))
    assert [annotation["category_id"] for annotation in data["annotations"]] == list(COCO_IDS)


def test_other_labels_are_refused(tmp_path: Path) -> None:
    darknet = ["tvmonitor" if label == "tv" else label for label in coco_labels()]
    check_coco_labels(darknet)
    with pytest.raises(UsageError, match="label 62 is 'telly', not 'tv'"):
        check_coco_labels(["telly" if label == "tv" else label for label in coco_labels()])
    database = write_session(tmp_path / "s.sqlite", {"a.mp4": 1})
    run = run_main("results", database, "--format", "coco", "--coco-ids")
    assert run.status == 2
    assert "--coco-ids is for models with COCO's 80 labels, and this one has 3: leave it out" in run.err
    assert not (tmp_path / "a.coco.json").exists()
    run = run_main("results", database, "--coco-ids")
    assert run.status == 2
