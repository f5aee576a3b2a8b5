"""``framefleet bench pipeline SOURCE…``: measures the pool on given files: frames/s, latency, stages and bottleneck."""

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from framefleet.app.cli import options
from framefleet.app.cli.bench import add_pool_options, run_settings, show_event
from framefleet.app.cli.bench.scaling import device_json
from framefleet.app.cli.table import Table
from framefleet.engine.bench.pool_run import PoolRun, run_pool
from framefleet.engine.devices.discovery import chosen_devices
from framefleet.engine.media.sources import expand_sources

_COLUMNS = "{:16} {:>8} {:>10} {:>9} {:>9}  {}"
_HEADS = ("device", "frames", "frames/s", "p50 ms", "p99 ms", "mean ms of a frame in each stage; the device's own by its clock")


def run(argv: Sequence[str]) -> int:
    """Measure, and print a table or JSON. Exit status 0. Raises FramefleetError if the model, a device or a source cannot be used."""
    arguments = _parser().parse_args(argv)
    settings = run_settings(arguments)
    sources = expand_sources(arguments.sources) * arguments.times
    measured = run_pool(settings, chosen_devices(settings.devices), sources, show=show_event)
    print(json.dumps(_as_json(measured)) if arguments.json else as_text(measured))
    return 0


def _parser() -> ArgumentParser:
    parser = options.make_parser(
        "bench pipeline",
        "Measure the whole pool on given files. Nothing is stored.",
        arguments="SOURCE…",
        examples=("street.mp4 --model yolov4-tiny", "street.mp4 --model yolov4.cfg --weights random:1 --parallel frames --times 4"),
        json="print one JSON object instead of text",
    )
    parser.add_argument("sources", nargs="+", type=Path, metavar="SOURCE", help="a video, a picture, or a folder of them")
    add_pool_options(parser, "auto")
    parser.add_argument("--times", type=options.count(10_000), default=1, metavar="N", help="how many times the sources are queued (1)")
    return parser


def _as_json(measured: PoolRun) -> dict[str, object]:
    return {
        "strategy": measured.strategy,
        "reason": str(measured.reason),
        "frames": measured.frames,
        "frames_per_s": round(measured.frames_per_s, 2),
        "whole_frames_per_s": round(measured.whole_per_s, 2),
        "seconds": round(measured.seconds, 3),
        "pool_load": round(measured.pool_load, 3),
        "host_load": measured.host_load,
        "bottleneck": measured.bottleneck,
        "devices": [device_json(device) for device in measured.devices],
    }


def as_text(measured: PoolRun) -> str:
    """A table of the devices, and the bottleneck."""
    table, lines = Table(_COLUMNS, _HEADS), []
    for device in measured.devices:
        stages = " ".join(f"{stage} {ms:.2f}" for stage, ms in device.stages.items())
        busy = " ".join(f"{stage} {ms:.3f}" for stage, ms in device.busy.items())
        latencies = ("" if value is None else f"{value:.1f}" for value in (device.latency_p50, device.latency_p99))
        figures = device.frames, f"{device.frames_per_s:.1f}", *latencies
        lines.append(table.row(str(device.engine.device), *figures, f"{stages}; {busy}" if busy else stages))
    load = "" if measured.host_load is None else f", the machine's processors {measured.host_load:.0%}"
    return "\n".join(
        [
            *lines,
            f"{measured.frames} frames: {measured.frames_per_s:.1f} frames/s in the steady state of {measured.seconds:.1f} s,"
            f" {measured.whole_per_s:.1f} from the moment when the engines were ready",
            f"bottleneck: {measured.bottleneck} (the pool's process is {measured.pool_load:.0%} busy{load})",
        ]
    )
