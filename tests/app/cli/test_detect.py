from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import av
import pytest

from framefleet.app.cli.detect import detect_parser, settings_of
from framefleet.app.cli.runs import Progress
from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.devices.discovery import discover
from framefleet.engine.pool.events import Event, SourceOpened
from framefleet.engine.settings import Decode, EngineSettings, Hint, Isolation, ModelFiles, Parallel, Precision, Resize, RunSettings, Tiles
from framefleet.engine.settings.folders import Folder
from framefleet.engine.store.files import noted_sessions
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import DeviceId
from framefleet.engine.zones.file import zones_text
from framefleet.engine.zones.shapes import Zone, ZoneSet
from tests.support.cli import FAST, TINY, TINY_CFG, Outcome, read_lines, run_main, run_program
from tests.support.media import make_audio, make_video, rewrap, truncated, write_pictures

FRAMES = 20
LONG_NAME = "x" * 300 + ".mp4"


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("clip") / "a.mp4", FRAMES, (96, 64))


@pytest.fixture(scope="module")
def results(video: Path) -> tuple[Outcome, Path]:
    """One run as a user starts it, with everything automatic, and its folder."""
    other = make_video(video.parent / "b.mkv", 10, (160, 120))
    out = video.parent / "out"
    formats = ("--format", "jsonl,coco,video", "--json", "--verbose")
    return run_program("detect", video, other, *TINY, "--confidence", "0.05", "--out", out, *formats), out


def test_results_of_a_video_that_fails_are_written_although_it_has_no_tracks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changing = make_video(tmp_path / "a.mp4", 40, (96, 64))
    (tmp_path / "zones.json").write_text(zones_text(ZoneSet((96, 64), (Zone("all", ((0, 0), (96, 0), (96, 64))),))))
    show = Progress.show

    def change(self: Progress, event: Event) -> None:
        if isinstance(event, SourceOpened):
            with changing.open("ab") as file:
                file.write(b"more")
        show(self, event)

    monkeypatch.setattr(Progress, "show", change)
    run = run_main("detect", changing, *FAST, "--zones", tmp_path / "zones.json", "--out", tmp_path / "out", "--json")
    assert run.status == 1, run.err
    assert "has no tracks, and lines and zones count tracks" in run.report["zones"][0]["error"]
    assert len(read_lines(tmp_path / "out" / "a.jsonl")) == run.report["sources"][0]["frames"]["inferred"] > 0


def test_a_source_that_is_named_twice_is_used_once(video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(video, folder)
    monkeypatch.chdir(tmp_path)
    run = run_main("detect", folder, "in/a.mp4", "in/../in/a.mp4", *FAST, "--out", tmp_path / "out", "--json")
    assert run.status == 0, run.err
    assert [source["path"] for source in run.report["sources"]] == [str(folder / "a.mp4")]
    assert "framefleet: 2 sources named more than once, and used once" in run.err


def test_the_contract(results: tuple[Outcome, Path], video: Path) -> None:
    run, _ = results
    assert run.status == 0, run.err
    report = run.report
    assert list(report) == ["sources", "devices", "exit"]
    assert report["exit"] == "ok"
    for source, path, frames in zip(report["sources"], (video, video.parent / "b.mkv"), (FRAMES, 10), strict=True):
        assert list(source) == ["path", "frames", "decoder", "decoder_reason", "seconds", "fps"]
        assert (source["decoder"], source["decoder_reason"]) == ("cpu", "")
        assert source["path"] == str(path)
        assert source["frames"] == {"decoded": frames, "inferred": frames, "skipped": 0, "dropped": 0, "failed": 0}
        assert source["fps"] == pytest.approx(frames / source["seconds"], rel=0.05)
    (device,) = report["devices"]
    assert list(device) == ["id", "name", "backend", "precision", "frames", "fps", "latency_ms"]
    assert device["id"] == "cpu:0"
    assert device["frames"] == FRAMES + 10
    assert device["precision"] in ("fp32", "bf16", "fp16")
    assert 0 < device["latency_ms"]["p50"] <= device["latency_ms"]["p99"]
    assert device["name"] in run.err
    assert device["backend"] in run.err
    assert f"{device['precision']} (" in run.err, "the precision is shown with its reason"


def test_the_results_of_every_format(results: tuple[Outcome, Path]) -> None:
    _, out = results
    lines = read_lines(out / "a.jsonl")
    assert [line["frame"] for line in lines] == list(range(FRAMES))
    assert {line["source"] for line in lines} == {"a.mp4"}
    assert {line["device"] for line in lines} == {"cpu:0"}
    assert [line["pts"] for line in lines] == pytest.approx([number / 30 for number in range(FRAMES)], abs=1e-4)
    found = [detection for line in lines for detection in line["detections"]]
    assert found
    for detection in found:
        assert list(detection) == ["class_id", "label", "confidence", "box"]
        assert detection["label"] == f"class {detection['class_id']}"
        assert 0.05 <= detection["confidence"] <= 1
    coco = json.loads((out / "a.coco.json").read_text())
    assert len(coco["images"]) == FRAMES
    assert len(coco["annotations"]) == len(found)
    with av.open(str(out / "a.annotated.mp4")) as container:
        assert len(list(container.decode(video=0))) == FRAMES
    assert sorted(path.name for path in out.iterdir()) == [
        *("a.annotated.mp4", "a.coco.json", "a.jsonl", "b.annotated.mp4", "b.coco.json", "b.jsonl", "session.sqlite")
    ]
    with SessionReader(out / "session.sqlite") as reader:
        assert reader.count(0) == FRAMES
        assert [source.complete for source in reader.sources()] == [True, True]


def test_verbose_shows_what_the_processes_log(results: tuple[Outcome, Path]) -> None:
    lines = [line.split() for line in results[0].err.splitlines()]
    logged = {" ".join(line[3:-2]) for line in lines if line[2:3] == ["INFO"] and line[-2] == "process"}
    assert {"MainProcess framefleet.engine.logs:", "framefleet cpu:0 framefleet.engine.logs:"} <= logged, results[0].err
    assert "DEBUG" not in results[0].err


def test_every_option_reaches_the_settings() -> None:
    options = {
        "--size": "128x64",
        "--devices": "cpu:1,cpu:0,cpu:1",
        "--batch": "3",
        "--precision": "bf16",
        "--parallel": "tiles",
        "--tiles": "4x2",
        "--tile-overlap": "0.1",
        "--isolation": "thread",
        "--resize": "letterbox",
        "--decode": "cpu",
        "--hint": "latency",
        "--latency-budget": "12.5",
        "--confidence": "0.5",
        "--iou": "0.6",
        "--classes": "class 2,0",
    }
    arguments = ["a.mp4", *TINY, "--no-full-frame", *(part for option in options.items() for part in option)]
    settings, labels = settings_of(detect_parser().parse_args(arguments))
    engine = EngineSettings(
        precision=Precision.BF16,
        resize=Resize.LETTERBOX,
        hint=Hint.LATENCY,
        decode=Decode.CPU,
        batch=3,
        latency_budget=12.5,
        stored_confidence=0.5,
        iou=0.6,
        classes=frozenset({0, 2}),
    )
    model = ModelFiles(TINY_CFG, "random:1", size=(128, 64))
    devices = (DeviceId("cpu", "1"), DeviceId("cpu", "0"))
    assert settings == RunSettings(model, devices, Parallel.TILES, engine, Isolation.THREAD, Tiles(4, 2, 0.1, full_frame=False))
    assert labels == ("class 0", "class 1", "class 2")
    assert settings_of(detect_parser().parse_args(["a.mp4", *TINY]))[0] == RunSettings(ModelFiles(TINY_CFG, "random:1"))


@pytest.mark.parametrize(
    "how", [("frames", "--isolation", "thread"), ("tiles", "--tiles", "2x2", "--tile-overlap", "0.3", "--no-full-frame")]
)
def test_devices_that_share_frames_show_their_shares(how: tuple[str, ...], tmp_path: Path, video: Path) -> None:
    run = run_main("detect", video, *FAST, "--devices", "cpu:0,cpu:1", "--parallel", *how, "--out", tmp_path, "--json")
    assert run.status == 0, run.err
    assert f"work is shared by {how[0]}: as the settings say" in run.err
    inferred = run.report["sources"][0]["frames"]["inferred"]
    assert {device["id"] for device in run.report["devices"]} == {"cpu:0", "cpu:1"}
    assert abs(sum(device["frames"] for device in run.report["devices"]) - inferred) <= (how[0] == "tiles")
    by = {line["device"] for line in read_lines(tmp_path / f"{video.stem}.jsonl")}
    assert by <= ({"cpu:0", "cpu:1"} if how[0] == "frames" else {"cpu:0+cpu:1"})


def test_failed_frames_make_the_exit_status_1(tmp_path: Path) -> None:
    def spoil(number: int, data: bytes, _key: bool) -> bytes:
        return bytes(len(data)) if 12 <= number < 16 else data

    clip = rewrap(make_video(tmp_path / "whole.mkv", 30, (96, 64), gop=10), tmp_path / "damaged.mkv", spoil)
    run = run_main("detect", clip, *FAST, "--out", tmp_path / "out", "--json", "--quiet")
    frames = run.report["sources"][0]["frames"]
    assert 0 < frames["failed"] < frames["decoded"] == frames["inferred"] + frames["failed"] == 30
    assert f"damaged.mkv: {frames['failed']} of 30 frames failed: " in run.err
    assert (run.status, run.report["exit"]) == (1, "failed")


def test_a_broken_file_among_good_ones(tmp_path: Path, video: Path) -> None:
    (tmp_path / "junk.mp4").write_bytes(b"not a video at all " * 100)
    sound = make_audio(tmp_path / "sound.mp4")
    cut = truncated(make_video(tmp_path / "whole.mkv", 60, (96, 64)), tmp_path / "cut.mkv", 0.6)
    out = tmp_path / "out"
    sources = (tmp_path / "junk.mp4", video, sound, tmp_path / "missing.mp4", tmp_path / LONG_NAME, cut)
    run = run_main("detect", *sources, *FAST, "--out", out, "--json", "--quiet")
    assert run.status == 1
    assert run.report["exit"] == "failed"
    assert [source["path"] for source in run.report["sources"]] == [str(path) for path in sources]
    counts = [source["frames"] for source in run.report["sources"]]
    assert counts[1] == {"decoded": FRAMES, "inferred": FRAMES, "skipped": 0, "dropped": 0, "failed": 0}
    for name in ("junk.mp4", "sound.mp4", "missing.mp4", LONG_NAME):
        assert run.err.count(name) == 1, run.err
    assert [counts[number]["inferred"] for number in (0, 2, 3, 4)] == [0, 0, 0, 0]
    assert counts[5]["decoded"] == counts[5]["inferred"] + counts[5]["failed"]
    assert len(read_lines(out / "a.jsonl")) == FRAMES
    assert not (out / "junk.jsonl").exists()
    assert "inside Framefleet" not in run.err
    assert "Traceback" not in run.err


def test_nothing_usable(tmp_path: Path) -> None:
    (tmp_path / "junk.mp4").write_bytes(b"not a video at all " * 100)
    run = run_main("detect", tmp_path / "junk.mp4", *FAST, "--out", tmp_path / "out", "--json")
    assert run.status == 2
    assert run.report["exit"] == "unusable"
    assert "junk.mp4" in run.err
    run = run_main("detect", tmp_path / "missing.mp4", tmp_path / "gone", tmp_path / LONG_NAME, *FAST, "--out", tmp_path / "none")
    assert run.status == 2
    assert "missing.mp4 does not exist" in run.err
    assert "gone does not exist" in run.err
    assert f"framefleet: {tmp_path / LONG_NAME} cannot be read: File name too long; check the name" in run.err
    assert not (tmp_path / "none").exists()


def test_pictures_of_unreadable_formats_in_a_folder_are_named(tmp_path: Path) -> None:
    station = tmp_path / "station" / "cam1"
    station.mkdir(parents=True)
    make_video(station / "a.png", frames=1, codec="png", pix_fmt="rgb24", container="image2")
    for name in ("IMG_2.CR2", "IMG_1.heic", "notes.txt", ".hidden.heic"):
        (station / name).write_bytes(b"x")
    run = run_main("detect", tmp_path / "station", *FAST, "--clock", "name", "--out", tmp_path / "out")
    assert run.status == 0
    what = f"2 pictures in {tmp_path / 'station'} (IMG_1.heic, IMG_2.CR2)"
    assert f"framefleet: left out, because their format cannot be read: {what}; convert them to JPEG to use them" in run.err
    assert "framefleet: no clock time for 1 of 1 picture: none is in the name" in run.err


def test_the_rate_of_a_folder_that_has_grown_is_that_of_the_new_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "station"
    folder.mkdir()
    make_video(folder / "a.png", frames=1, codec="png", pix_fmt="rgb24", container="image2")
    options = (*FAST, "--out", tmp_path / "out")
    assert run_main("detect", folder, *options).status == 0
    shutil.copy(folder / "a.png", folder / "b.png")
    assert run_main("detect", folder, *options).status == 0
    shutil.copy(folder / "a.png", folder / "c.png")
    run = run_main("detect", folder, *options)
    assert f"{folder} has more pictures than in an earlier run: it goes on at picture 2" in run.err
    assert re.search(r"3 pictures, 1 of them new, in [\d.]+ s", run.out)


def test_folders_pictures_and_equal_names(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        make_video(tmp_path / folder / "x.mp4", 5, (96, 64))
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for number in range(3):
        make_video(pictures / f"p{number}.png", frames=1, codec="png", pix_fmt="rgb24", container="image2")
    out, picture = tmp_path / "out", pictures / "p1.png"
    options = (*FAST, "--out", out, "--format", "jsonl,video")
    run = run_main("detect", tmp_path / "one", tmp_path / "two", pictures, picture, *options)
    assert run.status == 0, run.err
    assert sorted(path.name for path in out.glob("*.jsonl")) == ["p1.jsonl", "pictures.jsonl", "x-2.jsonl", "x.jsonl"]
    assert sorted(path.name for path in out.glob("*.mp4")) == ["x-2.annotated.mp4", "x.annotated.mp4"]
    assert f"{picture}: pictures have no video" in run.err
    assert [line["name"] for line in read_lines(out / "pictures.jsonl")] == ["p0.png", "p1.png", "p2.png"]
    assert {line["source"] for name in ("x.jsonl", "x-2.jsonl") for line in read_lines(out / name)} == {"one/x.mp4", "two/x.mp4"}
    for name in ("x.jsonl", "x-2.jsonl", "pictures.jsonl", "p1.jsonl"):
        assert str(out / name) in run.out
    last = run.out.splitlines()[-1]
    assert (last.startswith("6 files: "), "; 14 frames in " in last) == (True, True), last
    run = run_main("detect", picture, *FAST, "--out", tmp_path / "none", "--format", "video")
    assert run.status == 2
    assert "choose jsonl or coco" in run.err
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "jsonl,voc"], "'voc' is unknown; choose from: jsonl, csv"),
        (["--format", ","], "argument --format"),
        (["--parallel", "lines"], "argument --parallel: 'lines' is unknown; choose from: auto, streams, segments, frames, tiles, depth"),
        (["--parallel", "depth", "--devices", "cpu:0"], "the strategy depth needs 2 to 8 devices, one for each stage, not 1 (cpu:0)"),
        (["--decode", "nvdec", "--devices", "cpu:0"], "none is among the devices (cpu:0)"),
        (["--tiles", "4x3"], "--tiles is for --parallel tiles, not for auto"),
        (["--parallel", "frames", "--no-full-frame"], "--no-full-frame is for --parallel tiles, not for frames"),
        (["--parallel", "tiles", "--tiles", "4"], "argument --tiles: '4' is not a grid"),
        (["--parallel", "tiles", "--tiles", "0x3"], "argument --tiles: '0' cannot be used: give auto or a whole number from 1 to 64"),
        (["--parallel", "tiles", "--tile-overlap", "0.7"], "argument --tile-overlap: '0.7' cannot be used: give a number from 0 to 0.5"),
        (["--devices", "cpu:0+cpu:1"], "argument --devices: 'cpu:0+cpu:1': write the devices with commas, cpu:0,cpu:1;"),
        (["--decode", "gpu"], "argument --decode: invalid choice: 'gpu'"),
        (["--latency-budget", "0"], "argument --latency-budget: '0' cannot be used: give a number of ms above 0 and at most 60000"),
        (["--devices", "gpu:0"], "argument --devices: 'gpu:0' is not a device"),
        (["--batch", "0"], "argument --batch: '0' cannot be used: give auto or a whole number from 1 to 1024"),
        (["--classes", ""], "argument --classes: '' names nothing"),
        (["--devices", ","], "argument --devices: ',' names no device"),
        (["--isolation", "glass"], "argument --isolation: invalid choice: 'glass' (choose from "),
        (["--iou", "many"], "argument --iou: 'many' cannot be used: give a number above 0 and at most 1"),
        (["--classes", "class 7"], "no class 'class 7': did you mean one of class "),
        (["--size", "100x"], "argument --size: '100x' is not a size"),
        (["--size", "100"], "multiples of 32"),
    ],
)
def test_unusable_options(options: list[str], message: str, tmp_path: Path, video: Path) -> None:
    run = run_main("detect", video, *TINY, "--out", tmp_path / "out", *options)
    assert run.status == 2
    assert message in run.err
    assert "<" not in run.err, "words, not Python's names for them"
    assert run.out == ""
    assert not (tmp_path / "out").exists()


def test_models_that_cannot_be_used(tmp_path: Path, video: Path) -> None:
    (tmp_path / "m.cfg").write_text("[net]\nwidth=32\n")
    swapped = run_main("detect", tmp_path / "m.cfg", "--model", video)
    assert swapped.status == 2
    assert "m.cfg belongs to a model and cannot be searched for objects: give it with --model" in swapped.err
    none = run_main("detect", video)
    assert none.status == 2
    for words in ("give --model M.cfg", "'framefleet models'", "'framefleet demo'"):
        assert words in none.err
    for weights in ((), ("--weights", "random:1")):
        run = run_main("detect", video, "--model", tmp_path / "other.cfg", *weights)
        assert run.status == 2
        assert "other.cfg does not exist: check the name and the folder; 'framefleet models' lists models" in run.err
    run = run_main("detect", video, "--model", tmp_path / "m.cfg")
    assert run.status == 2
    assert "m.weights" in run.err
    (tmp_path / "zones.json").write_text('{"version": 1}')
    (tmp_path / "photo.png").touch()
    for path, words in (
        (video, "is a video, not a model: give"),
        (tmp_path / "photo.png", "is a picture"),
        (tmp_path / "zones.json", "cfg?"),
    ):
        run = run_main("detect", video, "--model", path)
        assert run.status == 2
        assert str(path) in run.err
        assert words in run.err
    run = run_main("detect", video, "--model", tmp_path / "m.cfg", "--weights", "random:1", "--out", tmp_path / "out")
    assert run.status == 2
    assert str(tmp_path / "m.cfg") in run.err
    run = run_main("detect", video, *TINY[:2], "--weights", video, "--out", tmp_path / "out")
    assert run.status == 2
    assert "a.mp4" in run.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path, video: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    run = run_main("detect", video, *FAST, "--out", tmp_path / "file")
    assert run.status == 2
    assert f"{tmp_path / 'file'} is a file: choose another folder" in run.err


def test_one_result_that_cannot_be_written(tmp_path: Path, video: Path) -> None:
    gone, out = tmp_path / "gone.mp4", tmp_path / "out"
    gone.write_bytes(video.read_bytes())
    assert run_main("detect", gone, video, *FAST, "--out", out, "--format", "coco", "--quiet").status == 0
    gone.unlink()
    run = run_main("results", out, "--format", "video,jsonl", "--quiet")
    assert run.status == 1
    (line,) = [line for line in run.err.splitlines() if line.startswith("framefleet: ")]
    assert "gone.mp4" in line
    assert len(read_lines(out / "gone.jsonl")) == len(read_lines(out / "a.jsonl")) == FRAMES
    assert (out / "a.annotated.mp4").is_file()


def test_a_device_that_refuses_leaves_earlier_results_as_they_are(results: tuple[Outcome, Path], tmp_path: Path, video: Path) -> None:
    """Also if only its engine shows that it cannot work."""
    out = tmp_path / "out"
    shutil.copytree(results[1], out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    run = run_main("detect", video, *TINY, "--confidence", "0.01", "--devices", "openvino:GPU.7", "--out", out, "--json")
    assert run.status == 2
    assert "\nopenvino:GPU.7: OpenVINO finds no device" in run.err, "its name once"
    assert run.err.count("OpenVINO finds no device") == 1, "the reason once"
    assert "\na.mp4: no device is left\n" in run.err
    assert f"no device could be used: {out / 'session.sqlite'} holds the earlier results again" in run.err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_precision_that_the_device_lacks_is_refused_before_anything_is_touched(tmp_path: Path, video: Path) -> None:
    """The original command finds the finished session."""
    if "fp16" in next(each.precisions for each in discover() if str(each.id) == "cpu:0"):
        pytest.skip("this processor computes in FP16")
    command = ("detect", video, *FAST, "--out", tmp_path)
    first = run_main(*command)
    assert first.status == 0, first.err
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for restart in ((), ("--restart",)):
        refused = run_main(*command, "--precision", "fp16", *restart)
        assert (refused.status, refused.out) == (2, "")
        assert "cpu:0 offers FP32" in refused.err
        assert "kept" not in refused.err
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    again = run_main(*command)
    assert "1 source finished by an earlier run: the results stay" in again.err


def test_a_cpu_device_without_a_core_is_refused_with_those_that_exist(tmp_path: Path, video: Path) -> None:
    cores = usable_cores()
    run = run_main("detect", video, *TINY, "--devices", f"cpu:0,cpu:{cores}", "--out", tmp_path / "out")
    assert run.status == 2
    assert f"there is no cpu:{cores}: this machine has cpu:0" in run.err
    assert (f"cpu:0 to cpu:{cores - 1}" in run.err) == (cores > 1)
    assert not (tmp_path / "out" / "session.sqlite").exists()
    run = run_main("bench", "model", *TINY, "--devices", f"cpu:{cores}")
    assert (run.status, f"there is no cpu:{cores}" in run.err) == (2, True)


def test_a_part_that_no_source_has_replaces_no_earlier_session(tmp_path: Path, video: Path) -> None:
    out = tmp_path / "out"
    assert run_main("detect", video, *FAST, "--out", out).status == 0
    before = (out / "session.sqlite").read_bytes()
    run = run_main("detect", video, *FAST, "--from", "1:30", "--out", out, "--json")
    assert (run.status, run.report["exit"]) == (2, "unusable")
    assert "--from 90s lies behind its end" in run.err
    assert [path.name for path in out.glob("*.sqlite")] == ["session.sqlite"]
    assert (out / "session.sqlite").read_bytes() == before


@pytest.mark.parametrize("begin", ["1000", "1h"])
def test_a_part_behind_the_end_is_an_error_that_names_the_length(begin: str, tmp_path: Path, video: Path) -> None:
    longer = make_video(tmp_path / "long.mp4", 120, (96, 64))
    run = run_main("detect", video, *FAST, "--from", begin, "--out", tmp_path / "one")
    assert run.status == 2
    assert f"{video} has {FRAMES} frames in 0.7 s, and --from {'1000' if begin == '1000' else '3600s'} lies behind its end" in run.err
    run = run_main("detect", video, longer, *FAST, "--from", "60", "--out", tmp_path / "two", "--json")
    assert run.status == 1
    assert [source["frames"]["inferred"] for source in run.report["sources"]] == [0, 60]
    pictures = write_pictures(tmp_path / "pictures", 3)
    run = run_main("detect", pictures, *FAST, "--from", "3", "--out", tmp_path / "three")
    assert run.status == 2
    assert f"{pictures} has 3 pictures, and --from 3 lies behind its end" in run.err


def test_quiet_prints_the_last_line_only(tmp_path: Path, video: Path) -> None:
    options = ("--size", "128x64", "--batch", "2", "--confidence", "0.05", "--classes", "1", "--out", tmp_path / "out", "--quiet")
    run = run_main("detect", video, *FAST, *options)
    assert (run.status, run.err) == (0, "")
    (line,) = run.out.splitlines()
    assert line.startswith(f"{video}: class 1 in "), "what was found"
    assert re.search(r"; 20 frames in .*, on cpu:0 \(OpenVINO [\d.]+, fp32\)$", line), "the device is always named"
    assert {found["label"] for each in read_lines(tmp_path / "out" / "a.jsonl") for found in each["detections"]} == {"class 1"}
    assert noted_sessions(Folder.SESSIONS.path)[0] == tmp_path / "out" / "session.sqlite", "the window lists it"
    (tmp_path / "no.mp4").write_text("no video")
    run = run_main("detect", video, tmp_path / "no.mp4", *FAST, *options)
    assert run.status == 1
    assert run.err.count("no.mp4") == 1
    (line,) = run.out.splitlines()
    assert line.startswith("2 files: 0 empty, 1 with objects, 1 failed (no.mp4); 20 frames")


def test_another_confidence_needs_no_detection_if_weaker_ones_are_stored(tmp_path: Path, video: Path) -> None:
    def detect(confidence: str, out: Path) -> tuple[str, bytes]:
        run = run_main("detect", video, *FAST, "--confidence", confidence, "--out", out)
        assert run.status == 0, run.err
        return run.err, (out / "a.jsonl").read_bytes()

    _, weak = detect("0.05", tmp_path / "one")
    said, strong = detect("0.2", tmp_path / "one")
    assert "the results stay" in said
    assert strong == detect("0.2", tmp_path / "fresh")[1] != weak
    assert detect("0.05", tmp_path / "one")[1] == weak
    detect("0.01", tmp_path / "one")
    assert [file.name for file in sorted((tmp_path / "one").glob("*.sqlite"))] == ["session.previous.sqlite", "session.sqlite"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are text")
def test_names_and_folders_that_are_not_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, odd = tmp_path / "caf\udce9", "gr\udce4n #1?.mp4"
    folder.mkdir()
    make_video(folder / "a.mp4", 10, (96, 64)).rename(folder / odd)
    (folder / "b\udcf6se.mp4").write_bytes(b"nonsense" * 100)
    monkeypatch.chdir(folder)
    run = run_main("detect", odd, "b\udcf6se.mp4", *FAST, "--format", "jsonl,video", "--out", "out", "--json")
    assert run.status == 1
    assert run.report["sources"][0]["path"] == r"gr\xE4n #1?.mp4"
    assert run.report["sources"][0]["frames"]["inferred"] == 10
    (lines,) = (folder / "out").glob("*.jsonl")
    assert {line["source"] for line in read_lines(lines)} == {r"gr\xE4n #1?.mp4"}
    assert lines.name == "gr_n #1?.jsonl"
    assert len([*(folder / "out").glob("*.annotated.mp4")]) == 1


def test_a_finished_source_stays_unless_the_user_restarts(video: Path, tmp_path: Path) -> None:
    options = (*FAST, "--confidence", "0.05", "--out", tmp_path)
    for restart, says in (
        ((), ""),
        ((), "the results stay (--restart detects again)"),
        (("--restart",), "the earlier results are kept in"),
    ):
        run = run_main("detect", video, *options, *restart)
        assert run.status == 0, run.err
        assert says in run.err
        assert (tmp_path / "session.previous.sqlite").exists() is bool(restart)
        with SessionReader(tmp_path / "session.sqlite") as reader:
            assert reader.count(0) == FRAMES


def test_a_run_says_where_the_results_of_a_changed_file_are_kept(tmp_path: Path) -> None:
    changed = make_video(tmp_path / "a.mp4", FRAMES, (96, 64))
    options = (*FAST, "--out", tmp_path / "out")
    assert run_main("detect", changed, *options).status == 0
    make_video(changed, FRAMES // 2, (96, 64))
    run = run_main("detect", changed, *options)
    assert f"{changed} has changed since an earlier run" in run.err
    assert f"the earlier results are kept in {tmp_path / 'out' / 'session.previous.sqlite'}" in run.err
