"""``framefleet bench model``: measures how fast a model runs on each device."""

import json
import sys
from collections.abc import Sequence

from framefleet.app.cli import options
from framefleet.app.cli.table import Table
from framefleet.engine.settings import Precision

COLUMNS = "{:16} {:20} {:9} {:>9} {:>5} {:>9} {:>9} {:>9}"
HEADS = ("device", "backend", "precision", "size", "batch", "images/s", "p50 ms", "p99 ms")


def run(argv: Sequence[str]) -> int:
    """Measure, and print a table or JSON. Exit status 0. Raises FramefleetError if the model or a device cannot be used."""
    parser = options.make_parser(
        "bench model",
        "Measure how fast a model runs on each device, without decoding or files.",
        examples=("--model yolov4-tiny", "--model yolov4.cfg --weights random:1 --size 416,608 --batch 1,8"),
        json="print one JSON object instead of a table",
    )
    options.add_model_options(parser, size=False)
    parser.add_argument("--devices", type=options.device_list, default=(), metavar="auto|LIST", help="measured one after the other")
    parser.add_argument(
        "--precision", type=options.some_of([*Precision]), default=["auto"], metavar="LIST", help=f"of {', '.join(Precision)} (auto)"
    )
    parser.add_argument("--size", type=options.numbers, metavar="LIST", help="network sizes, e.g. 416,608 (the cfg's own)")
    parser.add_argument("--batch", type=options.numbers, default=[1], metavar="LIST", help="frames per inference, e.g. 1,8 (1)")
    parser.add_argument("--seconds", type=options.seconds, default=5.0, metavar="S", help="how long to measure each (5)")
    arguments = parser.parse_args(argv)

    from framefleet.engine.bench.model import bench_model
    from framefleet.engine.devices.discovery import chosen_devices

    devices = chosen_devices(arguments.devices)
    precisions = [Precision(name) for name in arguments.precision]
    files = options.model_files(arguments)
    results = []
    table = Table(COLUMNS, HEADS)
    for measured in bench_model(files, devices, precisions, arguments.size, arguments.batch, arguments.seconds):
        engine = measured.engine
        print(f"{engine.device}: {engine.device_name}, {engine.precision} ({engine.reason})", file=sys.stderr)
        results.append(measured.as_json())
        if not arguments.json:
            figures = (f"{value:.2f}" for value in (measured.images_per_s, measured.latency_p50, measured.latency_p99))
            print(table.row(str(engine.device), engine.backend, engine.precision, measured.size, engine.batch, *figures), flush=True)
    if arguments.json:
        print(json.dumps({"results": results}))
    return 0
