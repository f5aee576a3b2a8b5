"""``framefleet tune``: finds the fastest engine of each device for a model, for later runs."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from framefleet.app.cli import options
from framefleet.engine.notices import Notice
from framefleet.engine.settings import EngineSettings, RunSettings
from framefleet.engine.types import DeviceId, EngineInfo


def run(argv: Sequence[str]) -> int:
    """Tune, and print a line for each device, or JSON. Exit status 0. Raises FramefleetError if the model or a device cannot be used."""
    parser = options.make_parser(
        "tune",
        "Find the fastest engine of each device for a model. A run takes the engine that is ready soonest; after tuning, runs take the"
        " fastest one. Its detections must match those of fp32. CPUs compare them in frames of the videos."
        "\nTuning takes one to two minutes on a GPU. A run that continues another one keeps its engines.",
        examples=("--model yolov4-tiny", "street.mp4 --model yolov4.cfg --devices cuda:0,cuda:1"),
        json="print one JSON object instead of text",
    )
    parser.add_argument("videos", nargs="*", type=Path, metavar="VIDEO", help="with objects of the model (the demo's clip)")
    options.add_model_options(parser)
    parser.add_argument("--devices", type=options.device_list, default=(), metavar="auto|LIST", help="tuned one after the other")
    group = parser.add_argument_group("settings of the runs")
    options.add_settings(group, "precision", "batch", "resize", "hint", "latency_budget", "confidence")
    arguments = parser.parse_args(argv)

    from framefleet.engine.bench.tune import tune
    from framefleet.resources import DEMO

    files = options.model_files(arguments, arguments.size)
    settings: EngineSettings = RunSettings.of(files, options.chosen_settings(arguments)).engine
    tuned = []
    for found in tune(files, arguments.devices, settings, arguments.videos or [DEMO.clip], _Progress()):
        tuned.append({"before": _figures(found.before, found.images_before), "after": _figures(found.after, found.images_after)})
        if not arguments.json:
            engines = ((found.before, found.images_before), (found.after, found.images_after))
            before, after = (f"{_name(engine)}: {images:.1f} images/s" for engine, images in engines)
            gained = "as before" if found.before.choice == found.after.choice else f"before: {before}"
            print(f"{found.after.device}: {after} ({found.after.reason}); {gained}", flush=True)
    if arguments.json:
        print(json.dumps({"tuned": tuned}))
    return 0


class _Progress:
    """Prints each new step of a device."""

    def __init__(self) -> None:
        self._said = ""

    def __call__(self, device: DeviceId, doing: Notice, _fraction: float) -> None:
        step = doing.fields["what"] if doing.code == "backends.trying" else doing
        if (said := f"{device}: {step}") != self._said:
            self._said = said
            print(said, file=sys.stderr, flush=True)


def _name(engine: EngineInfo) -> str:
    return f"{engine.backend}, {engine.precision}, batch {engine.batch}"


def _figures(engine: EngineInfo, images: float) -> dict[str, Any]:
    return {
        "device": str(engine.device),
        "backend": engine.backend,
        "precision": engine.precision,
        "batch": engine.batch,
        "options": list(engine.options),
        "images_per_s": round(images, 2),
    }
