from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from engine.store.session import SessionReader
from tests.support.cli import TINY, head, read_lines, run_main
from tests.support.media import make_audio, make_video, truncated

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def video(tmp_path: Path) -> Path:
    return make_video(tmp_path / "a.mp4", frames=30)


def test_the_contract(tmp_path: Path, video: Path, capsys: Capture) -> None:
    other = make_video(tmp_path / "b.mkv", frames=20, size=(160, 120))
    out = tmp_path / "out"
    run = run_main(capsys, "detect", video, other, *TINY, "--confidence", "0.05", "--out", out, "--format", "jsonl,coco", "--json")
    assert run.status == 0, run.err
    report = run.report
    assert list(report) == ["sources", "devices", "exit"]
    assert report["exit"] == "ok"
    for source, path, frames in zip(report["sources"], (video, other), (30, 20), strict=True):
        assert list(source) == ["path", "frames", "seconds", "fps"]
        assert source["path"] == str(path)
        assert source["frames"] == {"decoded": frames, "inferred": frames, "dropped": 0, "failed": 0}
        assert source["fps"] == pytest.approx(frames / source["seconds"], rel=0.05)
    (device,) = report["devices"]
    assert list(device) == ["id", "name", "backend", "precision", "frames", "fps", "latency_ms"]
    assert device["id"] == "cpu:0"
    assert device["frames"] == 50
    assert device["precision"] in ("fp32", "bf16", "fp16")
    assert 0 < device["latency_ms"]["p50"] <= device["latency_ms"]["p99"]
    assert device["name"] in run.err
    assert device["backend"] in run.err
    assert f"{device['precision']} (" in run.err, "the precision is shown with its reason"

    lines = read_lines(out / "a.jsonl")
    assert [line["frame"] for line in lines] == list(range(30))
    assert {line["source"] for line in lines} == {"a.mp4"}
    assert {line["device"] for line in lines} == {"cpu:0"}
    assert [line["pts"] for line in lines] == pytest.approx([number / 30 for number in range(30)], abs=1e-4)
    found = [detection for line in lines for detection in line["detections"]]
    assert found
    for detection in found:
        assert list(detection) == ["class_id", "label", "confidence", "box"]
        assert detection["label"] == f"class {detection['class_id']}"
        assert 0.05 <= detection["confidence"] <= 1
    coco = json.loads((out / "a.coco.json").read_text())
    assert len(coco["images"]) == 30
    assert len(coco["annotations"]) == len(found)
    assert sorted(path.name for path in out.iterdir()) == ["a.coco.json", "a.jsonl", "b.coco.json", "b.jsonl", "session.sqlite"]
    with SessionReader(out / "session.sqlite") as reader:
        assert reader.count(0) == 30
        assert [source.complete for source in reader.sources()] == [True, True]


@pytest.mark.parametrize("isolation", ["process", "thread"])
def test_real_model_on_a_real_video(isolation: str, data: Path, tmp_path: Path, capsys: Capture) -> None:
    video = head(data / "video" / "people.mp4", tmp_path / "people.mp4", 150)
    model = data / "models" / "yolo-fastest-1.1.cfg"
    options = ("--model", model, "--precision", "fp32", "--classes", "person,62", "--devices", "cpu:0,cpu:1", "--parallel", "segments")
    run = run_main(capsys, "detect", video, *options, "--isolation", isolation, "--out", tmp_path, "--json")
    assert run.status == 0, run.err
    frames = run.report["sources"][0]["frames"]
    assert frames["decoded"] == frames["inferred"] > 100
    assert sum(device["frames"] for device in run.report["devices"]) == frames["inferred"]
    reference = read_lines(data / "reference" / "people.yolo-fastest-1.1.opencv.jsonl")
    missed = boxes = 0
    for line in read_lines(tmp_path / "people.jsonl"):
        expected = [found for found in reference[line["frame"]]["detections"] if found["class_id"] in (0, 62)]
        boxes += len(expected)
        assert {found["label"] for found in line["detections"]} <= {"person", "tvmonitor"}
        for wanted in expected:
            missed += not any(_same(found, wanted) for found in line["detections"])
    assert boxes > 100
    assert missed <= 0.01 * boxes


@pytest.mark.parametrize("how", [("frames",), ("tiles", "--tiles", "2x2", "--tile-overlap", "0.3", "--no-full-frame")])
def test_devices_that_share_frames_show_their_shares(how: tuple[str, ...], tmp_path: Path, video: Path, capsys: Capture) -> None:
    options = (*TINY, "--devices", "cpu:0,cpu:1", "--parallel", *how, "--out", tmp_path, "--json")
    run = run_main(capsys, "detect", video, *options)
    assert run.status == 0, run.err
    assert f"work is shared by {how[0]}: as the settings say" in run.err
    inferred = run.report["sources"][0]["frames"]["inferred"]
    assert [device["id"] for device in run.report["devices"]] in (["cpu:0", "cpu:1"], ["cpu:1", "cpu:0"])
    assert abs(sum(device["frames"] for device in run.report["devices"]) - inferred) <= (how[0] == "tiles")
    by = {line["device"] for line in read_lines(tmp_path / f"{video.stem}.jsonl")}
    assert by <= ({"cpu:0", "cpu:1"} if how[0] == "frames" else {"cpu:0+cpu:1"})


def _same(found: dict[str, list[float]], wanted: dict[str, list[float]]) -> bool:
    (x, y, width, height), (left, top, across, down) = found["box"], wanted["box"]
    shared = max(0.0, min(x + width, left + across) - max(x, left)) * max(0.0, min(y + height, top + down) - max(y, top))
    return found["class_id"] == wanted["class_id"] and shared / (width * height + across * down - shared) >= 0.85


def test_a_broken_file_among_good_ones(tmp_path: Path, video: Path, capsys: Capture) -> None:
    (tmp_path / "junk.mp4").write_bytes(b"no video at all " * 100)
    sound = make_audio(tmp_path / "sound.mp4")
    cut = truncated(make_video(tmp_path / "whole.mkv", frames=60), tmp_path / "cut.mkv", 0.6)
    out = tmp_path / "out"
    sources = (tmp_path / "junk.mp4", video, sound, tmp_path / "missing.mp4", cut)
    run = run_main(capsys, "detect", *sources, *TINY, "--out", out, "--json", "--quiet")
    assert run.status == 1
    assert run.report["exit"] == "failed"
    assert [source["path"] for source in run.report["sources"]] == [str(path) for path in sources]
    counts = [source["frames"] for source in run.report["sources"]]
    assert counts[1] == {"decoded": 30, "inferred": 30, "dropped": 0, "failed": 0}
    for name in ("junk.mp4", "sound.mp4", "missing.mp4"):
        assert any(line.startswith(f"{name}: ") for line in run.err.splitlines()), run.err
    assert [counts[number]["inferred"] for number in (0, 2, 3)] == [0, 0, 0]
    assert counts[4]["decoded"] == counts[4]["inferred"] + counts[4]["failed"]
    assert len(read_lines(out / "a.jsonl")) == 30
    assert not (out / "junk.jsonl").exists()


def test_nothing_usable(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "junk.mp4").write_bytes(b"no video at all " * 100)
    run = run_main(capsys, "detect", tmp_path / "junk.mp4", *TINY, "--out", tmp_path / "out", "--json")
    assert run.status == 2
    assert run.report["exit"] == "unusable"
    assert "junk.mp4" in run.err
    run = run_main(capsys, "detect", tmp_path / "missing.mp4", tmp_path / "gone", *TINY, "--out", tmp_path / "none")
    assert run.status == 2
    assert "missing.mp4 does not exist" in run.err
    assert "gone does not exist" in run.err
    assert not (tmp_path / "none").exists()


def test_a_name_that_is_too_long_for_the_file_system(tmp_path: Path, video: Path, capsys: Capture) -> None:
    long = tmp_path / ("x" * 300 + ".mp4")
    run = run_main(capsys, "detect", long, *TINY, "--out", tmp_path / "out")
    assert run.status == 2
    assert f"framefleet: {long} cannot be read: File name too long; check the name" in run.err
    run = run_main(capsys, "detect", long, video, *TINY, "--out", tmp_path / "out", "--format", "jsonl,video", "--quiet")
    assert run.status == 1
    assert "inside Framefleet" not in run.err
    assert "Traceback" not in run.err
    assert len(read_lines(tmp_path / "out" / "a.jsonl")) == 30


def test_folders_pictures_and_equal_names(tmp_path: Path, capsys: Capture) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        make_video(tmp_path / folder / "x.mp4", frames=5)
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for number in range(3):
        make_video(pictures / f"p{number}.png", frames=1, codec="png", pix_fmt="rgb24", container="image2")
    run = run_main(capsys, "detect", tmp_path / "one", tmp_path / "two", pictures, pictures / "p1.png", *TINY, "--out", tmp_path / "out")
    assert run.status == 0, run.err
    assert sorted(path.name for path in (tmp_path / "out").glob("*.jsonl")) == ["p1.jsonl", "pictures.jsonl", "x-2.jsonl", "x.jsonl"]
    assert [line["name"] for line in read_lines(tmp_path / "out" / "pictures.jsonl")] == ["p0.png", "p1.png", "p2.png"]
    for name in ("x.jsonl", "x-2.jsonl", "pictures.jsonl", "p1.jsonl"):
        assert str(tmp_path / "out" / name) in run.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "csv"], "argument --format: 'csv' comes in a later version; available now: jsonl, coco"),
        (["--format", "jsonl,voc"], "'voc' is unknown; choose from: jsonl, coco"),
        (["--format", ","], "argument --format"),
        (["--parallel", "lines"], "argument --parallel: 'lines' is unknown; choose from: auto, streams, segments, frames, tiles, depth"),
        (["--parallel", "depth", "--devices", "cpu:0"], "the strategy depth needs 2 to 8 devices"),
        (["--tiles", "4x3"], "--tiles is for --parallel tiles, not for auto"),
        (["--parallel", "frames", "--no-full-frame"], "--no-full-frame is for --parallel tiles, not for frames"),
        (["--parallel", "tiles", "--tiles", "4"], "argument --tiles: '4' is no grid"),
        (["--parallel", "tiles", "--tiles", "0x3"], "argument --tiles: 0 columns of tiles are outside 1..64"),
        (["--parallel", "tiles", "--tile-overlap", "0.7"], "argument --tile-overlap: a tile overlap of 0.7 is outside 0..0.5"),
        (["--devices", "cpu:0+cpu:1"], "argument --devices: 'cpu:0+cpu:1': write the devices with commas, cpu:0,cpu:1;"),
        (["--decode", "gpu"], "argument --decode: invalid choice: 'gpu'"),
        (["--latency-budget", "0"], "argument --latency-budget: '0' is no time in milliseconds"),
        (["--devices", "gpu:0"], "argument --devices: 'gpu:0' is not a device"),
        (["--batch", "0"], "argument --batch: '0' is neither auto nor a number"),
        (["--classes", ""], "argument --classes: '' names nothing"),
        (["--devices", ","], "argument --devices: ',' names no device"),
        (["--isolation", "glass"], "argument --isolation: invalid choice: 'glass' (choose from "),
        (["--confidence", "1.5"], "argument --confidence: '1.5' must be above 0 and at most 1"),
        (["--iou", "many"], "argument --iou: 'many' must be"),
        (["--precision", "fp64"], "argument --precision: invalid choice: 'fp64'"),
        (["--classes", "class 7"], "no class 'class 7': did you mean class "),
        (["--size", "100x"], "argument --size: '100x' is no size"),
        (["--size", "100"], "multiples of 32"),
    ],
)
def test_unusable_options(options: list[str], message: str, tmp_path: Path, video: Path, capsys: Capture) -> None:
    run = run_main(capsys, "detect", video, *TINY, "--out", tmp_path / "out", *options)
    assert run.status == 2
    assert message in run.err
    assert "<" not in run.err, "words, not Python's names for them"
    assert run.out == ""
    assert not (tmp_path / "out").exists()


def test_models_that_cannot_be_used(tmp_path: Path, video: Path, capsys: Capture) -> None:
    (tmp_path / "m.cfg").write_text("[net]\nwidth=32\n")
    assert "give --model M.cfg" in run_main(capsys, "detect", video).err
    run = run_main(capsys, "detect", video, "--model", tmp_path / "m.cfg")
    assert run.status == 2
    assert "m.weights" in run.err
    run = run_main(capsys, "detect", video, "--model", tmp_path / "m.cfg", "--weights", "random:1", "--out", tmp_path / "out")
    assert run.status == 2
    assert str(tmp_path / "m.cfg") in run.err
    run = run_main(capsys, "detect", video, *TINY[:2], "--weights", tmp_path / "a.mp4", "--out", tmp_path / "out")
    assert run.status == 2
    assert "a.mp4" in run.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path, video: Path, capsys: Capture) -> None:
    (tmp_path / "file").write_text("in the way")
    run = run_main(capsys, "detect", video, *TINY, "--out", tmp_path / "file")
    assert run.status == 2
    assert str(tmp_path / "file") in run.err
    assert "choose another folder" in run.err


def test_one_result_that_cannot_be_written(tmp_path: Path, video: Path, capsys: Capture) -> None:
    gone, out = tmp_path / "gone.mp4", tmp_path / "out"
    gone.write_bytes(video.read_bytes())
    (out / "gone.annotated.mp4").mkdir(parents=True)
    run = run_main(capsys, "detect", gone, video, *TINY, "--out", out, "--format", "video,jsonl", "--json", "--quiet")
    assert run.status == 1
    assert run.report["exit"] == "failed"
    assert [source["frames"]["inferred"] for source in run.report["sources"]] == [30, 30]
    (line,) = [line for line in run.err.splitlines() if line.startswith("framefleet: ")]
    assert "gone.annotated.mp4" in line
    assert len(read_lines(out / "gone.jsonl")) == len(read_lines(out / "a.jsonl")) == 30
    assert (out / "a.annotated.mp4").is_file()


def test_a_device_that_refuses(tmp_path: Path, video: Path, capsys: Capture) -> None:
    run = run_main(capsys, "detect", video, *TINY, "--devices", "openvino:GPU.7", "--out", tmp_path / "out", "--json")
    assert run.status == 2
    assert "\nopenvino:GPU.7: OpenVINO finds no device" in run.err, "its name once"


def test_a_run_without_a_device_leaves_earlier_results_as_they_are(tmp_path: Path, video: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    run_main(capsys, "detect", video, *TINY, "--out", out)
    before = (out / "a.jsonl").read_bytes()
    for folder, left in ((out, ["a.jsonl", "session.previous.sqlite", "session.sqlite"]), (tmp_path / "new", ["session.sqlite"])):
        run = run_main(capsys, "detect", video, *TINY, "--devices", "openvino:GPU.7", "--out", folder)
        assert run.status == 2
        assert sorted(path.name for path in folder.iterdir()) == left
    assert (out / "a.jsonl").read_bytes() == before


def test_quiet_still_names_the_device(tmp_path: Path, video: Path, capsys: Capture) -> None:
    run = run_main(capsys, "detect", video, *TINY, "--out", tmp_path / "out", "--quiet")
    assert run.status == 0
    (line,) = run.err.splitlines()
    assert line.startswith("cpu:0: ")
    assert "96×96" in line


def test_each_frame_as_soon_as_possible(tmp_path: Path, video: Path, capsys: Capture) -> None:
    run = run_main(capsys, "detect", video, *TINY, "--hint", "latency", "--out", tmp_path / "out", "--json")
    assert run.status == 0, run.err
    assert ", batch 1\n" in run.err
    assert run.report["sources"][0]["frames"]["inferred"] == 30


def test_another_network_size(tmp_path: Path, video: Path, capsys: Capture) -> None:
    run = run_main(capsys, "detect", video, *TINY, "--size", "128x64", "--batch", "2", "--out", tmp_path / "out", "--quiet")
    assert run.status == 0, run.err
    assert "128×64, batch 2" in run.err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere file names are text")
def test_names_that_are_no_text(tmp_path: Path, video: Path, capsys: Capture) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9 #1?.mp4"))
    video.rename(odd)
    run = run_main(capsys, "detect", odd, *TINY, "--out", tmp_path / "out", "--json")
    assert run.status == 0, run.err
    assert run.report["sources"][0]["path"] == str(odd)
    (result,) = (tmp_path / "out").glob("*.jsonl")
    assert {line["source"] for line in read_lines(result)} == {"caf? #1?.mp4"}


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
def test_names_and_folders_that_are_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    folder = tmp_path / "caf\udce9"
    folder.mkdir()
    make_video(folder / "a.mp4", frames=10).rename(folder / "gr\udce4n.mp4")
    (folder / "b\udcf6se.mp4").write_bytes(b"nonsense" * 100)
    monkeypatch.chdir(folder)
    run = run_main(capsys, "detect", "gr\udce4n.mp4", "b\udcf6se.mp4", *TINY, "--format", "jsonl,video", "--out", "out")
    assert run.status == 1
    assert "is no video" in run.err
    assert len(read_lines(folder / "out" / "gr?n.jsonl")) == 10
    assert (folder / "out" / "gr?n.annotated.mp4").exists()
