"""``framefleet bench devices``: measures devices and the links between them, and names slow ones."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence

from framefleet.app.cli import options
from framefleet.app.cli.table import Table
from framefleet.engine.bench.devices_run import Measurement, Test, findings, ideal, of_copy, pays_from, speedup, verdict
from framefleet.engine.types import DeviceId

_COLUMNS = "{:>12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>12} {:>7}  {}"
_HEADS = ("size", "ms", "p5", "p95", "variance", "GB/s", "of copy", "speedup", "ideal", "devices")


def run(argv: Sequence[str]) -> int:
    """Measure, and print tables or JSON. Exit status 0: nothing is slow or failed; 1: something is.

    Raises FramefleetError if no device can be used.
    """
    arguments = _parser().parse_args(argv)

    from framefleet.engine.bench.devices_run import DeviceBench
    from framefleet.engine.devices.discovery import chosen_devices

    bench = DeviceBench(chosen_devices(arguments.devices), arguments.repetitions, arguments.largest and arguments.largest << 20)
    measurements = []
    for measured in bench.measure():
        measurements.append(measured)
        print(f"{measured.test}: {_names(measured.devices)}" + (f": {measured.problem}" if measured.problem else ""), file=sys.stderr)
    slow = findings(measurements, bench.names)
    if arguments.json:
        print(json.dumps(as_json(measurements, bench.names)))
    else:
        print(text(measurements, bench.names))
    return 1 if slow else 0


def _parser() -> ArgumentParser:
    parser = options.make_parser(
        "bench devices",
        "Measure devices and the links between them: copies, a matrix-vector product split by columns, a sum over a vector."
        "\nA device or link that gives less than 80 % of the median of its peers is named as slow.",
        examples=("", "--devices cuda:0,cuda:1 --repetitions 100"),
        json="print one JSON object instead of tables",
    )
    parser.add_argument("--devices", type=options.device_list, default=(), metavar="auto|LIST", help="cpu:0,cpu:1 or cuda:0,cuda:1 …")
    parser.add_argument("--repetitions", type=options.count(1 << 20), default=30, metavar="N", help="of each measurement, at least 2 (30)")
    parser.add_argument(
        "--largest",
        type=options.count(1 << 20),
        metavar="MIB",
        help="of the largest array (GPUs: a quarter of the free memory, at most 32 GiB)",
    )
    return parser


def as_json(measurements: Sequence[Measurement], names: Mapping[DeviceId, str]) -> dict[str, object]:
    """All measurements. "speedup": over the fastest device alone; "ideal": the speedup that the memory bandwidths allow."""
    entries = []
    for measured in measurements:
        gain, share = speedup(measured, measurements), of_copy(measured, measurements)
        extra = {"speedup": gain and round(gain, 3), "ideal": gain and round(ideal(measured, measurements), 3)}
        entries.append(measured.as_json() | extra | {"of_copy": share and round(share, 3)})
    slow = findings(measurements, names)
    return {
        "devices": [{"id": str(device), "name": name} for device, name in names.items()],
        "measurements": entries,
        "verdict": {"healthy": not slow, "findings": slow, "words": verdict(measurements, names)},
    }


def text(measurements: Sequence[Measurement], names: Mapping[DeviceId, str]) -> str:
    """The measurements as tables, and the verdict."""
    lines = [f"{device}: {name}" for device, name in names.items()]
    for test in Test:
        some = [measured for measured in measurements if measured.test is test and measured.time is not None]
        if not some:
            continue
        if test in (Test.PEER, Test.PEER_LATENCY):
            lines += ["", *_matrix(some)]
            continue
        table = Table(_COLUMNS, _HEADS)
        lines += ["", _TITLES[test], *(table.row(*_cells(measured, measurements)) for measured in _worth_showing(some))]
        if test is Test.SUM and (least := pays_from(measurements)) is not None:
            lines.append(f"several devices are faster than one from {least / 2**20:.0f} MiB on")
    return "\n".join([*lines, "", verdict(measurements, names)])


_TITLES = {
    Test.MEMORY: "copies within a device's memory (bytes read and written)",
    Test.UPLOAD: "pinned host memory to device",
    Test.DOWNLOAD: "device to pinned host memory",
    Test.PRODUCT: "matrix · vector, columns shared by the devices: from the call to the result in host memory",
    Test.SUM: "sum of a vector, its parts on the devices: from the call to the result in host memory",
}


def _worth_showing(some: Sequence[Measurement]) -> list[Measurement]:
    """The rows worth showing. Of one device's sums of small vectors only the fastest: they measure the launch of a kernel."""
    largest = max(measured.nbytes for measured in some)
    fastest: dict[int, float] = {}
    for measured in some:
        if len(measured.devices) == 1 and measured.rate is not None:
            fastest[measured.nbytes] = max(measured.rate, fastest.get(measured.nbytes, 0.0))
    return [one for one in some if one.nbytes == largest or len(one.devices) > 1 or one.rate == fastest[one.nbytes]]


def _cells(measured: Measurement, measurements: Sequence[Measurement]) -> tuple[str, ...]:
    time, gain, share = measured.time, speedup(measured, measurements), of_copy(measured, measurements)
    assert time is not None
    return (
        f"{measured.nbytes / 2**20:.0f} MiB",
        *(f"{value:.3f}" for value in (time.median, time.p5, time.p95)),
        f"{time.variance:.2g}",
        f"{measured.rate:.1f}",
        "" if share is None else f"{share:.0%}",
        "" if gain is None else f"{gain:.2f}",
        "" if gain is None else f"{ideal(measured, measurements):.2f}",
        _names(measured.devices) + (f" ({measured.note})" if measured.note else ""),
    )


def _matrix(some: Sequence[Measurement]) -> list[str]:
    """A table of the copies from each device (rows) to each other device (columns)."""
    small = some[0].test is Test.PEER_LATENCY
    devices = list(dict.fromkeys(measured.devices[0] for measured in some))
    values = {measured.devices: (1000 * measured.time.median if small else measured.rate or 0.0) for measured in some if measured.time}
    title = f"a copy of {some[0].nbytes} bytes from device to device, µs" if small else "copies from device to device, GB/s"
    lines = [f"{title} ({'; '.join(sorted({measured.note for measured in some}))})"]
    lines.append(f"{'':>10}" + "".join(f"{device!s:>10}" for device in devices))
    for source in devices:
        cells = (values.get((source, target)) for target in devices)
        lines.append(f"{source!s:>10}" + "".join(f"{'' if value is None else f'{value:.1f}':>10}" for value in cells))
    return lines


def _names(devices: Sequence[DeviceId]) -> str:
    return ", ".join(map(str, devices)) if len(devices) < 5 else f"{devices[0]} … {devices[-1]}"
