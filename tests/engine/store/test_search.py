"""Searching the results of many sessions, with sessions as a run writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.corrections import Corrections, OneDetection
from framefleet.engine.store.search import INDEX, Query, SearchIndex
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult
from tests.support.store import LABELS, video_info

MONDAY = datetime(2026, 11, 16, 7, 0, tzinfo=UTC)
CPU = DeviceId("cpu", "0")
Boxes = Sequence[tuple[int, float]]


def write(path: Path, frames: Mapping[float, Boxes], *, started: datetime | None = None, pictures: bool = False) -> Path:
    """A session of one source. frames: class and confidence of each detection, by pts in seconds."""
    with SessionWriter(path, LABELS, {"model": "tiny"}) as writer:
        source = str(path.with_suffix("" if pictures else ".mp4"))
        info = SourceInfo(source, SourceKind.IMAGES, "", 640, 480, len(frames), None, None, ()) if pictures else video_info(source, 1000)
        writer.add_source(0, source, info)
        writer.set_start(0, started)
        for index, (pts, boxes) in enumerate(frames.items()):
            corners = np.array([[10 * n, 10, 10 * n + 8, 30] for n in range(len(boxes))], np.float32).reshape(-1, 4)
            scores, ids = np.array([c for _, c in boxes], np.float32), np.array([i for i, _ in boxes], np.int32)
            ref = FrameRef(0, index, pts, f"{index}.jpg" if pictures else None)
            writer.add_frames([FrameResult(ref, CPU, 640, 480, Detections(corners, scores, ids))])
        writer.finish_source(0, source, Ledger(len(frames), len(frames)), 1.0)
    return path


def indexed(folder: Path) -> SearchIndex:
    index = SearchIndex(folder)
    for path in index.outdated():
        index.update(path)
    return index


CAR, PERSON = [(2, 0.8)], [(0, 0.8)]


def test_the_fullest_frame_of_each_stretch_is_found_and_weak_objects_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / "a.sqlite", {0.0: CAR, 1.0: CAR * 3, 12.0: CAR * 2, 40.0: CAR * 2 + [(2, 0.3)], 90.0: PERSON * 9})
    index = indexed(tmp_path)
    assert index.labels() == [("car", 1), ("person", 1)]
    assert index.sources() == 1
    assert index.sessions_with(tmp_path / "a.mp4") == index.sessions_with(tmp_path / "moved" / "a.mp4") == [tmp_path / "a.sqlite"]
    assert index.sessions_with(tmp_path / "b.mp4") == []
    found = index.search(Query(("car",), 2, 0.5))
    assert [(hit.count, hit.pts, hit.begin, hit.end) for hit in found.hits] == [(3, 1.0, 1.0, 12.0), (2, 40.0, 40.0, 40.0)]
    assert found.total == 2
    assert [(hit.count, hit.pts) for hit in index.search(Query(("car",), 3, 0.25)).hits] == [(3, 1.0), (3, 40.0)]
    assert [hit.file for hit in found.hits] == [tmp_path / "a.mp4"] * 2
    assert index.search(Query(("car",), 4, 0.1)).hits == ()
    assert index.search(Query((), 9)).hits[0].pts == 90.0


def test_classes_count_together_only_in_the_same_frame(tmp_path: Path) -> None:
    write(tmp_path / "a.sqlite", {0.0: CAR * 2, 1.0: PERSON * 2, 20.0: CAR + PERSON * 2})
    index = indexed(tmp_path)
    found = index.search(Query(("car", "person"), 3))
    assert [(hit.count, hit.pts) for hit in found.hits] == [(3, 20.0)]
    assert [hit.pts for hit in index.search(Query(("car", "person"), 2)).hits] == [0.0, 20.0]


def test_times_are_those_of_the_recording_or_else_of_the_run(tmp_path: Path) -> None:
    write(tmp_path / "clock.sqlite", {0.0: CAR, 60.0: CAR}, started=MONDAY)
    write(tmp_path / "none.sqlite", {0.0: CAR})
    index = indexed(tmp_path)
    hits = index.search(Query(("car",))).hits
    assert [hit.time for hit in hits] == [None, MONDAY + timedelta(seconds=60), MONDAY]
    assert abs(hits[0].detected - datetime.now(UTC)) < timedelta(hours=1)
    later = Query(("car",), begin=MONDAY + timedelta(seconds=1), end=MONDAY + timedelta(days=1))
    assert [hit.pts for hit in index.search(later).hits] == [60.0]
    assert [hit.time for hit in index.search(Query(("car",), begin=MONDAY + timedelta(days=1))).hits] == [None]


def test_each_picture_of_a_folder_is_found_by_its_place(tmp_path: Path) -> None:
    write(tmp_path / "folder.sqlite", {0.0: CAR, 1.0: [], 2.0: CAR * 2}, pictures=True)
    found = indexed(tmp_path).search(Query(("car",)))
    assert [(hit.pts, hit.pictures) for hit in found.hits] == [(0.0, True), (2.0, True)]


def test_the_index_follows_corrections_new_sessions_and_deleted_ones(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sqlite", {0.0: CAR * 2})
    index = indexed(tmp_path)
    assert index.outdated() == []
    with Corrections(path) as corrections:
        corrections.delete(OneDetection(0, 0, 0))
    assert index.outdated() == [path]
    assert [hit.count for hit in indexed(tmp_path).search(Query(("car",))).hits] == [1]
    write(tmp_path / "b.sqlite", {0.0: PERSON})
    path.unlink()
    index = indexed(tmp_path)
    assert index.search(Query(("car",))).hits == ()
    assert index.labels() == [("person", 1)]


def test_a_damaged_session_has_no_hits(tmp_path: Path) -> None:
    (tmp_path / "damaged.sqlite").write_bytes(b"nothing")
    index = indexed(tmp_path)
    assert index.outdated() == []
    assert index.search(Query()).hits == ()


def test_what_a_run_has_stored_is_found_before_it_ends(tmp_path: Path) -> None:
    corners = np.array([[10, 10, 20, 30]], np.float32)
    car = Detections(corners, np.array([0.9], np.float32), np.array([CAR[0][0]], np.int32))
    with SessionWriter(tmp_path / "run.sqlite", LABELS, {"model": "tiny"}) as writer:
        assert indexed(tmp_path).search(Query()).hits == ()
        for number, name in enumerate(("a.mp4", "b.mp4")):
            writer.add_source(number, name, video_info(name, 1))
            writer.add_frames([FrameResult(FrameRef(number, 0, 0.0), CPU, 640, 480, car)])
            writer.finish_source(number, name, Ledger(1, 1), 1.0)
            assert sorted(hit.name for hit in indexed(tmp_path).search(Query(("car",))).hits) == ["a.mp4", "b.mp4"][: number + 1]


@pytest.mark.parametrize("content", [b"no database at all", b""])
def test_a_damaged_index_is_made_again(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path / "a.sqlite", {0.0: CAR})
    indexed(tmp_path)
    for each in tmp_path.glob(f"{INDEX}*"):
        each.unlink()
    (tmp_path / INDEX).write_bytes(content)
    index = SearchIndex(tmp_path)
    assert index.outdated() == [path]
    index.update(path)
    assert len(index.search(Query(("car",))).hits) == 1


def test_a_session_removed_after_the_index_was_read_has_no_hits_for_several_classes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sqlite", {0.0: CAR + PERSON})
    index = indexed(tmp_path)
    path.unlink()
    assert index.search(Query(("car", "person"), 2)).hits == ()


def test_the_latest_hits_come_first_and_others_are_counted(tmp_path: Path) -> None:
    for day in range(5):
        write(tmp_path / f"{day}.sqlite", {0.0: CAR}, started=MONDAY + timedelta(days=day))
    found = indexed(tmp_path).search(Query(("car",)), limit=2)
    assert [hit.name for hit in found.hits] == ["4.mp4", "3.mp4"]
    assert found.total == 5
