"""From the arrival of a packet to its boxes: p50 and p99 for some numbers of streams and rates, and whether the ledger is exact.

Each row is one run of ``framefleet detect``. Twice the capacity is part of the table: there, frames are dropped.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.report import table, write
from tests.support.media import make_video

LIBRARIES = "openvino", "av", "numpy"


def measure(address: str, streams: int, seconds: int, options: list[str], out: Path) -> dict[str, Any]:
    """The report of one run."""
    command = [sys.executable, "-m", "framefleet.app", "detect", *[address] * streams, *options]
    command += ["--to", f"{seconds}s", "--out", str(out / str(streams)), "--restart", "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    for source in report["sources"]:
        frames = source["frames"]
        assert frames["received"] == frames["inferred"] + frames["dropped"] + frames["failed"], frames
    return report


def rows_of(clip: Path, rate: int, arguments: argparse.Namespace, options: list[str], folder: Path) -> list[tuple[object, ...]]:
    """The rows of one rate."""
    rows: list[tuple[object, ...]] = []
    generator = [sys.executable, "-m", "benchmarks.live.generator", str(clip), str(rate)]
    with subprocess.Popen(generator, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        assert serving.stdin is not None
        address = f"http://127.0.0.1:{serving.stdout.readline().strip()}/"
        for count in map(int, arguments.streams.split(",")):
            report = measure(address, count, arguments.seconds, options, folder)
            (device,) = report["devices"]
            frames = [source["frames"] for source in report["sources"]]
            inferred = [each["inferred"] for each in frames]
            received = sum(each["received"] for each in frames)
            latency = device["latency_ms"]
            rates = f"{min(inferred) / arguments.seconds:.1f}–{max(inferred) / arguments.seconds:.1f}"
            figures = f"**{latency['p50']:.0f}**", f"**{latency['p99']:.0f}**"
            rows.append((rate, count, received, sum(inferred), received - sum(inferred), rates, *figures))
            print(*rows[-1], flush=True)
        serving.stdin.close()
    return rows


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cfg", type=Path, required=True)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--streams", default="8", help="numbers of streams")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rates", default="10,20,25", help="frames/s of each stream")
    arguments = parser.parse_args()
    options = ["--model", str(arguments.cfg), "--weights", arguments.weights, "--devices", "cpu:0"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for rate in map(int, arguments.rates.split(",")):
            clip = make_video(Path(folder) / "clip.mp4", 250, (1280, 720), rate, gop=25)
            rows += rows_of(clip, rate, arguments, options, Path(folder))
    head = ("frames/s sent", "streams", "received", "inferred", "dropped", "frames/s each", "ms, p50", "ms, p99")
    text = f"720p, {arguments.cfg.stem}, {arguments.seconds} s a row; received = inferred + dropped in every stream.\n\n"
    write("live.latency", "Packet to boxes on processors", text + table(head, rows), LIBRARIES, "live")


if __name__ == "__main__":
    main()
