"""How many streams one device can follow: the most whose packets become boxes in time, and what limits their number.

One worker runs with its engine. Feeding processes replay an H.264 video in real time, each stream from another keyframe and at another
phase. They send by the code of the capture processes, over the same kind of connection, but several streams share one process: a hundred
capture processes would take half a minute to start. The order and storing of results is left out. Streams are added until the p99 of
packet → boxes exceeds the limit or frames are dropped; then the largest number in between is searched.
"""

from __future__ import annotations

import argparse
import heapq
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import reduction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import av
import numpy as np

from benchmarks.report import table, write
from framefleet.engine.bench.pool_run import Clips
from framefleet.engine.media.live.capture import Outlet
from framefleet.engine.media.live.messages import EpochBegan, Format, LivePacket
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.model.load import input_size
from framefleet.engine.notices import DeviceError, Notice, literal
from framefleet.engine.pool.events import DeviceReady, EpochStarted
from framefleet.engine.pool.protocol import Done, Failed, Frames, Setup, Stats, Stop, Stream, StreamCounts
from framefleet.engine.pool.worker import worker
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.settings import EngineSettings, ModelFiles
from framefleet.engine.types import DeviceId

LIBRARIES = "PyNvVideoCodec", "tensorrt-rtx", "av", "numpy"
FEEDERS = 4
MAX_DROPPED = 0.01
"""The largest share of frames that may be dropped: newest-wins keeps the latency short even where most frames are dropped."""
SETTLE_SECONDS = 4.0
"""Wait after streams were added: for a moment they need memory and decoders at once."""
FRAMES = 1500


@dataclass
class Fed:
    """One stream of a feeding process. due: ``perf_counter`` of its next packet. place: of this packet in the video."""

    outlet: Outlet
    thread: threading.Thread
    due: float
    rate: int
    place: int
    number: int = 0
    ended: bool = False


def feed(connection: Connection[Any, Any], video: str) -> None:
    """Replay a video to the connections that come: the main function of a feeding process.

    Takes ``(number, rate, first, phase)``, after which a descriptor follows, or ``(number,)`` to end a stream; None: the end. Sends
    ``(number, packets)`` at the end of a stream, and ``(None, lateness)``, seconds, about once a second.
    """
    form, packets = read(video)
    keys = [place for place, (_, key) in enumerate(packets) if key]
    streams: dict[int, Fed] = {}
    agenda: list[tuple[float, int]] = []
    report, late = time.perf_counter() + 1, 0.0
    while True:
        wait = max(0.0, min(agenda[0][0] if agenda else report, report) - time.perf_counter())
        if connection.poll(wait):
            message = connection.recv()
            if message is None:
                return
            if len(message) == 1:
                fed = streams.pop(message[0])
                fed.ended = True
                fed.outlet.close()
                fed.thread.join()
                connection.send((message[0], fed.number))
                continue
            number, rate, first, phase = message
            outlet = Outlet()
            outlet.attach(type(connection)(reduction.recv_handle(connection)))
            fed = Fed(
                outlet, threading.Thread(target=outlet.run, daemon=True), time.perf_counter() + phase / rate, rate, keys[first % len(keys)]
            )
            fed.thread.start()
            streams[number] = fed
            heapq.heappush(agenda, (fed.due, number))
        now = time.perf_counter()
        while agenda and agenda[0][0] <= now:
            due, number = heapq.heappop(agenda)
            if (fed_now := streams.get(number)) is None or fed_now.due != due:
                continue
            late = max(late, now - due)
            send(fed_now, form, packets)
            heapq.heappush(agenda, (fed_now.due, number))
        if now >= report:
            connection.send((None, late))
            report, late = now + 1, 0.0


def send(fed: Fed, form: Format, packets: list[tuple[bytes, bool]]) -> None:
    """Send the next packet of a stream, which has arrived now."""
    data, key = packets[fed.place]
    epoch = None if fed.number else EpochBegan(form, Notice("live.first"), 0)
    fed.outlet.put(LivePacket(fed.number, fed.number / fed.rate, time.perf_counter(), key, False, data), epoch)
    fed.number += 1
    fed.place = (fed.place + 1) % len(packets)
    fed.due += 1 / fed.rate


def read(video: str) -> tuple[Format, list[tuple[bytes, bool]]]:
    """The format of a video, and its packets with whether each is a keyframe."""
    with av.open(video) as container:
        stream = container.streams.video[0]
        codec = stream.codec_context
        form = Format(codec.name, codec.extradata, codec.width, codec.height, codec.pix_fmt)
        return form, [(bytes(packet), packet.is_keyframe) for packet in container.demux(stream) if packet.size]


@dataclass
class Interval:
    """What came in some seconds. latencies: ms, packet → boxes. feeding: see ``Stats``. processors: used by the worker, and by all."""

    seconds: float
    latencies: np.ndarray[Any, Any]
    dropped: Counter[str]
    feeding: Counter[str]
    stages: Counter[str]
    worker: float
    machine: float
    decoder: float | None
    gpu: float | None
    memory: float | None
    late: float

    @property
    def dropped_share(self) -> float:
        """Frames that were not inferred, of all."""
        lost = sum(self.dropped.values())
        return lost / max(1, lost + len(self.latencies))

    def percentile(self, share: float) -> float:
        """Of the latencies, ms."""
        return float(np.percentile(self.latencies, share)) if len(self.latencies) else float("inf")

    @property
    def means(self) -> str:
        """The mean time of a frame in each stage, ms."""
        count = max(1, len(self.latencies))
        return ", ".join(f"{stage} {total / count:.1f}" for stage, total in self.stages.items() if stage != "deliver")

    @property
    def limit(self) -> str:
        """The name of what limits the device."""
        slowest = max(self.feeding, key=lambda stage: self.feeding[stage]) if self.feeding else "nothing"
        match slowest:
            case "sources":
                return "none: it waits for packets"
            case "decode":
                return "NVDEC" if self.decoder is not None and self.decoder >= 90 else "host (decoding)"
            case "infer":
                return "network"
        return f"host ({slowest})"


@dataclass
class Meters:
    """What the worker has sent, for the interval that runs."""

    latencies: list[Any] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    feeding: Counter[str] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)


class Card:
    """The GPU's figures by nvidia-smi, twice a second: NVDEC and GPU in percent, memory in MiB."""

    def __init__(self) -> None:
        self._rows: list[list[float]] = []
        self._process: subprocess.Popen[str] | None = None
        query = "--query-gpu=utilization.decoder,utilization.gpu,memory.used"
        with suppress(OSError):
            self._process = subprocess.Popen(
                ["nvidia-smi", query, "--format=csv,noheader,nounits", "-lms", "500"], stdout=subprocess.PIPE, text=True
            )
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with suppress(ValueError):
                self._rows.append([float(value) for value in line.split(",")])

    def reset(self) -> None:
        """Forget what was read."""
        self._rows.clear()

    def medians(self) -> list[float | None]:
        """The medians since ``reset``."""
        rows = self._rows[:]
        return [statistics.median(column) for column in zip(*rows, strict=True)] if rows else [None] * 3

    def close(self) -> None:
        """End the program."""
        if self._process is not None:
            self._process.kill()


class Device:
    """A worker with an engine, and the processes that feed it."""

    def __init__(self, setup: Setup, video: str) -> None:
        self._worker = ChildProcess("worker", worker.main, setup, words=Notice("live.process"))
        self._feeders = [ChildProcess("feeder", feed, video, words=Notice("live.process")) for _ in range(FEEDERS)]
        self._form = read(video)[0]
        self._lock = threading.Lock()
        self._meters = Meters()
        self._late = [0.0] * FEEDERS
        self._next = 0
        self.running: list[int] = []
        self.received: dict[int, int] = {}
        self.accounted: Counter[int] = Counter()
        self.begun: set[int] = set()
        self.done: set[int] = set()
        self._ready = threading.Event()
        self.problem: Notice | None = None
        self.engine = ""
        self.card = Card()
        threading.Thread(target=self._listen, daemon=True).start()
        for number in range(FEEDERS):
            threading.Thread(target=self._hear, args=(number,), daemon=True).start()
        self._ready.wait()
        if self.problem is not None:
            raise DeviceError(self.problem)

    def _listen(self) -> None:
        while (message := self._worker.receive()) is not None:
            with self._lock:
                match message:
                    case DeviceReady(info):
                        self.engine = f"{info.precision}, batch {info.batch}, {info.slots} slots"
                        self._ready.set()
                    case Failed():
                        self.problem = message.message
                        self._ready.set()
                    case Stats():
                        self._meters.latencies.append(message.latencies)
                        self._meters.feeding.update(message.feeding)
                        self._meters.stages.update(message.stages)
                    case StreamCounts():
                        self.accounted[message.source] += sum(message.dropped.values())
                        self._meters.dropped.update({reason.code: count for reason, count in message.dropped.items()})
                    case Frames():
                        self.accounted[message.source] += len(message)
                    case EpochStarted():
                        self.begun.add(message.source)
                    case Done() if message.complete:
                        self.done.add(message.source)

    def _hear(self, number: int) -> None:
        while (message := self._feeders[number].receive()) is not None:
            source, value = message
            if source is None:
                self._late[number] = max(self._late[number], value)
            else:
                self.received[source] = value

    def use(self, count: int, rate: int) -> None:
        """Start this number of streams, and wait until all of them run."""
        while len(self.running) < count:
            number = self._next
            self._next += 1
            self.running.append(number)
            packets, theirs = multiprocessing.Pipe()
            info = SourceInfo(
                f"stream {number}", SourceKind.LIVE, self._form.codec, self._form.width, self._form.height, 0, None, rate, (), number=number
            )
            self._worker.send(Stream(number, info, 0))
            reduction.send_handle(self._worker.connection, packets.fileno(), self._worker.pid)
            feeder = self._feeders[number % FEEDERS]
            feeder.send((number, rate, number, number * 0.37 % 1))
            reduction.send_handle(feeder.connection, theirs.fileno(), feeder.pid)
            packets.close()
            theirs.close()
        while len(self.running) > count:
            number = self.running.pop()
            self._feeders[number % FEEDERS].send((number,))
        deadline = time.monotonic() + 60
        while not self.begun >= {*self.running} and time.monotonic() < deadline:
            time.sleep(0.05)
        if missing := {*self.running} - self.begun:
            raise DeviceError(literal(f"{len(missing)} of {count} streams have not begun within a minute"))
        time.sleep(SETTLE_SECONDS)

    def measure(self, seconds: float) -> Interval:
        """Measure what is running."""
        with self._lock:
            self._meters = Meters()
        self._late = [0.0] * FEEDERS
        self.card.reset()
        begun, used, all_used = time.monotonic(), _used(self._worker.pid), _machine()
        time.sleep(seconds)
        took = time.monotonic() - begun
        with self._lock:
            meters, self._meters = self._meters, Meters()
        decoder, gpu, memory = self.card.medians()
        return Interval(
            took,
            np.concatenate([*meters.latencies, np.zeros(0)]),
            meters.dropped,
            meters.feeding,
            meters.stages,
            (_used(self._worker.pid) - used) / took,
            (_machine() - all_used) / took,
            decoder,
            gpu,
            memory,
            max(self._late),
        )

    def close(self) -> None:
        """End all streams, and check that every packet is accounted for."""
        numbers = {*range(self._next)}
        self.use(0, 1)
        deadline = time.monotonic() + 20
        while not (self.done >= numbers and self.received.keys() >= numbers) and time.monotonic() < deadline:
            time.sleep(0.05)
        self._worker.send(Stop())
        self.card.close()
        for feeder in self._feeders:
            feeder.kill()
        self._worker.kill()
        wrong = {number: (self.received.get(number), self.accounted[number]) for number in numbers}
        wrong = {number: pair for number, pair in wrong.items() if pair[0] != pair[1]}
        if wrong:
            raise DeviceError(literal(f"received and accounted packets differ: {wrong}"))


def _used(pid: int) -> float:
    """Processor time that a process has used, seconds."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _machine() -> float:
    """Processor seconds of the whole machine so far."""
    fields = [int(value) for value in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


HEAD = (
    *("streams", "inferred frames/s", "dropped", "ms, p50", "ms, p95", "ms, p99", "NVDEC", "GPU", "memory, MiB"),
    *("processors: worker", "all", "feeders' lateness, ms", "mean ms in each stage", "limit"),
)


def row(streams: int, found: Interval) -> tuple[object, ...]:
    """A row of the table."""
    latencies = [f"{found.percentile(share):.0f}" for share in (50, 95, 99)]
    card = ["?" if value is None else f"{value:.0f}" for value in (found.decoder, found.gpu, found.memory)]
    rates = f"{len(found.latencies) / found.seconds:.0f}", f"{100 * found.dropped_share:.2f} %"
    host = f"{found.worker:.1f}", f"{found.machine:.1f}", f"{1000 * found.late:.0f}"
    return streams, *rates, *latencies, f"{card[0]} %", f"{card[1]} %", card[2], *host, found.means, found.limit


def follows(found: Interval, arguments: argparse.Namespace) -> bool:
    """Whether nearly all frames came in time."""
    return found.percentile(99) <= arguments.limit and found.dropped_share <= MAX_DROPPED


def search(device: Device, rate: int, arguments: argparse.Namespace) -> tuple[int, list[tuple[object, ...]]]:
    """The largest number of streams that the device can follow, and the rows of the table."""
    rows = []
    good, bad = 0, arguments.most + 1
    count = arguments.start
    while bad - good > arguments.step:
        device.use(count, rate)
        found = device.measure(arguments.seconds)
        if not follows(found, arguments):  # maybe it had not settled
            found = device.measure(arguments.seconds)
        fine = follows(found, arguments)
        rows.append(row(count, found))
        print(*rows[-1], dict(found.dropped), {stage: round(value, 2) for stage, value in found.feeding.items()}, flush=True)
        if fine:
            good = count
        else:
            bad = count
        count = min(arguments.most, good + arguments.stride) if bad > arguments.most else (good + bad) // 2
        if good >= arguments.most:
            break
    return good, rows


def main() -> None:
    """Search, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cfg", type=Path, required=True)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--size", type=int, help="network input in pixels; without it, that of the cfg")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--video", type=Path, help="H.264; without it, a 1080p clip is made")
    parser.add_argument("--rates", default="25,30", help="frames/s")
    parser.add_argument("--start", type=int, default=80)
    parser.add_argument("--stride", type=int, default=20)
    parser.add_argument("--step", type=int, default=5, help="search until the number is known this exactly")
    parser.add_argument("--most", type=int, default=240)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--limit", type=float, default=200.0, help="p99 of packet → boxes, ms")
    parser.add_argument("--decode-threads", type=int)
    parser.add_argument("--confidence", type=float, default=0.4)
    arguments = parser.parse_args()
    kind, _, name = arguments.device.partition(":")
    settings = EngineSettings(stored_confidence=arguments.confidence, decode_threads=arguments.decode_threads)
    files = ModelFiles(arguments.cfg, arguments.weights, size=arguments.size and (arguments.size, arguments.size))
    setup = Setup(DeviceId(kind, name), files, settings)
    width, height = input_size(files)
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        clips = Clips(Path(folder), arguments.video)
        video = str(arguments.video or clips.of(FRAMES))
        device = Device(setup, video)
        for rate in map(int, arguments.rates.split(",")):
            good, rows = search(device, rate, arguments)
            parts.append(f"**{good}** streams at {rate} frames/s ({device.engine}):\n\n{table(HEAD, rows)}")
            print(parts[-1], flush=True)
            device.use(0, rate)
        device.close()
    facts = f"{clips.name}; {arguments.cfg.stem}, {width}×{height}, {arguments.seconds:.0f} s a row. A number of streams counts if p99 ≤"
    facts += f" {arguments.limit:.0f} ms and at most {MAX_DROPPED:.0%} of the frames are dropped. In every stream, received = inferred +"
    facts += " dropped.\n\n"
    write("live.capacity", "How many streams a GPU can follow", facts + "\n\n".join(parts), LIBRARIES, "live")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
