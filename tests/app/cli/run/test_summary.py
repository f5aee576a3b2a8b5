"""The last line after several files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from framefleet.app.cli.sessions import MAX_LINES, Summary, counts_lines, in_words, print_exported
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import UsageError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.export import Exported
from framefleet.engine.store.exporters.options import Least, view_options
from framefleet.engine.store.session import SessionReader, SessionWriter
from tests.support.cli import FAST, run_main
from tests.support.media import make_video
from tests.support.notices import words
from tests.support.store import LABELS, make_frame, video_info, write_session


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Two videos, one with objects in a single frame only; a folder of three pictures, one damaged; and a file that is no video."""
    path = tmp_path / "s.sqlite"
    with SessionWriter(path, LABELS, {}) as writer:
        for number, boxes in enumerate((2, 0)):
            writer.add_source(number, f"{number}.mp4", video_info("", 10))
            writer.add_frames(make_frame(number, index, 1 if index == 9 else boxes) for index in range(10))
            writer.finish_source(number, f"{number}.mp4", Ledger(10, 10), 1.0)
        writer.add_source(2, "trap", SourceInfo("trap", SourceKind.IMAGES, "jpeg", 640, 480, 3, None, None, ()))
        pictures = [make_frame(2, 0, 1, "a.jpg"), make_frame(2, 25, 0, "b.jpg"), make_frame(2, 50, name="c.jpg", failure="no picture")]
        writer.add_frames(pictures)
        writer.finish_source(2, "trap", Ledger(3, 2, {}, {words("no picture"): 1}), 1.0)
        writer.finish_source(3, "broken.mp4", Ledger(), 0.0, words("broken.mp4 is no video"))
    return path


def test_the_line_counts_empty_and_failed_files(session: Path) -> None:
    with SessionReader(session) as reader:
        assert Summary(reader, Least()).line() == "6 files: 1 empty, 3 with objects, 2 failed (trap/c.jpg, broken.mp4); 22 frames"
        least = Summary(reader, Least(2)).line(seconds=1264)
        assert least == "6 files: 2 empty, 2 with objects, 2 failed (trap/c.jpg, broken.mp4); 22 frames in 21 min 4 s"
        assert Summary(reader, Least(), [0, 1]).line(2.0, 12) == "2 files: 0 empty, 2 with objects; 20 frames, 8 of them new, in 2.0 s"
        assert Summary(reader, Least(), [0]).line() == Summary(reader, Least(), [3]).line() == ""


def test_each_file_says_what_was_found_in_it(session: Path) -> None:
    with SessionReader(session) as reader:
        found = Summary(reader, Least()).found
        assert found == {0: "person in 10 frames, bicycle in 9", 1: "person in 1 frame", 2: "person in 1 picture", 3: ""}
        assert Summary(reader, Least(2)).found[1] == "empty"


def test_a_stopped_file_is_not_called_empty(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 2, "b.mp4": 2}, boxes=0, cancelled=True)
    with SessionReader(path) as reader:
        summary = Summary(reader, Least())
        assert summary.line() == "2 files: 0 empty, 2 incomplete; 4 frames"
        assert summary.found == {0: "", 1: ""}


def test_a_video_that_ended_with_an_error_is_not_called_empty_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with SessionWriter(path, LABELS, {}) as writer:
        for number, (name, boxes) in enumerate((("a.mp4", 0), ("b.mp4", 1), ("c.mp4", 1))):
            error = None if name == "c.mp4" else f"{name} was removed while it was read"
            writer.add_source(number, name, video_info("", 5))
            writer.add_frames(make_frame(number, index, boxes) for index in range(5))
            writer.finish_source(number, name, Ledger(5, 5), 1.0, error and words(error))
    with SessionReader(path) as reader:
        summary = Summary(reader, Least())
    assert summary.line() == "3 files: 0 empty, 2 with objects, 1 failed (a.mp4); errors in 1 other (b.mp4); 15 frames"
    assert summary.found[0] == ""


def test_a_file_without_frames_in_the_part_was_not_stopped(session: Path, tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 50, "b.mp4": 25})
    run = run_main("results", path, "--from", "1s", "--out", tmp_path / "out")
    assert run.out.splitlines()[-1] == "2 files: 0 empty, 1 with objects, 1 without frames; 25 frames"


def test_results_of_several_files_end_with_the_line(session: Path, tmp_path: Path) -> None:
    run = run_main("results", session, "--out", tmp_path / "out", "--least-seen", "2")
    assert run.out.splitlines()[-1] == "6 files: 2 empty, 2 with objects, 2 failed (trap/c.jpg, broken.mp4); 22 frames"
    assert run_main("results", session, "--out", tmp_path / "one", "--source", "0.mp4").out == f"{tmp_path / 'one' / '0.jsonl'}\n"


def test_results_have_the_least_length_and_the_interval_of_the_run(tmp_path: Path) -> None:
    """A later command without an option takes what the run was given; a run that goes on without it keeps it."""
    for number in range(3):
        make_video(tmp_path / f"{number}.mp4", 10 * (number + 1), (96, 64), rate=10)
    out = tmp_path / "out"
    command = ("detect", *(tmp_path / f"{number}.mp4" for number in range(3)), *FAST, "--confidence", "0.4", "--out", out)

    def view(*words: str | Path) -> tuple[str, bytes, bytes]:
        run = run_main(*words, "--format", "csv")
        assert run.status == 0, run.err
        return run.out.splitlines()[-1].partition(";")[0], (out / "files.csv").read_bytes(), (out / "counts.csv").read_bytes()

    plain = view(*command)
    asked = view(*command, "--restart", "--least-seen", "13", "--interval", "1s")
    assert plain[0] == "3 files: 0 empty, 3 with objects"
    assert asked[0] == "3 files: 2 empty, 1 with objects"
    assert view("results", out) == asked
    assert view(*command) == asked
    assert view("results", out, "--least-seen", "1", "--interval", "15m") == plain
    assert view("results", out) == asked, "a view changes nothing"
    view(*command, "--least-seen", "0.5s")
    with SessionReader(out / "session.sqlite") as reader:
        assert (reader.facts["least_seen"], reader.facts["interval"]) == ("0.5s", "1s")


def test_results_have_the_formats_options_of_the_run(tmp_path: Path) -> None:
    """All options of formats, in other files; each can be taken back."""
    make_video(tmp_path / "a.mp4", 6, (96, 64), rate=10)
    make_video(tmp_path / "b.mp4", 3, (96, 64), rate=10)
    options = ("--bom", "--one-table", "--pictures", "png", "--between", "0.1,0.9")
    formats = ("--format", "csv,parquet,yolo")
    command = ("detect", tmp_path / "a.mp4", tmp_path / "b.mp4", *FAST, *formats)

    def written(folder: Path, *words: str | Path) -> dict[str, bytes]:
        run = run_main(*words, "--out", folder)
        assert run.status == 0, run.err
        paths = [path for path in folder.rglob("*") if path.suffix in (".csv", ".txt", ".png")]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}

    plain = written(tmp_path / "plain", *command)
    asked = written(tmp_path / "asked", *command, *options)
    assert {"detections.csv"} == {name for name in asked if name.endswith("detections.csv")}
    assert asked["files.csv"] == b"\xef\xbb\xbf" + plain["files.csv"]
    assert any(name.endswith(".png") for name in asked)
    results = ("results", tmp_path / "asked", *formats)
    assert written(tmp_path / "again", *results) == asked
    back = ("--no-bom", "--no-one-table", "--pictures", "none", "--between", "none")
    assert written(tmp_path / "back", *results, *back) == plain
    run = run_main("results", tmp_path / "asked", "--no-bom")
    assert "--no-bom is for --format csv" in run.err
    run = run_main("results", tmp_path / "asked", "--format", "yolo", "--pictures", "gif")
    assert "invalid choice" in run.err
    with pytest.raises(UsageError, match="'gif' is not a format of pictures: write jpeg, png or none"):
        view_options({"pictures": "gif"})  # by another program


def test_long_durations_have_hours() -> None:
    assert (in_words(59.4), in_words(59.96), in_words(7320)) == ("59.4 s", "1 min 0 s", "2 h 2 min")


def test_many_files_without_a_problem_share_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    files = [Exported(Path("out", f"{number}.jsonl"), 5, number != 3) for number in range(MAX_LINES + 1)]
    print_exported(files, verbose=False)
    stopped = f"{files[3].path} (incomplete: 5 frames)"
    assert capsys.readouterr().out.splitlines() == [stopped, f"{len(files)} files in out"]
    print_exported(files, verbose=True)
    assert len(capsys.readouterr().out.splitlines()) == len(files)
    print_exported(files[:MAX_LINES], verbose=False)
    assert len(capsys.readouterr().out.splitlines()) == MAX_LINES


def test_totals_of_lines_come_first_and_stand_alone_for_many_files() -> None:
    counts = [{"line": "gate", "forward": 2, "backward": 1}, {"zone": "walk", "visits": 2, "entered": 1, "seconds": 5.0}]
    pictures = {"pictures": 2, "counts": [{"zone": "walk", "objects": 4, "most": 3}]}
    videos = [{"path": f"{number}.mp4", "counts": counts} for number in range(3)]
    wrong = {"path": "odd.mp4", "counts": [], "error": "another shape"}

    def shown(counted: list[dict[str, Any]], verbose: bool = False) -> list[str]:
        return "\n".join(counts_lines(counted, verbose)).splitlines()

    lines = shown([*videos, pictures | {"path": "yard"}, wrong])
    assert lines[0] == "all 3 videos:"
    assert [line.split() for line in lines[1:5]] == [
        ["line", "forward", "backward"],
        ["gate", "6", "3"],
        ["zone", "visits", "entered", "seconds", "each"],
        ["walk", "6", "3", "2.5"],
    ]
    assert "0.mp4:" in lines
    assert "yard:" in lines
    many = shown([*videos * MAX_LINES, wrong])
    assert (many[0], len(many), many[-1]) == ("all 60 videos:", 6, "odd.mp4: another shape")
    assert "0.mp4:" in shown(videos * MAX_LINES, verbose=True)
