"""``framefleet bench …``: starts one of the measurements; the options and progress that several of them share."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from framefleet.app.cli import options
from framefleet.engine.model.files import find_weights, is_random
from framefleet.engine.pool.events import DeviceReady, Event, StrategyChosen
from framefleet.engine.settings import RunSettings, kinds, table

RANDOM = "random:1"
_RANDOM_CONFIDENCE = 0.4  # with it YOLOv4 with random weights finds about ten objects in a frame of the clip, like in a street


def add_pool_options(parser: argparse.ArgumentParser, parallel: str) -> None:
    """Add the options of the model and of the pool. parallel: the default strategy."""
    options.add_model_options(parser)
    how = parser.add_argument_group("how")
    options.add_settings(how, "devices", "batch", "precision", "parallel", "isolation", "decode", parallel=parallel)
    how.add_argument("--confidence", type=options.fraction, metavar="0..1", help="least confidence (0.25; with random weights 0.4)")


def run_settings(arguments: argparse.Namespace) -> RunSettings:
    """The settings that these options name. A model without weights gets random ones, which are as fast.

    Raises UsageError if no model is given, or a setting cannot be used.
    """
    model = arguments.model
    if (
        arguments.weights is None
        and model is not None
        and model.is_file()
        and model.suffix.lower() != ".onnx"
        and find_weights(model) is None
    ):
        arguments.weights = RANDOM
    files = options.model_files(arguments, arguments.size)
    chosen = options.chosen_settings(arguments)
    if arguments.confidence is None:
        chosen["confidence"] = _RANDOM_CONFIDENCE if is_random(files.weights) else table.DEFAULTS["confidence"]
    return RunSettings.of(files, chosen)


def say(text: str) -> None:
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)


def show_event(event: Event) -> None:
    """Print the strategy, and each device's engine."""
    match event:
        case StrategyChosen(strategy, reason):
            say(f"  {strategy}: {reason}")
        case DeviceReady(engine):
            say(f"  {engine.device}: {engine.device_name}, {engine.backend}, {engine.precision} ({engine.reason}), batch {engine.batch}")


WHAT = {
    "model": "how fast a model runs on each device, without decoding or files",
    "pipeline": "the whole pool on given files: frames/s, latency, stages, bottleneck",
    "scaling": "the speedup with 2, 4, 8 devices: a stream each, and one long video",
    "devices": "devices and the links between them: which is slow",
}


def run(argv: Sequence[str]) -> int:
    """Run the measurement, and return its exit status. Raises FramefleetError if the model, a device or a file cannot be used."""
    if argv and argv[0] in WHAT:
        status: int = import_module(f"framefleet.app.cli.bench.{argv[0]}").run(argv[1:])
        return status
    parser = options.make_parser(
        "bench",
        "Measure on this machine.",
        arguments="WHAT",
        examples=("model --model yolov4-tiny", "scaling --model yolov4-tiny --out report"),
        epilog="\n".join(["what can be measured (each has its own --help):", *(f"  {name:10} {words}" for name, words in WHAT.items())]),
    )
    if not argv:
        parser.error(f"what should be measured? Choose from: {', '.join(WHAT)}")
    parser.add_argument("what", type=options.checked(lambda text: kinds.one_of(text, [*WHAT])), metavar="WHAT", help=", ".join(WHAT))
    parser.parse_args(argv)
    return 2
