"""``framefleet bench …``: starts one of the measurements, each with its own options."""

from collections.abc import Sequence
from importlib import import_module

from framefleet.app.cli.arguments.options import checked
from framefleet.app.cli.arguments.parser import make_parser
from framefleet.engine.settings.kinds import one_of

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
    parser = make_parser(
        "bench",
        "Measure on this machine.",
        arguments="WHAT",
        examples=("model --model yolov4-tiny", "scaling --model yolov4-tiny --out report"),
        epilog="\n".join(["what can be measured (each has its own --help):", *(f"  {name:10} {words}" for name, words in WHAT.items())]),
    )
    if not argv:
        parser.error(f"what should be measured? Choose from: {', '.join(WHAT)}")
    parser.add_argument("what", type=checked(lambda text: one_of(text, [*WHAT])), metavar="WHAT", help=", ".join(WHAT))
    parser.parse_args(argv)
    return 2
