"""Comparing two stored results of a video, with sessions as a run writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.evaluation.compare import Results, StoredResult, common_labels, compare, results_of, without_counterpart
from framefleet.engine.notices import UsageError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult
from tests.support.store import video_info

Object = tuple[int, float, float]  # class, left edge, confidence


def detections(objects: Sequence[Object]) -> Detections:
    boxes = np.array([[x, 10, x + 20, 50] for _, x, _ in objects], np.float32).reshape(-1, 4)
    return Detections(boxes, np.array([s for *_, s in objects], np.float32), np.array([c for c, *_ in objects], np.int32))


def write(path: Path, file: str, frames: Mapping[float, Sequence[Object]], labels: Sequence[str] = ("person", "car")) -> Path:
    path.parent.mkdir(exist_ok=True)
    with SessionWriter(path, labels, {"model": path.parent.name}) as writer:
        writer.add_source(0, file, video_info(file, len(frames)))
        for index, (pts, objects) in enumerate(frames.items()):
            writer.add_frames([FrameResult(FrameRef(0, index, pts), DeviceId("cpu", "0"), 640, 480, detections(objects))])
        writer.finish_source(0, file, Ledger(len(frames), len(frames)), 1.0)
    return path


def test_counterparts_have_the_same_class_and_overlap_by_half() -> None:
    one = detections([(0, 0, 0.9), (0, 100, 0.8), (1, 200, 0.7)])
    other = detections([(1, 203, 0.9), (0, 120, 0.8), (1, 0, 0.7)])
    first, second = without_counterpart(one, other)
    assert first.tolist() == [True, True, False]
    assert second.tolist() == [False, True, True]
    assert [each.tolist() for each in without_counterpart(one, Detections())] == [[True] * 3, []]


def test_each_detection_is_the_counterpart_of_one_only() -> None:
    one, other = detections([(0, 0, 0.9), (0, 1, 0.8)]), detections([(0, 0, 0.7)])
    assert [each.tolist() for each in without_counterpart(one, other)] == [[False, True], [False]]


def test_only_frames_of_both_results_are_compared_at_the_chosen_confidence(tmp_path: Path) -> None:
    one = write(tmp_path / "a" / "s.sqlite", "v.mp4", {0.0: [(0, 0, 0.9)], 0.5: [(0, 0, 0.9), (1, 100, 0.4)], 1.0: [(1, 0, 0.9)]})
    other = write(tmp_path / "b" / "s.sqlite", "v.mp4", {0.0: [(0, 2, 0.5)], 0.5: [(0, 0, 0.9)], 1.0: [], 1.5: [(0, 0, 0.9)]})
    results = [Results.read(StoredResult.find(path, Path("v.mp4").absolute())) for path in (one, other)]
    weak, strong = compare(*results, confidence=0.3), compare(*results, confidence=0.5)
    assert (weak.frames, weak.pts.tolist(), weak.first.tolist(), weak.second.tolist()) == (3, [0.5, 1.0], [1, 1], [0, 0])
    assert strong.pts.tolist() == [1.0]
    assert compare(*results, confidence=0.3, classes=frozenset({0})).pts.tolist() == []
    assert (weak.after(0.5), weak.after(1.0), weak.after(1.0, forward=False), weak.after(0.5, forward=False)) == (1.0, None, 0.5, None)
    assert results[1].at(0.0).boxes[0, 0] == 2
    assert len(results[1].at(0.25)) == 0


def test_classes_are_the_same_if_their_labels_are(tmp_path: Path) -> None:
    labels, ids = common_labels(("tvmonitor", "bicycle", "motorbike"), ("bicycle", "motorcycle", "tv", "couch"))
    assert (labels, ids.tolist()) == (("tvmonitor", "bicycle", "motorbike", "couch"), [1, 2, 0, 3])
    labels, ids = common_labels(("person", "car"), ("car", "tram", "person"))
    assert labels == ("person", "car", "tram")
    assert ids.tolist() == [1, 2, 0]
    other = write(tmp_path / "b" / "s.sqlite", "v.mp4", {0.0: [(0, 0, 0.9), (1, 100, 0.8)]}, ("car", "tram", "person"))
    found = Results.read(StoredResult.find(other, Path("v.mp4").absolute()), ids)
    assert found.at(0.0).class_ids.tolist() == [1, 2]


def test_the_results_of_a_video_are_found_also_where_it_was_moved(tmp_path: Path) -> None:
    one = write(tmp_path / "old" / "s.sqlite", "/there/v.mp4", {0.0: []})
    two = write(tmp_path / "new" / "s.sqlite", str(tmp_path / "v.mp4"), {0.0: [], 1.0: []})
    third = write(tmp_path / "third" / "s.sqlite", "w.mp4", {0.0: []})
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"nothing")
    found = results_of([one, two, third, damaged, one], tmp_path / "v.mp4")
    assert {(each.model, each.frames) for each in found} == {("new", 2), ("old", 1)}
    assert len(found) == 2
    assert all(each.time is not None for each in found)
    with pytest.raises(UsageError, match=r"has no results of v\.mp4"):
        StoredResult.find(third, tmp_path / "v.mp4")
