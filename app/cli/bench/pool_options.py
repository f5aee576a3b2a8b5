"""What ``bench pipeline`` and ``bench scaling`` have in common: their options, and what they say meanwhile."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from app.cli import options
from engine.model.files import find_weights
from engine.model.random_weights import is_random
from engine.pool.events import DeviceReady, Event, StrategyChosen
from engine.settings import Decode, EngineSettings, Isolation, ModelFiles, Parallel, Precision, RunSettings

RANDOM = "random:1"
_RANDOM_CONFIDENCE = 0.4  # YOLOv4 with random weights sees some ten objects in a frame of the clip then, as many as a street has
_CONFIDENCE = 0.25


def add_pool_options(parser: argparse.ArgumentParser, parallel: str) -> None:
    """The model and how it is run. parallel: the default."""
    options.add_size_option(options.add_model_options(parser))
    how = parser.add_argument_group("how")
    options.add_engine_options(how)
    how.add_argument("--parallel", choices=[*map(str, Parallel)], default=parallel, help=f"how the devices share a video ({parallel})")
    how.add_argument(
        "--isolation", choices=[*map(str, Isolation)], default="process", help="a process for each device, or threads of one (process)"
    )
    how.add_argument(
        "--decode", choices=[*map(str, Decode)], default="auto", help="what decodes videos; auto: NVDEC on GPUs, for what it can decode"
    )
    how.add_argument("--confidence", type=options.fraction, metavar="0..1", help="least confidence (0.25; with random weights 0.4)")


def run_settings(arguments: argparse.Namespace) -> RunSettings:
    """What these options say. A model without weights has random ones: they are as fast.

    Raises:
        UsageError: no model, or a setting that cannot be.
    """
    model = arguments.model
    if arguments.weights is None and model is not None and model.is_file() and find_weights(model) is None:
        arguments.weights = RANDOM
    files = options.model_files(arguments, arguments.size)
    confidence = arguments.confidence or (_RANDOM_CONFIDENCE if is_random(files.weights) else _CONFIDENCE)
    engine = EngineSettings(
        precision=Precision(arguments.precision), batch=arguments.batch, decode=Decode(arguments.decode), confidence=confidence
    )
    settings = RunSettings(files, arguments.devices, Parallel(arguments.parallel), engine)
    return replace(settings, isolation=Isolation(arguments.isolation))


def model_words(files: ModelFiles) -> str:
    """The model for a report."""
    return f"{files.cfg.stem}, random weights" if is_random(files.weights) else files.cfg.stem


def say(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def show_event(event: Event) -> None:
    """What of a run is worth a line."""
    match event:
        case StrategyChosen(strategy, reason):
            say(f"  {strategy}: {reason}")
        case DeviceReady(engine):
            say(f"  {engine.device}: {engine.device_name}, {engine.backend}, {engine.precision} ({engine.reason}), batch {engine.batch}")
