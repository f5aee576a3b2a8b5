"""Clock times from the file's start to every table."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from framefleet.engine.media.probe import probe
from framefleet.engine.pool.events import Ledger
from framefleet.engine.settings.clock import ClockSettings, ClockSource
from framefleet.engine.store.export import export_session
from framefleet.engine.store.exporters.options import ExportOptions
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.types import DeviceId, FrameRef, FrameResult
from tests.support.cli import FAST, read_lines, run_main
from tests.support.media import make_video
from tests.support.store import LABELS, make_frame, video_info

START = datetime.fromisoformat("2026-11-01T07:55:00+01:00")


def later(frame: FrameResult, seconds: float) -> FrameResult:
    ref = FrameRef(frame.ref.source, frame.ref.index, frame.ref.pts * 1500 + seconds)  # a frame a minute
    return FrameResult(ref, DeviceId("cpu", "0"), 640, 480, frame.detections)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of a video that begins at 07:55 and at 1.4 s, with a frame each minute, and of one whose start is unknown."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        for number, name in enumerate(("a.ts", "20261101_080000.mp4")):
            writer.add_source(number, name, video_info("", 20))
            writer.add_frames(later(make_frame(number, index, 1), 1.4) for index in range(20))
            writer.finish_source(number, name, Ledger(20, 20), 1.0)
        writer.set_start(0, START)
    return tmp_path / "s.sqlite"


def test_every_table_has_the_clock_time_of_a_known_start_and_none_of_an_unknown_one(session: Path, tmp_path: Path) -> None:
    with SessionReader(session) as reader:
        export_session(reader, tmp_path, ["csv", "parquet", "jsonl", "coco", "labelstudio", "megadetector", "yolo", "mot", "cvat"])
    detections = pd.read_csv(tmp_path / "a.detections.csv")
    assert detections.clock[0] == "2026-11-01T07:55:00.000+01:00"  # at the first frame, whatever its pts
    assert detections.clock[19] == "2026-11-01T08:14:00.000+01:00"
    binary = pd.read_parquet(tmp_path / "a.detections.parquet")
    assert binary.clock[19] == pd.Timestamp("2026-11-01T07:14:00Z")
    assert pd.read_csv(tmp_path / "20261101_080000.detections.csv").clock.isna().all()
    assert pd.read_parquet(tmp_path / "20261101_080000.detections.parquet").clock.isna().all()
    files = pd.read_csv(tmp_path / "files.csv")
    assert files.clock.fillna("").to_list() == ["2026-11-01T07:55:00.000+01:00", ""]
    line = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[1])
    assert line["clock"] == "2026-11-01T07:56:00.000+01:00"
    assert "clock" not in (tmp_path / "20261101_080000.jsonl").read_text()
    assert json.loads((tmp_path / "a.coco.json").read_text())["images"][0]["date_captured"] == "2026-11-01T07:55:00.000+01:00"
    assert json.loads((tmp_path / "a.labelstudio.json").read_text())[0]["data"]["started"] == "2026-11-01T07:55:00.000+01:00"
    entries = json.loads((tmp_path / "megadetector.json").read_text())["images"]
    assert [entry.get("datetime") for entry in entries] == ["2026:11:01 07:55:00", None]
    start = "2026-11-01T07:55:00.000+01:00"
    assert [line for line in (tmp_path / "yolo" / "data.yaml").read_text().splitlines() if "began" in line] == [f"# a began at {start}"]
    for name, text in (("{}.mot/seqinfo.ini", f"\nstarted={start}\n"), ("{}.cvat.xml", f"\n<!-- began at {start} -->\n")):
        assert text in (tmp_path / name.format("a")).read_text()
        assert text[1:7] not in (tmp_path / name.format("20261101_080000")).read_text()


def test_intervals_begin_at_full_quarters_of_the_hour(session: Path, tmp_path: Path) -> None:
    with SessionReader(session) as reader:
        export_session(reader, tmp_path, ["csv"])
    counts = pd.read_csv(tmp_path / "counts.csv")
    known, unknown = counts[counts.source == "a.ts"], counts[counts.source != "a.ts"]
    assert known.clock.str.slice(11, 19).to_list() == ["07:45:00", "08:00:00"]
    assert known.frames.to_list() == [5, 15]
    assert unknown.start.to_list() == [1.4, 901.4]  # from the first frame of the file
    assert unknown.frames.to_list() == [15, 5]


@pytest.mark.parametrize(("days", "begin"), [(1, "2026-11-01"), (7, "2026-10-26")])
def test_weeks_begin_on_mondays(session: Path, tmp_path: Path, days: int, begin: str) -> None:
    """The video begins on a Sunday."""
    with SessionReader(session) as reader:
        export_session(reader, tmp_path, ["csv"], options=ExportOptions(interval=days * 86_400))
    counts = pd.read_csv(tmp_path / "counts.csv")
    assert counts[counts.source == "a.ts"].clock.str.slice(0, 19).to_list() == [f"{begin}T00:00:00"]


def test_a_stored_session_gets_clock_times_from_names(session: Path, tmp_path: Path) -> None:
    options = ExportOptions(clock=ClockSettings(ClockSource.NAME, UTC))
    with SessionReader(session) as reader:
        export_session(reader, tmp_path, ["csv"], options=options)
    assert pd.read_csv(tmp_path / "files.csv").clock.fillna("").to_list() == ["", "2026-11-01T08:00:00.000+00:00"]


def test_clock_times_go_on_over_a_change_of_the_clocks(session: Path, tmp_path: Path) -> None:
    """At 03:00, the clocks of Berlin go back to 02:00. The session has a frame a minute."""
    start = ClockSettings(datetime(2026, 10, 25, 2, 55), ZoneInfo("Europe/Berlin"))
    with SessionReader(session) as reader:
        export_session(reader, tmp_path, ["csv"], options=ExportOptions(clock=start), only=[0], whole=False)
    minutes = [datetime(2026, 10, 25, 0, 55, tzinfo=UTC) + timedelta(minutes=index) for index in range(20)]
    assert [datetime.fromisoformat(clock) for clock in pd.read_csv(tmp_path / "a.detections.csv").clock] == minutes
    quarters = [datetime(2026, 10, 25, 0, 45, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)]
    assert [datetime.fromisoformat(clock) for clock in pd.read_csv(tmp_path / "counts.csv").clock] == quarters


def test_probing_reads_the_time_in_the_metadata(tmp_path: Path) -> None:
    assert probe(make_video(tmp_path / "plain.mp4", 5)).created is None
    dated = make_video(tmp_path / "a.mp4", 5, metadata={"creation_time": "2026-11-01T08:00:00Z"})
    assert probe(dated).created == "2026-11-01T08:00:00.000000Z"


def test_detect_stores_when_files_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_video(tmp_path / "20261101_090000.mp4", 3, (96, 64), metadata={"creation_time": "2026-11-01T08:00:00Z"})
    monkeypatch.chdir(tmp_path)

    def start(*options: str) -> str:
        run = run_main("detect", "20261101_090000.mp4", *FAST, "--format", "csv", "--quiet", *options)
        assert run.status == 0, run.err
        assert ("finished by an earlier run" in run.err) == ("--restart" not in options)
        return str(pd.read_csv(tmp_path / "detections" / "files.csv", keep_default_na=False).clock[0])

    assert start("--restart") == ""
    assert start("--clock", "metadata") == "2026-11-01T08:00:00.000+00:00"
    assert start("--clock", "name", "--time-zone", "Europe/Berlin") == "2026-11-01T09:00:00.000+01:00"
    assert start("--clock", "2026-11-01 08:30+02:00") == "2026-11-01T08:30:00.000+02:00"
    assert start() == "2026-11-01T08:30:00.000+02:00", "without the option, the times stay"
    again = run_main("results", "detections", "--clock", "metadata", "--format", "csv", "--quiet")
    assert again.status == 0, again.err
    assert pd.read_csv(tmp_path / "detections" / "files.csv").clock[0] == "2026-11-01T08:00:00.000+00:00"


def test_a_session_remembers_where_the_times_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("20261101_090000.mp4", "20261101_100000.mp4")
    for known, options in enumerate((("--clock", "name", "--time-zone", "Europe/Berlin"), ()), 1):
        make_video(tmp_path / names[known - 1], 3, (96, 64))
        run = run_main("detect", *names[:known], *FAST, "--format", "csv", "--quiet", *options)
        assert run.status == 0, run.err
    files = pd.read_csv(tmp_path / "detections" / "files.csv")
    assert files.clock.to_list() == ["2026-11-01T09:00:00.000+01:00", "2026-11-01T10:00:00.000+01:00"]


def test_a_time_that_is_missing_replaces_a_wrong_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_video(tmp_path / "a.mp4", 3, (96, 64))
    monkeypatch.chdir(tmp_path)
    for clock, expected in (("2026-11-01 08:30+02:00", "2026-11-01T08:30:00.000+02:00"), ("metadata", ""), ("name", "")):
        run = run_main("detect", "a.mp4", *FAST, "--format", "csv", "--quiet", "--clock", clock)
        assert run.status == 0, run.err
        assert pd.read_csv(tmp_path / "detections" / "files.csv", keep_default_na=False).clock[0] == expected


@pytest.mark.parametrize("part", [("--from", "1s"), ("--from", "25"), ("--from", "0:01", "--every", "10")])
def test_a_part_of_a_video_has_the_same_clock_times_as_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: tuple[str]) -> None:
    make_video(tmp_path / "a.ts", 50, (96, 64), rate=25, pts=range(900_000, 900_050))
    monkeypatch.chdir(tmp_path)
    options = ("--clock", "2026-11-01 08:00+00:00", "--format", "jsonl", "--quiet", "--restart")
    assert run_main("detect", "a.ts", *FAST, *options, *part).status == 0
    (first, *_) = read_lines(tmp_path / "detections" / "a.jsonl")
    assert (first["frame"], first["clock"]) == (25, "2026-11-01T08:00:01.000+00:00")


def test_an_annotated_video_states_when_it_begins(tmp_path: Path) -> None:
    """Players and ``--clock metadata`` read it. MP4 stores whole seconds."""
    make_video(tmp_path / "a.mp4", 10, (96, 64), rate=5)
    options = ("--clock", "2026-11-01 08:00+01:00", "--format", "video", "--out", tmp_path / "out")
    assert run_main("detect", tmp_path / "a.mp4", *FAST, *options, "--quiet").status == 0
    for part, start in (((), "07:00:00"), (("--from", "1s", "--confidence", "0.5"), "07:00:01"), (("--clock", "name"), None)):
        run = run_main("results", tmp_path / "out", "--format", "video", *part, "--quiet")
        assert run.status == 0, run.err
        assert probe(tmp_path / "out" / "a.annotated.mp4").created == (start and f"2026-11-01T{start}.000000Z")
