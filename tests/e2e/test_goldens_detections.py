"""The results of each strategy are those that were recorded."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Outcome, run_main
from tests.support.goldens import CLIP, MODEL, Goldens, compare_frames, read_lines

DEVICES = {"cpu:0", "cpu:1"}
GROUP = {"cpu:0+cpu:1"}
SHARED = DEVICES | GROUP
"""Of tiles: some frames are the work of both devices."""


def facts(report: dict[str, Any]) -> list[str]:
    """A run's ``--json`` object as lines: its keys in order, and the values that depend on neither machine nor timing."""
    lines = [f"keys: {' '.join(report)}"]
    for source in report["sources"]:
        lines.append(f"source: {' '.join(source)}")
        lines.append(f"  path {source['path']}, frames {json.dumps(source['frames'])}")
    for device in report["devices"]:
        lines.append(f"device: {' '.join(device)}")
        lines.append(f"  precision {device['precision']}, latency_ms: {' '.join(device['latency_ms'])}")
    return [*lines, f"exit: {report['exit']}"]


def detect(folder: Path, *arguments: str | Path) -> Outcome:
    """Run ``framefleet detect ARGUMENTS`` in a folder."""
    with chdir(folder):
        return run_main("detect", *arguments)


@pytest.mark.parametrize(
    ("strategy", "options", "golden", "devices"),
    [
        ("segments", (), "detections.jsonl.gz", DEVICES),
        pytest.param("streams", (), "detections.jsonl.gz", DEVICES, marks=pytest.mark.slow),
        pytest.param("frames", (), "detections.jsonl.gz", DEVICES, marks=pytest.mark.slow),
        pytest.param("tiles", ("--tiles", "2x2", "--to", "5"), "detections.tiles.jsonl.gz", SHARED, marks=pytest.mark.slow),
        pytest.param("depth", (), "detections.jsonl.gz", GROUP, marks=pytest.mark.slow),
    ],
    ids=["segments", "streams", "frames", "tiles", "depth"],
)
def test_a_strategy_gives_the_recorded_results(
    goldens: Goldens, tmp_path: Path, strategy: str, options: tuple[str, ...], golden: str, devices: set[str]
) -> None:
    """All strategies but ``tiles`` give the same results, so they share a golden."""
    names = ["street", "again"] if strategy == "streams" else ["street"]
    for name in names:
        shutil.copy(CLIP, tmp_path / f"{name}.mp4")
    run = detect(
        tmp_path,
        *(*(f"{name}.mp4" for name in names), *MODEL, "--devices", "cpu:0,cpu:1"),
        *("--parallel", strategy, *options, "--format", "jsonl", "--out", "out", "--json"),
    )
    assert run.status == 0, run.err
    content = re.sub(rb'"device": "[^"]*"', b'"device": ""', (tmp_path / "out" / "street.jsonl").read_bytes())  # depends on timing
    recorded = read_lines(goldens.expect(golden, content))
    for name in names:
        actual = read_lines((tmp_path / "out" / f"{name}.jsonl").read_bytes())
        compare_frames(actual, [line | {"source": f"{name}.mp4"} for line in recorded], devices)
    report = run.report
    assert {device["id"] for device in report["devices"]} == (GROUP if strategy == "depth" else DEVICES)
    assert sum(device["frames"] for device in report["devices"]) == len(names) * len(recorded)
    goldens.compare_text(f"summary.{strategy}.txt", "\n".join(facts(report)) + "\n")


def test_a_run_that_fails_gives_the_recorded_summary(goldens: Goldens, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    shutil.copy(CLIP, tmp_path / "street.mp4")
    content = CLIP.read_bytes()
    (tmp_path / "broken.mp4").write_bytes(content[: len(content) // 10])
    options = (*MODEL, "--devices", "cpu:0", "--to", "4", "--json")
    lines = []
    for name, sources in (
        ("one source is missing", ("street.mp4", "missing.mp4")),
        ("no frame of one source can be read", ("street.mp4", "pictures")),
        ("the only source cannot be opened", ("broken.mp4",)),
    ):
        run = detect(tmp_path, *sources, *options, "--out", name)
        lines += [f"{name}: status {run.status}", *facts(run.report), ""]
    goldens.compare_text("summary.failed.txt", "\n".join(lines) + "\n")
