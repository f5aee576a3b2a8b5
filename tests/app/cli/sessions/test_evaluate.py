"""``framefleet evaluate``, and every command of its guide."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.model.describe import describe
from framefleet.engine.model.random_weights import random_weights
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.exporters.pictures import picture_name
from framefleet.engine.store.session import SessionWriter
from tests.engine.evaluation.test_truth import coco, cvat, yolo
from tests.support.cli import run_main
from tests.support.guide import GUIDE, blocks, commands
from tests.support.models import TINY_CFG
from tests.support.notices import words
from tests.support.paths import PROJECT
from tests.support.store import LABELS, make_frame, video_info, write_session
from tools.darknet_weights import write_weights

CLIP = PROJECT / "tests/goldens/street.mp4"
FRAMES = 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with two sessions of one video and its truth in every form."""
    monkeypatch.chdir(tmp_path)
    for name, frames in (("old", FRAMES), ("new", FRAMES)):
        (tmp_path / name).mkdir()
        write_session(tmp_path / name / "session.sqlite", {"street.mp4": frames}, boxes=2 if name == "old" else 1)
    (tmp_path / "truth.json").write_text(json.dumps(coco([None] * FRAMES)))
    cvat(tmp_path / "task.xml", FRAMES)
    yolo(tmp_path / "labels", [picture_name(index / 25) for index in range(FRAMES)])
    return tmp_path


def test_two_sessions_side_by_side(folder: Path) -> None:
    done = run_main("evaluate", "old", "new", "--truth", "truth.json", "--out", "report", "--json")
    assert done.status == 0, done.err
    old, new = done.report["sessions"]
    assert (old["name"], old["map50"], old["recall"]) == ("old", pytest.approx(1), 1)
    assert (new["name"], new["map50"], new["recall"]) == ("new", pytest.approx(0.5), 0.5)
    assert new["difference50"] == {"share": 0.95, "low": pytest.approx(-0.5), "high": pytest.approx(-0.5)}
    assert (new["files"][0]["missed"], new["classes"][1]["ap50"]) == (FRAMES, 0)
    assert {path.name for path in Path("report").iterdir()} == {Path(path).name for path in done.report["written"]}
    data = json.loads(Path("report/evaluation.json").read_text())
    assert len(data["sessions"][1]["classes"][0]["curve"]["f1"]) == 101
    worst = json.loads(Path("report/worst-frames.json").read_text())["sessions"]
    assert worst["old"] == []
    assert [frame["frame"] for frame in worst["new"]] == [*range(FRAMES)]
    assert worst["new"][1] | {"file": ""} == {
        "source": "street.mp4",
        "file": "",
        "frame": 1,
        "time": 0.04,
        "objects": 2,
        "missed": 1,
        "wrong": 0,
    }
    report = Path("report/evaluation.md").read_text()
    assert "| mAP@0.5 | 100.0% (91.7 to 100.0) | 50.0% (41.7 to 58.3); difference -50.0 (-50.0 to -50.0) |" in report
    assert (
        f"|  | person | bicycle | nothing |\n| --- | --- | --- | --- |\n| person | {FRAMES} |  |  |\n| bicycle |  |  | {FRAMES} |" in report
    )
    assert report.count("| 0.25 | 100.0% | ") == 2


def test_worst_frames_of_a_folder_are_named_by_their_pictures(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    with SessionWriter(tmp_path / "s" / "session.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "trap/", SourceInfo("trap/", SourceKind.IMAGES, "jpeg", 640, 480, 2, None, None, ()))
        pictures = (make_frame(0, index, 1, name=f"{index}.jpg") for index in range(2))
        writer.add_frames(replace(frame, ref=frame.ref._replace(pts=float(frame.ref.index))) for frame in pictures)
    (tmp_path / "truth.json").write_text(json.dumps(coco(["0.jpg", "1.jpg"])))
    done = run_main("evaluate", tmp_path / "s", "--truth", tmp_path / "truth.json", "--out", tmp_path / "report")
    assert done.status == 0, done.err
    (session,) = json.loads((tmp_path / "report" / "worst-frames.json").read_text())["sessions"].values()
    assert [(each["source"], each["picture"], each["frame"]) for each in session] == [("trap/", "0.jpg", 0), ("trap/", "1.jpg", 1)]
    report = (tmp_path / "report" / "evaluation.md").read_text()
    assert "| trap/0.jpg | 0 |  |" in report
    assert "| trap/1.jpg | 1 |  |" in report


def test_the_guide_shows_what_the_command_prints(folder: Path) -> None:
    (shown,) = (content for _, content in blocks(GUIDE / "evaluate.md") if " objects in " in content)
    done = run_main("evaluate", "old", "new", "--truth", "truth.json", "--out", "report")
    assert words_of(done.out) == words_of(shown)


def words_of(text: str) -> list[str]:
    """The lines of a report, with the same text in place of all numbers."""
    return [re.sub(r"[+-]?\d[\d,.]*%?", "#", " ".join(line.split())) for line in text.splitlines()]


def test_the_table_says_what_limits_it(folder: Path) -> None:
    write_session(folder / "third.sqlite", {"street.mp4": 5})
    done = run_main("evaluate", "third.sqlite", "--truth", "truth.json", "--common")
    assert done.status == 0
    assert re.search(r"mAP@0\.5 +100\.0%\n", done.out)
    assert "15 pictures are left out, because not all sessions have them." in done.out
    assert "There are too few pictures to say how certain the results are." in done.out


def test_failed_frames_and_left_out_weak_detections_are_said(folder: Path) -> None:
    with SessionWriter(folder / "weak.sqlite", LABELS, {"confidence": "0.25"}) as writer:
        writer.add_source(0, "street.mp4", video_info("", FRAMES))
        writer.add_frames(make_frame(0, index, failure="damaged" if index < 2 else None) for index in range(FRAMES))
        writer.finish_source(0, "street.mp4", Ledger(FRAMES, FRAMES - 2, {}, {words("damaged"): 2}), 1.0)
    done = run_main("evaluate", "weak.sqlite", "--truth", "truth.json")
    assert done.status == 0
    assert "weak holds only detections of a confidence of 0.25 and more: its mAP is lower than the model's." in done.out
    assert "weak: 2 frames failed. They count as frames without detections." in done.out
    assert "failed" not in run_main("evaluate", "old", "--truth", "truth.json").out


def test_corrections_are_said_not_to_count(folder: Path) -> None:
    write_session(folder / "mine.sqlite", {"street.mp4": FRAMES})
    before = run_main("evaluate", "mine.sqlite", "--truth", "truth.json", "--quiet")
    assert run_main("correct", "mine.sqlite", "delete", "--frame", "3", "--object", "0").status == 0
    after = run_main("evaluate", "mine.sqlite", "--truth", "truth.json", "--quiet", "--out", "report")
    says = "mine was corrected by hand. The model's own detections are measured, not the corrected ones.\n"
    assert (before.err, after.err) == ("", "")
    assert after.out.replace(says, "").partition("\nwritten:")[0] == before.out
    assert says in after.out
    assert says in (folder / "report" / "evaluation.md").read_text()
    as_json = run_main("evaluate", "mine.sqlite", "--truth", "truth.json", "--quiet", "--json")
    assert as_json.err == f"framefleet: {says}"


def test_only_some_classes(folder: Path) -> None:
    done = run_main("evaluate", "old", "new", "--truth", "truth.json", "--classes", "person", "--json")
    assert done.status == 0, done.err
    assert [(each["map50"], each["recall"]) for each in done.report["sessions"]] == [(pytest.approx(1), 1)] * 2
    assert (done.report["classes_counted"], done.report["objects"]) == (["person"], FRAMES)
    assert "Only these classes are counted: person." in run_main("evaluate", "old", "--truth", "truth.json", "--classes", "person").out


def test_undefined_results_are_a_dash_and_null(folder: Path) -> None:
    (folder / "empty.json").write_text(json.dumps(coco([None] * FRAMES) | {"annotations": []}))
    done = run_main("evaluate", "old", "new", "--truth", "empty.json", "--out", "report", "--json")
    assert done.status == 0, done.err
    assert [done.report["sessions"][0][name] for name in ("map50", "recall", "f1", "interval50")] == [None] * 4
    assert json.loads(Path("report/evaluation.json").read_text())["sessions"][1]["curve"]["f1"] == [None] * 101
    assert "| mAP@0.5 | – | – |" in Path("report/evaluation.md").read_text()


def test_labels_are_no_html_in_the_report(folder: Path) -> None:
    labels = ("<img src=x onerror=alert(1)>", "[a](javascript:b)|c", "two\nlines")
    with SessionWriter(folder / "odd.sqlite", labels, {}) as writer:
        writer.add_source(0, "street.mp4", video_info("street.mp4", 3))
        writer.add_frames(make_frame(0, index, boxes=3) for index in range(3))
        writer.finish_source(0, "street.mp4", Ledger(3, 3), 1.0)
    data = coco([None] * 3)
    for category, label in zip(data["categories"], labels, strict=True):
        category["name"] = label
    (folder / "odd.json").write_text(json.dumps(data))
    done = run_main("evaluate", "odd.sqlite", "--truth", "odd.json", "--out", "report", "--names", "<b>odd</b>")
    assert done.status == 0, done.err
    report = (folder / "report" / "evaluation.md").read_text()
    assert not re.search(r"<(img|b)", report)
    assert r"| &lt;img src=x onerror=alert(1)&gt; | 3 |" in report
    assert r"\[a\](javascript:b)\|c" in report
    assert report.count("## &lt;b&gt;odd&lt;/b&gt;") == 1


def test_what_cannot_be_done_is_said(folder: Path) -> None:
    for arguments, says in (
        (("missing", "--truth", "truth.json"), "there is no missing: give the folder"),
        (("old", "--truth", "missing.json"), "missing.json does not exist"),
        (("old", "old", "--truth", "truth.json"), "a session is given twice"),
        (("old", "new", "--truth", "truth.json", "--names", "a"), "--names has 1 name for 2 sessions"),
        (("old", "--truth", "truth.json", "--names", "a,b"), "--names has 2 names for 1 session\n"),
        (("old", "--truth", "truth.json", "--map", "person"), "is not a list of labels"),
        (("old", "--truth", "truth.json", "--map", "person=dog"), "objects with the labels 'person'"),
    ):
        done = run_main("evaluate", *arguments)
        assert (done.status, says in done.err) == (2, True), done.err


def test_the_report_never_replaces_an_input(folder: Path) -> None:
    (folder / "evaluation.json").write_bytes((folder / "truth.json").read_bytes())
    done = run_main("evaluate", "old", "--truth", "evaluation.json", "--out", ".")
    assert done.status == 2
    assert "would be overwritten" in done.err
    assert json.loads((folder / "evaluation.json").read_text())["images"]
    assert not (folder / "evaluation.md").exists()


@pytest.mark.slow  # a page of the guide
def test_every_command_of_the_guide(folder: Path, subtests: pytest.Subtests) -> None:
    examples = [words for words in commands(GUIDE / "evaluate.md") if words[0] in ("detect", "evaluate")]  # another one opens the window
    assert len(examples) == 7
    shutil.copy(CLIP, folder / "street.mp4")
    for number, name in enumerate(("old", "new")):
        shutil.copy(TINY_CFG, folder / f"{name}.cfg")
        write_weights(folder / f"{name}.weights", random_weights(describe(TINY_CFG), f"random:{number}"))
        (folder / f"{name}.names").write_text("person\nbicycle\ncar\n")
    detected = 0
    for arguments in examples:
        if arguments[0] == "detect":
            arguments += ["--devices", "cpu:0", "--precision", "fp32", "--out", f"detected-{detected}"]
            detected += 1
        with subtests.test(" ".join(arguments)):
            done = run_main(*arguments)
            assert done.status == 0, done.err
    assert json.loads((folder / "report" / "evaluation.json").read_text())["pictures"] == FRAMES
    name = "street.mp4#{}"
    (folder / "street.json").write_text(json.dumps(coco([name.format(index) for index in range(3)], width=None)))
    done = run_main("evaluate", "detected-0", "detected-1", "--truth", "street.json", "--json")
    assert done.status == 0, done.err
    assert done.report["pictures"] == 3


def test_corrected_results_as_truth_take_the_way_that_the_message_names(folder: Path) -> None:
    write_session(folder / "own" / "session.sqlite", {"street.mp4": FRAMES})
    assert run_main("correct", "own", "delete", "--frame", "3", "--object", "0").status == 0
    for truth in ("own", "own/session.sqlite"):
        refused = run_main("evaluate", "own", "--truth", truth)
        assert refused.status == 2
        assert f"{truth} is a session, not a truth: correct it" in refused.err
        assert f"'framefleet results {truth} --format coco'" in refused.err
    assert run_main("results", "own", "--format", "coco").status == 0
    done = run_main("evaluate", "own", "--truth", "own/street.coco.json", "--json", "--quiet")
    assert done.status == 0, done.err
