from __future__ import annotations

import cProfile
import json
import os
import pstats
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from pycocotools.coco import COCO

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import ExportError, UsageError, literal
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.export import export_session, file_stems, stage
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.exporters.base import STAGE
from framefleet.engine.store.session import SessionReader, SessionWriter
from tests.support.faults.counts import others_slow
from tests.support.notices import words
from tests.support.paths import PROJECT
from tests.support.store import LABELS, make_frame, video_info, write_session


def export(session: Path, folder: Path, *formats: str) -> list[str]:
    with SessionReader(session) as reader:
        return [item.path.name for item in export_session(reader, folder, formats or ("jsonl",))]


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_jsonl_is_exactly_the_contract(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.sqlite", {"videos/a.mp4": 13})
    assert export(session, tmp_path / "out") == ["a.jsonl"]
    written = lines(tmp_path / "out" / "a.jsonl")
    assert written[12] == {
        "source": "a.mp4",
        "frame": 12,
        "pts": 0.48,
        "device": "cpu:0",
        "detections": [
            {"class_id": 0, "label": "person", "confidence": 0.9, "box": [12.0, 0.0, 10.5, 20.25]},
            {"class_id": 1, "label": "bicycle", "confidence": 0.8, "box": [13.0, 1.0, 10.5, 20.25]},
        ],
    }
    assert list(written[12]) == ["source", "frame", "pts", "device", "detections"]
    assert [line["frame"] for line in written] == list(range(13))


def test_empty_and_failed_frames_and_pictures_are_included(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 3))
        writer.add_frames([make_frame(0, 0, boxes=0), make_frame(0, 1, failure="corrupt at 0.04 s"), make_frame(0, 2)])
        pictures = SourceInfo("pictures", SourceKind.IMAGES, "jpeg", 640, 480, 1, None, None, ())
        writer.add_source(1, "pictures", pictures)
        writer.add_frames([make_frame(1, 0, name="späti.jpg")])
    export(writer.path, tmp_path, "jsonl", "coco")
    empty, failed, normal = lines(tmp_path / "a.jsonl")
    assert empty["detections"] == []
    assert "failed" not in empty
    assert (failed["detections"], failed["failed"]) == ([], "corrupt at 0.04 s")
    assert len(normal["detections"]) == 2
    assert lines(tmp_path / "pictures.jsonl")[0]["name"] == "späti.jpg"
    images = json.loads((tmp_path / "a.coco.json").read_text("utf-8"))["images"]
    assert [image.get("failed") for image in images] == [None, "corrupt at 0.04 s", None]
    assert json.loads((tmp_path / "pictures.coco.json").read_text("utf-8"))["images"][0]["file_name"] == "späti.jpg"


def test_coco_holds_together(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.sqlite", {"a.mp4": 700}, boxes=3)
    assert export(session, tmp_path, "coco") == ["a.coco.json"]
    data = json.loads((tmp_path / "a.coco.json").read_text("utf-8"))
    assert set(data) == {"info", "licenses", "images", "annotations", "categories"}
    assert [category["name"] for category in data["categories"]] == list(LABELS)
    images = {image["id"]: image for image in data["images"]}
    categories = {category["id"]: category["name"] for category in data["categories"]}
    assert len(images) == 700
    assert len({image["file_name"] for image in data["images"]}) == 700
    assert len({annotation["id"] for annotation in data["annotations"]}) == len(data["annotations"]) == 2100
    assert min(images) == min(categories) == min(annotation["id"] for annotation in data["annotations"]) == 1
    for annotation in data["annotations"]:
        x, _, width, height = annotation["bbox"]
        frame = images[annotation["image_id"]]["frame"]
        assert x - frame in (0, 1, 2)
        assert annotation["area"] == pytest.approx(width * height, abs=0.01)
        assert annotation["iscrowd"] == 0
        assert categories[annotation["category_id"]] == LABELS[int(x - frame)]
    assert data["images"][12] == {"id": 13, "file_name": "a/00004800.jpg", "width": 640, "height": 480, "frame": 12, "pts": 0.48}


def test_coco_names_the_pictures_that_ffmpeg_makes_of_the_frames_that_can_be_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wide = SourceInfo("my clip.mp4", SourceKind.VIDEO, "h264", 1024, 576, 4, None, None, ())  # pixels that are not square
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "my clip.mp4", wide)
        writer.add_frames([make_frame(0, 0), make_frame(0, 1, failure="damaged"), make_frame(0, 2), make_frame(0, 3)])
        writer.finish_source(0, "my clip.mp4", Ledger(4, 3, {}, {words("damaged"): 1}), 1.0)
    export(writer.path, tmp_path, "coco")
    data = json.loads((tmp_path / "my clip.coco.json").read_text())
    timed = "-fps_mode passthrough -enc_time_base 1:10000 -frame_pts 1"
    command = f"mkdir -p -- 'my clip' && ffmpeg -copyts -i 'my clip.mp4' -vf scale=1024:576 {timed} 'my clip/%08d.jpg'"
    assert data["info"]["images"] == command
    names = ["my clip/00000000.jpg", "my clip/failed-00000400.jpg", "my clip/00000800.jpg", "my clip/00001200.jpg"]
    assert [image["file_name"] for image in data["images"]] == names


@pytest.mark.parametrize("stem", ["-a", "b:c"])
def test_the_command_for_pictures_takes_names_for_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stem: str) -> None:
    """Without a folder, ffmpeg takes these names for an option and a protocol."""
    monkeypatch.chdir(tmp_path)
    export(write_session(tmp_path / "s.sqlite", {f"{stem}.mp4": 1}), tmp_path, "coco")
    command = json.loads((tmp_path / f"{stem}.coco.json").read_text())["info"]["images"]
    assert f" -i ./{stem}.mp4 " in command
    assert command.endswith(f" ./{stem}/%08d.jpg")


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
def test_coco_masks_are_the_boxes(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.sqlite", {"a.mp4": 2})
    export(session, tmp_path, "coco")
    data = COCO(str(tmp_path / "a.coco.json"))
    (first, *_) = data.loadAnns(data.getAnnIds(imgIds=[2]))
    x, y, width, height = first["bbox"]
    rows, columns = np.nonzero(data.annToMask(first))
    assert (columns.min(), rows.min()) == (pytest.approx(x, abs=1), pytest.approx(y, abs=1))
    assert (columns.max() + 1, rows.max() + 1) == (pytest.approx(x + width, abs=1), pytest.approx(y + height, abs=1))


def test_a_source_without_frames_results_in_valid_files(tmp_path: Path) -> None:
    export(write_session(tmp_path / "s.sqlite", {"a.mp4": 0}), tmp_path, "jsonl", "coco")
    assert (tmp_path / "a.jsonl").read_text() == ""
    data = json.loads((tmp_path / "a.coco.json").read_text())
    assert (data["images"], data["annotations"]) == ([], [])


@pytest.mark.parametrize(
    ("paths", "stems"),
    [
        (["a/x.mp4", "b/x.mkv", "c/x.avi"], ["x", "x-2", "x-3"]),
        (["a/x.mp4", "b/x.mp4", "x-2.mp4"], ["x", "x-3", "x-2"]),
        (["X.mp4", "x.mp4"], ["X", "x-2"]),
        (["/", "film.tar.gz", ".hidden"], ["source", "film.tar", ".hidden"]),
        (["a" * 201 + "b.mp4", "a" * 201 + "c.mp4"], ["a" * 200, "a" * 200 + "-2"]),
        (["b" + "ü" * 120 + ".mp4"], ["b" + "ü" * 99]),
    ],
)
def test_stems_are_never_shared(paths: list[str], stems: list[str]) -> None:
    assert file_stems(paths) == stems


def test_a_folder_keeps_its_whole_name(tmp_path: Path) -> None:
    (tmp_path / "walk.v2").mkdir()
    assert file_stems([str(tmp_path / "walk.v2"), str(tmp_path / "walk.v2.mp4")]) == ["walk.v2", "walk.v2-2"]


def test_same_stem_in_different_folders(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.sqlite", {"a/x.mp4": 2, "b/x.mp4": 3})
    assert export(session, tmp_path) == ["x.jsonl", "x-2.jsonl"]
    assert (len(lines(tmp_path / "x.jsonl")), len(lines(tmp_path / "x-2.jsonl"))) == (2, 3)


def test_names_as_long_as_a_file_system_takes(tmp_path: Path) -> None:
    names = ["x" * 245 + end + ".mp4" for end in ("ab", "cd")]
    (tmp_path / names[0]).touch()
    for count, cancelled in ((4, False), (8, True)):  # the second time beside the first one's, as partial results
        session = write_session(tmp_path / "s.sqlite", {names[0]: 2, names[1]: 3}, cancelled=cancelled)
        written = export(session, tmp_path / "out", "jsonl", "coco")
        assert len({*written, *(path.name for path in (tmp_path / "out").iterdir())}) == count
    assert {line["source"] for line in lines(tmp_path / "out" / written[0])} == {names[0]}


def test_an_unfinished_source_never_replaces_an_older_result(tmp_path: Path) -> None:
    session, out = tmp_path / "s.sqlite", tmp_path / "out"
    assert export(write_session(session, {"a.mp4": 2}, cancelled=True), out) == ["a.jsonl"]
    assert export(write_session(session, {"a.mp4": 9}), out) == ["a.jsonl"]
    assert export(write_session(session, {"a.mp4": 4}, cancelled=True), out) == ["a.partial.jsonl"]
    assert len(lines(out / "a.jsonl")) == 9
    assert len(lines(out / "a.partial.jsonl")) == 4
    assert export(write_session(session, {"b.mp4": 0}, cancelled=True), out) == []


def test_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'voc'.*jsonl, csv"):
        export(write_session(tmp_path / "s.sqlite", {"a.mp4": 1}), tmp_path, "voc")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.sqlite", {"a.mp4": 1})
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ExportError, match=r"/file is a file: choose another folder"):
        export(session, tmp_path / "file")
    with pytest.raises(ExportError, match=r"/file is a file: choose another folder"):
        export(session, tmp_path / "file" / "deeper")


def test_a_file_that_cannot_be_written_does_not_keep_the_others_from_it(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.sqlite", {"a.mp4": 600, "b.mp4": 3})
    problems: list[ExportError] = []

    def progress(path: Path, *_: int) -> None:
        if path.name == "a.jsonl":
            raise ExportError(literal(f"cannot write {path}"))

    with SessionReader(session) as reader:
        written = export_session(reader, tmp_path / "out", ["jsonl", "coco"], progress, problems.append)
    assert [item.path.name for item in written] == ["a.coco.json", "b.jsonl", "b.coco.json"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.coco.json", "b.coco.json", "b.jsonl"]
    (problem,) = problems
    assert str(tmp_path / "out" / "a.jsonl") in str(problem)


def test_memory_does_not_grow_with_the_video(tmp_path: Path) -> None:
    def peak(frames: int) -> int:
        session = write_session(tmp_path / f"{frames}.sqlite", {"a.mp4": frames})
        tracemalloc.start()
        export(session, tmp_path, "jsonl", "coco")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert peak(600) < 1.2 * peak(300)


SLOW_EXPORT = """
import resource, sys
from pathlib import Path
from framefleet.engine.notices import ExportError
from framefleet.engine.store.export import export_session, stage
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.exporters.base import STAGE
from framefleet.engine.store.session import SessionReader
if sys.argv[3] != "unlimited":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
with SessionReader(Path(sys.argv[1])) as reader:
    print("started", flush=True)
    try:
        export_session(reader, Path(sys.argv[2]), ["jsonl", "coco"])
    except ExportError as error:
        print(error)
"""


@pytest.mark.slow  # tests/faults/processes/test_killed_application.py kills an export
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_a_killed_export_leaves_the_old_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(write_session(tmp_path / "s.sqlite", {"a.mp4": 3}), out, "jsonl", "coco")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    session = write_session(tmp_path / "s.sqlite", {"a.mp4": 2_000})
    command = [sys.executable, "-c", SLOW_EXPORT, session, out, "unlimited"]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE) as process:
        part = out / STAGE / "a.jsonl"
        while not (part.exists() and part.stat().st_size > 10_000):
            assert process.poll() is None
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
    assert {path.name: path.read_bytes() for path in out.iterdir() if not path.name.startswith(STAGE)} == before
    export(session, out, "jsonl", "coco")
    assert sorted(path.name for path in out.iterdir()) == ["a.coco.json", "a.jsonl"]
    assert len(lines(out / "a.jsonl")) == 2_000


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
def test_a_limit_of_file_sizes_is_named_and_leaves_the_old_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(write_session(tmp_path / "old.sqlite", {"a.mp4": 3}), out)
    before = (out / "a.jsonl").read_bytes()
    session = write_session(tmp_path / "new.sqlite", {"a.mp4": 1000})
    command = [sys.executable, "-c", SLOW_EXPORT, session, out, "100000"]
    run = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert "a.jsonl: a file may have 97 KiB here: raise the limit (ulimit -f), or write less" in run.stdout, run.stderr
    assert [(path.name, path.read_bytes()) for path in out.iterdir()] == [("a.jsonl", before)]


def test_an_export_that_is_stopped_leaves_no_unfinished_file(tmp_path: Path) -> None:
    with suppress(KeyboardInterrupt), stage(tmp_path, lambda _: None) as place:
        (place / "0.mp4").touch()
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def calls_of(work: Callable[[], object], *names: str) -> int:
    """Number of function calls that the work takes. names: of the functions that count, none = all."""
    profile = cProfile.Profile()
    profile.runcall(work)
    counts = {function: calls for (_, _, function), (_, calls, *_) in pstats.Stats(profile).stats.items()}  # type: ignore[attr-defined]
    return sum(calls for function, calls in counts.items() if not names or any(name in function for name in names))


def test_the_work_of_an_export_grows_with_its_files_only(tmp_path: Path) -> None:
    calls = []
    for count in (30, 90):
        folder = tmp_path / str(count)
        session = write_session(tmp_path / f"{count}.sqlite", {f"clip{number}.mp4": 2 for number in range(count)})
        export(session, folder, "mot", "coco", "labelstudio")
        calls.append(calls_of(lambda session=session, folder=folder: export(session, folder, "jsonl")))  # type: ignore[misc]
        assert len([*folder.glob("*.jsonl")]) == count
    assert calls[1] < 3.5 * calls[0]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Sessions by their number of files."""
    folder = tmp_path_factory.mktemp("many")
    return {count: write_session(folder / f"{count}.sqlite", {f"clip{number}.mp4": 2 for number in range(count)}) for count in (10, 30)}


@pytest.mark.parametrize("form", others_slow(sorted(set(EXPORTERS) - {"video", "zones"}), "coco", "csv", "jsonl", "yolo"))
def test_each_file_takes_the_same_few_statements_and_files_to_export(tmp_path: Path, many: dict[int, Path], form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    counts = []
    for count, session in many.items():
        work = partial(export, session, tmp_path / f"{form}{count}", form)
        counts.append([calls_of(work, *names) for names in (("Connection.execute",), ("io.open", "posix.open"), ())])
    statements, opened, calls = ((large - small) / 20 for small, large in zip(*counts, strict=True))
    assert statements < 15
    assert opened < (8 if form == "mot" else 4)  # a folder of six files
    assert calls < 2700, "10,000 files take seconds"


def test_names_for_many_files_of_the_same_name_are_found_at_once() -> None:
    short, long = (calls_of(lambda count=count: file_stems([f"{n}/clip.mp4" for n in range(count)])) for count in (200, 800))  # type: ignore[misc]
    assert long < 5 * short
    assert file_stems(["a/x.mp4", "b/x.mp4", "x-2.mp4", "c/x.mp4"]) == ["x", "x-3", "x-2", "x-4"]
