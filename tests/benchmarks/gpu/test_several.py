"""The benchmark of several GPUs reads what the commands print, and says what failed."""

from __future__ import annotations

import json
import time
from pathlib import Path

from benchmarks.gpu.several import Figure, Steps, links, rates, scaling, states

POINTS = [
    {"mode": "strong", "count": 1, "speedup": 1.0, "speedups": [1.0, 1.0, 1.0], "whole_speedups": [1.0, 1.0, 1.0]},
    {"mode": "strong", "count": 8, "speedup": 7.1, "speedups": [7.1, 6.9, 7.2], "whole_speedups": [5.8, 5.9, 5.7]},
    {"mode": "weak", "count": 8, "speedup": 7.8, "speedups": [], "whole_speedups": []},
]


def test_speedups_are_compared_with_the_targets_for_eight_gpus() -> None:
    figures = scaling("yolov4-608", "a line before\n" + json.dumps({"points": POINTS}))
    assert [(figure.what, figure.devices, figure.values, figure.target, figure.reached) for figure in figures[2:]] == [
        ("strong scaling, yolov4-608", 8, (7.1, 6.9, 7.2), 7.0, True),
        ("strong scaling, yolov4-608, whole file", 8, (5.8, 5.9, 5.7), 6.0, False),
        ("weak scaling, yolov4-608", 8, (7.8,), 7.7, True),
    ]
    assert all(figure.target is None for figure in figures[:2])
    assert [figure.what for figure in scaling("frames, yolov4-608", json.dumps({"points": POINTS[:1]}))] == [
        "frames, yolov4-608",
        "frames, yolov4-608, whole file",
    ]


def test_products_and_sums_of_several_devices_are_figures() -> None:
    eight = [f"cuda:{number}" for number in range(8)]
    entries = [
        {"test": "memory", "devices": eight[:1], "speedup": None},
        {"test": "product", "devices": eight, "speedup": 7.5, "bytes": 1 << 30},
        {"test": "sum", "devices": eight, "speedup": 0.9, "bytes": 3 << 20},
        {"test": "sum", "devices": eight[:1], "speedup": 1.0},
    ]
    figures = links(json.dumps({"measurements": entries}))
    assert [(figure.what, figure.values, figure.reached) for figure in figures] == [
        ("product, 1024 MiB", (7.5,), True),
        ("sum, 3 MiB", (0.9,), False),
    ]


def test_clocks_are_those_of_gpus_that_compute(tmp_path: Path) -> None:
    path = tmp_path / "gpus.csv"
    path.write_text(
        "2026/11/23 10:00:00.123, 0, 345, 70.5, 0\n"
        "2026/11/23 10:00:01.123, 0, 1980, 600.0, 99\n"
        "2026/11/23 10:00:01.125, 1, 1800, 500.0, 90\n"
        "2026/11/23 10:00:02.123, 0, [N/A], 600.0, 99\n"
        "2026/11/23 10:05:00.123, 0, 1200, 300.0, 50\n"
        "2026/11/23 10:00:03"
    )
    begun = time.mktime(time.strptime("2026/11/23 10:00:00", "%Y/%m/%d %H:%M:%S"))
    assert states(path, begun, begun + 60) == ("1890", "550")
    assert states(path, begun - 60, begun - 30) == states(tmp_path / "none.csv", begun, begun + 60) == ("", "")


def test_a_step_that_fails_is_reported_and_the_next_one_runs(tmp_path: Path) -> None:
    steps = Steps(tmp_path, 30.0)
    steps.run("broken", ["-c", "import sys; sys.exit('no such device')"], links)
    steps.run("wrong", ["-c", "print('no JSON')"], links)
    steps.run("good", ["-c", "print('{\"measurements\": []}')"], links)
    assert [row[-1] for row in steps.rows] == [
        "**failed**: CalledProcessError, see broken.log",
        "**failed**: JSONDecodeError, see wrong.log",
        "done",
    ]
    assert (tmp_path / "broken.log").read_text().strip() == "no such device"


def test_the_speedup_of_each_round_is_that_over_one_device(tmp_path: Path) -> None:
    steps = Steps(tmp_path, 30.0)
    commands = {count: ["-c", f"print('{{\"frames_per_s\": {rate}}}')"] for count, rate in ((1, 10.0), (2, 17.5))}
    rates(steps, "tiles", 2, commands)
    assert [row[0] for row in steps.rows] == ["tiles-1-1", "tiles-2-1", "tiles-1-2", "tiles-2-2"]
    assert steps.figures == [
        Figure("tiles, frames/s", 1, (10.0, 10.0)),
        Figure("tiles, frames/s", 2, (17.5, 17.5)),
        Figure("tiles", 2, (1.75, 1.75)),
    ]
    broken = Steps(tmp_path, 30.0)
    rates(broken, "tiles", 1, {1: ["-c", "raise SystemExit(1)"], 2: commands[2]})
    assert broken.figures == [Figure("tiles, frames/s", 2, (17.5,))]
