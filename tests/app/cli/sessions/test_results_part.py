"""``results --from --to`` of a whole video writes what ``detect --from --to`` does, and ``--source`` one of several sources."""

from __future__ import annotations

from pathlib import Path

import av
import pandas as pd

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.session import SessionWriter
from tests.support.cli import FAST, run_main
from tests.support.media import make_video
from tests.support.store import LABELS, make_frame, video_info, write_session

PART = ("--from", "0.3s", "--to", "20")
FORMATS = ("--format", "jsonl,csv,coco,yolo,mot,cvat,labelstudio,megadetector,video")


def content(folder: Path) -> dict[str, bytes]:
    """The files that say nothing about the run itself."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".sqlite")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.name != "files.csv"}


def test_a_part_of_a_stored_video_is_exported_as_if_only_that_part_had_been_detected(tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", 30, (96, 64), rate=25)
    assert run_main("detect", video, *FAST, "--confidence", "0.05", "--out", tmp_path / "whole").status == 0
    run = run_main("detect", video, *FAST, "--confidence", "0.05", *PART, *FORMATS, "--out", tmp_path / "detected")
    assert run.status == 0, run.err
    run = run_main("results", tmp_path / "whole", *PART, *FORMATS, "--out", tmp_path / "exported")
    assert run.status == 0, run.err
    detected, exported = content(tmp_path / "detected"), content(tmp_path / "exported")
    assert len(detected["a.jsonl"].splitlines()) == 13
    assert b'"detections": [{' in detected["a.jsonl"]
    assert detected.keys() == exported.keys()
    assert [name for name in detected if detected[name] != exported[name] and not name.endswith(".mp4")] == []
    (row,) = pd.read_csv(tmp_path / "exported" / "files.csv").to_dict("records")
    assert row["inferred"] == 13
    with av.open(str(tmp_path / "exported" / "a.annotated.mp4")) as container:
        times = [frame.time for frame in container.decode(video=0)]
    assert (len(times), times[0]) == (13, 0)


def test_an_empty_part_is_refused(tmp_path: Path) -> None:
    database = write_session(tmp_path / "s.sqlite", {"a.mp4": 4})
    run = run_main("results", database, "--from", "3s", "--to", "2s")
    assert run.status == 2
    assert "the part from 3s to 2s is empty" in run.err


def test_some_sources_only(tmp_path: Path) -> None:
    database = write_session(tmp_path / "s.sqlite", {"a.mp4": 4, "b.mp4": 4, "c.mp4": 4})
    run = run_main("results", database, "--source", "a.mp4", "--source", "c.mp4", "--format", "csv")
    assert run.status == 0, run.err
    assert {path.name for path in tmp_path.glob("*.csv")} == {"a.detections.csv", "c.detections.csv", "counts.csv", "files.csv"}
    assert list(pd.read_csv(tmp_path / "files.csv").file) == ["a.mp4", "c.mp4"]
    run = run_main("results", database, "--source", "d.mp4")
    assert run.status == 2
    assert "no source is named 'd.mp4': the session has a.mp4, b.mp4, c.mp4" in run.err


def test_sources_that_were_not_chosen_are_not_mentioned(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {"model": "tiny"}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 2))
        writer.add_frames(make_frame(0, index) for index in range(2))
        writer.finish_source(0, "a.mp4", Ledger(2, 2), 1.0)
        writer.add_source(1, "pictures", SourceInfo("pictures", SourceKind.IMAGES, "png", 64, 64, 1, None, None, ()))
        writer.finish_source(1, "pictures", Ledger(), 1.0)
    assert "pictures: pictures have no mot" in run_main("results", tmp_path / "s.sqlite", "--format", "mot").err
    assert "pictures" not in run_main("results", tmp_path / "s.sqlite", "--format", "mot", "--source", "a.mp4").err
