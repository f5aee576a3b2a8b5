"""Shared by ``bench pipeline`` and ``bench scaling``: their options and their progress."""

import argparse
import sys

from framefleet.app.cli.arguments import options
from framefleet.engine.model.files import find_weights
from framefleet.engine.model.random_weights import is_random
from framefleet.engine.pool.events import DeviceReady, Event, StrategyChosen
from framefleet.engine.settings import RunSettings
from framefleet.engine.settings.table import DEFAULTS

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
    if arguments.weights is None and model is not None and model.is_file() and find_weights(model) is None:
        arguments.weights = RANDOM
    files = options.model_files(arguments, arguments.size)
    given = options.given_settings(arguments)
    if arguments.confidence is None:
        given["confidence"] = _RANDOM_CONFIDENCE if is_random(files.weights) else DEFAULTS["confidence"]
    return RunSettings.of(files, given)


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
