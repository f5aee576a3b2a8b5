from __future__ import annotations

import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from framefleet.app.main import main
from framefleet.engine.media.live.messages import RecordedFile
from framefleet.engine.media.sources import Stamp
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import UsageError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.corrections import Corrections, OneDetection
from framefleet.engine.store.export import export_session
from framefleet.engine.store.facts import LiveChange, LiveRecord, RecordedFiles
from framefleet.engine.store.merge import merge_sessions
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import has_current_tracks, track_session
from framefleet.engine.types import AS_ASKED, DeviceId, EngineInfo
from tests.support.notices import words
from tests.support.store import CPU, LABELS, make_frame, video_info, write_session


def stored(path: Path) -> list[tuple[str, int, bool]]:
    with SessionReader(path) as reader:
        return [(source.path, reader.count(source.number), source.complete) for source in reader.sources()]


def session(path: Path, device: DeviceId, *names: str) -> Path:
    with SessionWriter(path, LABELS, {"folder": str(path.parent)}) as writer:
        for number, name in enumerate(names):
            writer.add_source(number, name, video_info(name, 3))
            writer.add_frames(
                replace(make_frame(number, index, failure="bad" if index == 1 else None), device=device) for index in range(3)
            )
            writer.finish_source(number, name, Ledger(3, 2, {}, {words("bad"): 1}), 1.5)
    return path


def test_sessions_of_two_machines_become_one(tmp_path: Path) -> None:
    gpu = DeviceId("cuda", "0")
    one, two = session(tmp_path / "1" / "s.sqlite", CPU, "a.mp4", "b.mp4"), session(tmp_path / "2" / "s.sqlite", gpu, "b.mp4", "c.mp4")
    merged = merge_sessions([one, two], tmp_path / "both" / "session.sqlite")
    assert (merged.sources, merged.left_out) == (4, ())
    names = [str(tmp_path / name) for name in ("1/a.mp4", "1/b.mp4", "2/b.mp4", "2/c.mp4")]
    assert stored(tmp_path / "both" / "session.sqlite") == [(name, 3, True) for name in names]
    with SessionReader(tmp_path / "both" / "session.sqlite") as reader:
        assert reader.sources()[2].ledger == Ledger(3, 2, {}, {words("bad"): 1})
        assert [frame.device for frame in reader.frames(1)] == [CPU] * 3
        assert [frame.device for frame in reader.frames(2)] == [gpu] * 3
        written = export_session(reader, tmp_path / "out", ["jsonl"])
        assert [item.path.name for item in written] == ["a.jsonl", "b.jsonl", "b-2.jsonl", "c.jsonl"]
    with SessionReader(two) as reader:
        (alone, *_) = [item.path.read_bytes() for item in export_session(reader, tmp_path / "alone", ["jsonl"])]
    assert (tmp_path / "out" / "b-2.jsonl").read_bytes().replace(b'"2/b.mp4"', b'"b.mp4"') == alone


def test_what_a_camera_showed_at_two_times_is_kept_with_its_changes_and_recordings(tmp_path: Path) -> None:
    address = "rtsp://cam/1"
    paths = []
    for name in ("monday", "tuesday"):
        changes = LiveRecord(address, (LiveChange(1.5, "running", words(name)),))
        files = RecordedFiles((RecordedFile(f"/videos/{name}.mkv", "2026-11-23T08:00:00+01:00", 0.0, 60.0, 5),))
        facts = {"folder": str(tmp_path / name), LiveRecord.key(0): changes.text(), RecordedFiles.key(0): files.text()}
        with SessionWriter(tmp_path / name / "s.sqlite", LABELS, facts) as writer:
            writer.add_source(0, address, replace(video_info(address, 0), kind=SourceKind.LIVE))
            writer.add_frames(make_frame(0, index) for index in range(3))
            writer.finish_source(0, address, Ledger(3, 3, received=3), 1.5)
        paths.append(tmp_path / name / "s.sqlite")
    merged = merge_sessions(paths, tmp_path / "week" / "session.sqlite")
    assert (merged.sources, merged.left_out) == (2, ())
    assert stored(tmp_path / "week" / "session.sqlite") == [(address, 3, True)] * 2
    with SessionReader(tmp_path / "week" / "session.sqlite") as reader:
        for number, name in enumerate(("monday", "tuesday")):
            assert LiveRecord.read(reader.facts[LiveRecord.key(number)]).changes[0].reason == words(name)
            assert [file.path for file in RecordedFiles.of(reader.facts, number).files] == [f"/videos/{name}.mkv"]


def test_the_most_complete_results_of_a_source_are_taken(tmp_path: Path) -> None:
    first = write_session(tmp_path / "1.sqlite", {"/v/a.mp4": 5, "/v/b.mp4": 2}, cancelled=True)
    second = write_session(tmp_path / "2.sqlite", {"/v/a.mp4": 4, "/v/b.mp4": 4})
    merged = merge_sessions([first, second], tmp_path / "m.sqlite")
    assert stored(tmp_path / "m.sqlite") == [("/v/a.mp4", 4, True), ("/v/b.mp4", 4, True)]
    assert merged.left_out == ((Path("/v/a.mp4"), second, False), (Path("/v/b.mp4"), second, False))


def test_files_with_one_path_and_different_content_are_all_kept(tmp_path: Path) -> None:
    """The third session has the content of the first one and more frames. The fourth could not read the file."""
    paths = [tmp_path / f"{number}.sqlite" for number in range(4)]
    for path, content, frames in zip(paths, ("one", "two", "one", None), (2, 3, 5, 1), strict=True):
        with SessionWriter(path, LABELS, {}) as writer:
            writer.add_source(0, "/v/a.mp4", video_info("a.mp4", frames), content and Stamp(7, 1, content))
            writer.add_frames(make_frame(0, index) for index in range(frames))
            writer.finish_source(0, "/v/a.mp4", Ledger(frames, frames), 1.5)
    merged = merge_sessions(paths, tmp_path / "m.sqlite")
    assert stored(tmp_path / "m.sqlite") == [("/v/a.mp4", 5, True), ("/v/a.mp4", 3, True)]
    assert merged.left_out == ((Path("/v/a.mp4"), paths[2], False),) * 2
    (note,) = merged.notes
    assert str(note).startswith(f"/v/a.mp4 had different content in the runs of {paths[0]}, {paths[1]}:")
    with SessionReader(tmp_path / "m.sqlite") as reader:
        written = export_session(reader, tmp_path / "out", ["jsonl"])
    assert [(item.path.name, len(item.path.read_text().splitlines())) for item in written] == [("a.jsonl", 5), ("a-2.jsonl", 3)]


@pytest.mark.parametrize("better", ["tracks", "corrections"])
def test_of_equal_results_those_with_tracks_or_corrections_are_taken(tmp_path: Path, better: str) -> None:
    first, second = (write_session(tmp_path / f"{number}.sqlite", {"/v/a.mp4": 10}) for number in (1, 2))
    if better == "tracks":
        track_session(second)
    else:
        with Corrections(second) as corrections:
            corrections.delete(OneDetection(0, 3, 0))
        track_session(first)
    merged = merge_sessions([first, second], tmp_path / "m.sqlite")
    assert merged.left_out == ((Path("/v/a.mp4"), second, False),)
    with SessionReader(tmp_path / "m.sqlite") as reader:
        assert (bool(reader.tracks(0)), reader.corrected) == (better == "tracks", better == "corrections")


def test_corrections_that_are_left_out_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (write_session(tmp_path / f"{number}.sqlite", {"/v/a.mp4": 10 * number}) for number in (1, 2))
    with Corrections(first) as corrections:
        corrections.delete(OneDetection(0, 3, 0))
    assert main(["merge", str(first), str(second), "--out", str(tmp_path / "m")]) == 0
    assert f"/v/a.mp4: {second} holds the most complete results" in (said := capsys.readouterr().err)
    assert "with the corrections in them" in said
    assert main(["merge", str(second), str(write_session(tmp_path / "3.sqlite", {"/v/a.mp4": 5})), "--out", str(tmp_path / "m")]) == 0
    assert "with the corrections" not in capsys.readouterr().err


def test_different_precisions_are_named(tmp_path: Path) -> None:
    paths = [tmp_path / f"{precision}.sqlite" for precision in ("fp32", "fp16", "again")]
    for path, precision in zip(paths, ("fp32", "fp16", "fp16"), strict=True):
        with SessionWriter(path, LABELS, {}) as writer:
            writer.add_device(EngineInfo(CPU, "a processor", "OpenVINO", precision, AS_ASKED, 320, 320, 1, 1))
            writer.add_source(0, f"/v/{path.stem}.mp4", video_info(path.stem, 1))
            writer.add_frames([make_frame(0, 0)])
    (note,) = merge_sessions(paths, tmp_path / "m.sqlite").notes
    assert "their precisions differ (fp16, fp32)" in str(note)
    assert merge_sessions(paths[1:], tmp_path / "n.sqlite").notes == ()


def test_more_sessions_are_joined_than_files_may_be_open(tmp_path: Path) -> None:
    paths = [write_session(tmp_path / f"{number}.sqlite", {f"/v/{number}.mp4": 1}) for number in range(40)]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len([*Path("/proc/self/fd").iterdir()])
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 30, hard))
    try:
        assert merge_sessions(paths, tmp_path / "all.sqlite").sources == 40
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_sessions_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    for number, (labels, facts) in enumerate(
        ((LABELS, {"confidence": "0.25"}), (LABELS, {"confidence": "0.5"}), (LABELS[:2], {"confidence": "0.25"}))
    ):
        SessionWriter(tmp_path / f"{number}.sqlite", labels, facts).close(complete=True)
    first, other, labels_differ = (tmp_path / f"{number}.sqlite" for number in range(3))
    with pytest.raises(UsageError, match="differ in confidence"):
        merge_sessions([first, other], tmp_path / "m.sqlite")
    with pytest.raises(UsageError, match="differ in labels"):
        merge_sessions([first, labels_differ], tmp_path / "m.sqlite")
    with pytest.raises(UsageError, match="one of the sessions"):
        merge_sessions([first], first)
    assert not (tmp_path / "m.sqlite").exists()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        write_session(tmp_path / name / "session.sqlite", {f"/v/{name}.mp4": 2})
    assert main(["merge", str(tmp_path / "one"), str(tmp_path / "two" / "session.sqlite"), "--out", str(tmp_path / "m")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'm' / 'session.sqlite'}: 2 sources\n"
    assert main(["merge", str(tmp_path / "one"), "--out", str(tmp_path / "m")]) == 0
    assert capsys.readouterr().err == f"framefleet: the earlier results are kept in {tmp_path / 'm' / 'session.previous.sqlite'}\n"
    half = write_session(tmp_path / "half.sqlite", {"/v/half.mp4": 2}, cancelled=True)
    assert main(["merge", str(tmp_path / "one"), str(half), "--out", str(tmp_path / "n")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'n' / 'session.sqlite'}: 2 sources, 1 of them incomplete\n"
    assert main(["merge", str(tmp_path / "none")]) == 2
    assert "there is no" in capsys.readouterr().err


def test_tracks_and_corrections_go_along(tmp_path: Path) -> None:
    first = write_session(tmp_path / "first.sqlite", {"a.mp4": 5})
    second = write_session(tmp_path / "second.sqlite", {"b.mp4": 5})
    track_session(second)
    with Corrections(second) as corrections:
        corrections.delete(OneDetection(0, 3, 1))
    merge_sessions([first, second], tmp_path / "both.sqlite")
    assert has_current_tracks(tmp_path / "both.sqlite", 1)
    with SessionReader(tmp_path / "both.sqlite") as reader:
        assert [len(frame.detections) for number in range(2) for frame in reader.frames(number)] == [2] * 8 + [1, 2]
        assert [len(reader.tracks(number)) for number in range(2)] == [0, 1]


@pytest.mark.parametrize("moment", ["_copy", "replace_session"])
def test_a_merge_that_is_killed_leaves_the_earlier_session_and_no_other(tmp_path: Path, moment: str) -> None:
    """moment: the step of the merge in which its process is killed."""
    first = write_session(tmp_path / "1.sqlite", {"/v/a.mp4": 5, "/v/b.mp4": 4})
    target = write_session(tmp_path / "out" / "session.sqlite", {"/v/c.mp4": 3})
    program = (
        "import os, signal, sys; from pathlib import Path; from framefleet.engine.store import merge;"
        f" made = merge.{moment}; first = {moment!r} == '_copy';"
        f" merge.{moment} = lambda *a: (made(*a) if first else 0, os.kill(os.getpid(), signal.SIGKILL));"
        " merge.merge_sessions([Path(sys.argv[1])], Path(sys.argv[2]))"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(first), str(target)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert stored(target) == [("/v/c.mp4", 3, True)]
    assert [path.name for path in target.parent.glob("*.sqlite")] == ["session.sqlite"]
    merged = merge_sessions([first], target)
    assert (merged.sources, stored(target)) == (2, [("/v/a.mp4", 5, True), ("/v/b.mp4", 4, True)])
    assert stored(target.with_name("session.previous.sqlite")) == [("/v/c.mp4", 3, True)]
    assert not [*target.parent.glob(".*.part*")]


def test_an_unfinished_session_that_the_merged_one_covers_is_replaced(tmp_path: Path) -> None:
    first = write_session(tmp_path / "1.sqlite", {"/v/a.mp4": 5})
    target = write_session(tmp_path / "out" / "session.sqlite", {"/v/a.mp4": 3}, cancelled=True)
    assert merge_sessions([first], target).notes == ()
    assert [path.name for path in target.parent.glob("*.sqlite")] == ["session.sqlite"]
