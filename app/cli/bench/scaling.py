"""``framefleet bench scaling``: measures the speedup of 2, 4, 8 … devices over one."""

import json
import shlex
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from framefleet.app.cli.arguments import options
from framefleet.app.cli.arguments.parser import make_parser
from framefleet.app.cli.bench.pool_options import add_pool_options, run_settings, say, show_event
from framefleet.app.cli.reports.scaling import CHART, Facts, as_json, markdown, summary
from framefleet.app.cli.reports.scaling_chart import chart
from framefleet.app.cli.reports.table import Table
from framefleet.engine.bench.clips import Clips
from framefleet.engine.bench.devices.shares import counts
from framefleet.engine.bench.scaling import Experiment, Mode, Point, measure_scaling
from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.devices.discovery import default_devices
from framefleet.engine.errors import SourceError
from framefleet.engine.media.sources import missing
from framefleet.engine.model.random_weights import is_random
from framefleet.engine.pool.events import Event
from framefleet.engine.store.names import readable
from framefleet.engine.store.schema import explained
from framefleet.engine.types import DeviceId


def run(argv: Sequence[str]) -> int:
    """Measure, and write the report. Exit status 0.

    Raises FramefleetError if the model, a device or the source cannot be used, or the report cannot be written.
    """
    arguments = _parser().parse_args(argv)

    settings = run_settings(arguments)
    devices = settings.devices or _default()
    experiment = Experiment(
        settings,
        devices,
        tuple(arguments.counts or counts(len(devices))),
        tuple(map(Mode, arguments.mode)),
        arguments.seconds,
        arguments.rounds,
    )
    if arguments.source is not None and not arguments.source.exists():
        raise SourceError(missing(arguments.source))
    if arguments.out is not None:
        with explained(arguments.out, "make"):  # before measuring, which takes long: this may fail
            arguments.out.mkdir(parents=True, exist_ok=True)
    shown: set[tuple[Mode, int, int]] = set()

    def show(mode: Mode, count: int, turn: int, event: Event) -> None:
        if (mode, count, turn) not in shown:
            shown.add((mode, count, turn))
            say(f"round {turn + 1}, {mode} scaling on {count}" if count else "a trial, to find out how long the video must be")
        show_event(event)

    points: dict[tuple[Mode, int], Point] = {}
    table = Table("{:8} {:>8} {:>10} {:>9} {:>11}  {}", ("mode", "devices", "frames/s", "speedup", "efficiency", "bottleneck"))
    with tempfile.TemporaryDirectory(prefix="framefleet-") as folder:
        clips = Clips(Path(folder), arguments.source)
        named = [Path(argument).name if Path(argument).exists() else argument for argument in argv]
        command = shlex.join(["framefleet", "bench", "scaling", *named])
        model = settings.model.cfg.stem + (", random weights" if is_random(settings.model.weights) else "")
        facts = Facts(*map(readable, (command, clips.name, model)))
        for point in measure_scaling(experiment, clips, show):
            points[point.mode, point.count] = point
            if not arguments.json:
                figures = f"{point.rate:.1f}", f"{point.speedup:.2f}", f"{point.efficiency:.1%}"
                print(table.row(point.mode, point.count, *figures, point.run.bottleneck), flush=True)
    found = [*points.values()]
    if arguments.out is not None:
        _write(arguments.out, found, facts)
    print(json.dumps(as_json(found, facts)) if arguments.json else summary(found))
    return 0


def _parser() -> ArgumentParser:
    parser = make_parser(
        "bench scaling",
        "Measure the speedup of several devices over one: a stream for each (weak scaling), one long video for all (strong)."
        "\nMeanwhile the videos are in the folder of temporary files (TMPDIR): about 25 KB a frame.",
        examples=("--model yolov4-tiny", "--model yolov4.cfg --devices cuda:0,cuda:1 --out report"),
        json="print one JSON object instead of a table",
    )
    add_pool_options(parser, "segments")
    what = parser.add_argument_group("what")
    what.add_argument("--source", type=Path, metavar="FILE", help="a video to repeat (default: a generated 1080p H.264 clip)")
    what.add_argument("--counts", type=options.numbers, metavar="LIST", help="numbers of devices, beginning with 1 (1,2,4,8 … all)")
    what.add_argument("--mode", type=options.some_of(["weak", "strong"]), default=["weak", "strong"], metavar="LIST", help="weak,strong")
    what.add_argument("--seconds", type=options.seconds, default=20.0, metavar="S", help="about how long each run takes (20)")
    what.add_argument("--rounds", type=options.count(100), default=1, metavar="N", help="how many times everything is measured (1)")
    results = parser.add_argument_group("results")
    results.add_argument("--out", type=Path, metavar="DIR", help="write scaling.md, scaling.json and scaling.svg there")
    return parser


def _default() -> tuple[DeviceId, ...]:
    """The best devices; if that is the CPU alone and this process may use two cores, two CPU devices."""
    devices = default_devices()
    if [device.kind for device in devices] == ["cpu"] and usable_cores() > 1:
        return devices[0], DeviceId("cpu", "1")
    return devices


def _write(folder: Path, found: Sequence[Point], facts: Facts) -> None:
    most = max(found, key=lambda point: point.count)
    engine = most.run.devices[0].engine
    title = f"{facts.model} on {most.count} × {engine.device_name}" if most.count > 1 else f"{facts.model} on {engine.device_name}"
    subtitle = f"{engine.width}×{engine.height}, {engine.precision}; {facts.source}"
    files = {
        "scaling.md": markdown(found, facts),
        "scaling.json": json.dumps(as_json(found, facts), indent=1) + "\n",
        CHART: chart(found, title, subtitle),
    }
    for name, text in files.items():
        with explained(folder / name, "write"):
            (folder / name).write_text(text, "utf-8")
        say(f"written: {folder / name}")
