"""The demo as a user starts it: nothing but the program, and what it says about itself must be true."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import av
import pytest

from framefleet.engine.evaluation.accuracy import read_truth
from framefleet.resources import DEMO
from tests.e2e.test_window import MISSING, Desktop, box_pixels, desktop, display, processes_of_session, quit_at_last, wait_for
from tests.support.faults.counts import long_count, short_and_long
from tests.support.media import beginning
from tests.support.paths import PYTHONPATH

__all__ = ["desktop", "display"]  # fixtures
HEAVY = ("av", "cv2", "openvino", "onnx", "cuda", "tensorrt", "tensorrt_rtx", "PySide6", "PyNvVideoCodec")
PROGRAM = f"""
import sys
from pathlib import Path
from framefleet import resources
resources.DEMO = resources.DemoFiles(clip=Path(sys.argv[1]), truth=Path(sys.argv[2]))
from framefleet.app.main import main
if __name__ == "__main__":
    status = main(sys.argv[3:])
    print(sorted({{name.split(".")[0] for name, module in sys.modules.items() if module}} & set({HEAVY!r})), file=sys.stderr)
    sys.exit(status)
"""


def shortened(folder: Path, frames: int) -> tuple[Path, Path]:
    """The beginning of the demo's clip, and its ground truth."""
    clip, truth = beginning(DEMO.clip, folder / DEMO.clip.name, frames), folder / DEMO.truth.name
    content = read_truth(DEMO.truth)
    content["images"] = [image for image in content["images"] if image["id"] < frames]
    content["annotations"] = [box for box in content["annotations"] if box["image_id"] < frames]
    truth.write_bytes(gzip.compress(json.dumps(content).encode()))
    return clip, truth


@pytest.mark.timeout(300)
@short_and_long(12, 10_000, "length")
def test_a_report_with_a_video(tmp_path: Path, length: int) -> None:
    """The long form uses the whole clip."""
    clip, truth = shortened(tmp_path, length)
    (tmp_path / "program.py").write_text(PROGRAM)
    nowhere = {name: value for name, value in os.environ.items() if "DISPLAY" not in name and name != "QT_QPA_PLATFORM"}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py"), str(clip), str(truth), "demo", "--json", "--out", "results"],
        cwd=tmp_path,
        env=nowhere | {"PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *progress, loaded = done.stderr.strip().splitlines()
    assert loaded == "[]", "decoders and drivers belong into processes of their own"
    report = json.loads(done.stdout.splitlines()[-1])
    frames = len(read_truth(truth)["images"])
    assert list(report) == ["sources", "devices", "exit", "accuracy"]
    assert report["exit"] == "ok"
    assert report["sources"][0]["frames"] == {"decoded": frames, "inferred": frames, "skipped": 0, "dropped": 0, "failed": 0}
    assert set(report["accuracy"]) == {"map50", "map50_95"}
    assert report["accuracy"]["map50"] > 0.9
    assert 0.6 < report["accuracy"]["map50_95"] < report["accuracy"]["map50"]
    assert all(device["backend"] and device["precision"] and device["fps"] > 0 for device in report["devices"])
    choice = f"{report['devices'][0]['precision']} (the demo's own choice: --precision auto takes what tuning has found)"
    assert any(choice in line for line in progress), "the precision is shown with its reason"
    with av.open(str(tmp_path / "results" / "framefleet-demo.annotated.mp4")) as video:
        times = [frame.time for frame in video.decode(video=0)]
    with av.open(str(clip)) as video:
        assert times == [frame.time for frame in video.decode(video=0)]
    lines = [json.loads(line) for line in (tmp_path / "results" / "framefleet-demo.jsonl").read_text().splitlines()]
    assert [line["frame"] for line in lines] == list(range(frames))
    confidences = [detection["confidence"] for line in lines for detection in line["detections"]]
    assert min(confidences) >= 0.25, "weak detections count for the accuracy only"
    assert len(confidences) > 20 * frames
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == [
        "framefleet-demo.annotated.mp4",
        "framefleet-demo.jsonl",
        "session.sqlite",
    ]


@pytest.mark.slow  # the window of tests/e2e/test_window.py with the demo of tests/app/window/demo
@pytest.mark.skipif(bool(MISSING), reason=f"needs a virtual display: apt-get install {' '.join(MISSING)}")
def test_a_window_where_there_is_a_display(desktop: Desktop, tmp_path: Path) -> None:
    """On a slow machine, boxes appear when the video is shown again: a short clip begins again sooner."""
    clip, truth = shortened(tmp_path, long_count(10_000))
    (tmp_path / "program.py").write_text(PROGRAM)
    settings = tmp_path / "XDG_CONFIG_HOME" / "framefleet" / "framefleet.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text("[detection]\ncfg=/of/the/user.cfg\nweights=/of/the/user.weights\n")
    app = desktop.start(str(tmp_path / "program.py"), str(clip), str(truth), "demo")
    wait_for(lambda: DEMO.clip.name in desktop.xdotool("search", "--onlyvisible", "--name", DEMO.clip.name, "getwindowname"), "title")
    wait_for(lambda: box_pixels(desktop.screen(), 7) > 300, "boxes over the picture")
    window = desktop.xdotool("search", "--onlyvisible", "--name", "Framefleet").splitlines()[0]
    desktop.xdotool("windowfocus", "--sync", window)
    desktop.xdotool("key", "--window", window, "ctrl+q")
    quit_at_last(desktop, app)
    assert app.wait(60) == 0
    wait_for(lambda: not processes_of_session(app.pid), "end of all processes")
    assert "cfg=/of/the/user.cfg" in settings.read_text(), "the demo changes no settings"
