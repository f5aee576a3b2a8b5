"""What a detection run is asked to do: one frozen value for the command line, the window and the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from engine.errors import UsageError
from engine.types import DeviceId


class Precision(StrEnum):
    """Number format of the network's arithmetic. AUTO: the fastest whose detections match FP32. MIXED: BF16 in the last layers only."""

    AUTO = "auto"
    FP32 = "fp32"
    BF16 = "bf16"
    MIXED = "mixed"
    FP16 = "fp16"


class Resize(StrEnum):
    """How a picture is fitted to the network. AUTO: as the cfg says (Darknet: stretch unless ``letter_box=1``)."""

    AUTO = "auto"
    STRETCH = "stretch"
    LETTERBOX = "letterbox"


class Parallel(StrEnum):
    """The strategy by which devices share the work. AUTO: chosen from the sources and devices."""

    AUTO = "auto"
    STREAMS = "streams"
    SEGMENTS = "segments"
    FRAMES = "frames"
    TILES = "tiles"
    DEPTH = "depth"


class Isolation(StrEnum):
    """What keeps the devices of a run apart. PROCESS: a failure ends one device's process. THREAD: all live in one process."""

    PROCESS = "process"
    THREAD = "thread"


class Decode(StrEnum):
    """What decodes videos. AUTO: NVDEC on GPUs that have it, for what it can decode; else the CPU."""

    AUTO = "auto"
    CPU = "cpu"
    NVDEC = "nvdec"


class Hint(StrEnum):
    """What an engine is built for: most frames per second, or the shortest time for one frame."""

    THROUGHPUT = "throughput"
    LATENCY = "latency"


@dataclass(frozen=True)
class ModelFiles:
    """Where a model lies. weights: a path, or ``random:SEED`` for reproducible random weights. labels: None = look beside the cfg.

    size: network input (width, height) in pixels, multiples of 32; None = the cfg's own.
    """

    cfg: Path
    weights: Path | str
    labels: Path | None = None
    size: tuple[int, int] | None = None


@dataclass(frozen=True)
class EngineSettings:
    """How one device's engine is built and what it reports.

    batch: frames per inference, None = chosen by the backend. latency_budget: ms that a batch chosen so may take, None = any.
    threads: CPU threads this engine may use, None = all. decode_threads: segments decoded at once, None = chosen by the backend.
    confidence, iou: thresholds 0..1 of the YOLO layer and of per-class NMS. classes: class ids to keep, None = all.
    """

    precision: Precision = Precision.AUTO
    resize: Resize = Resize.AUTO
    hint: Hint = Hint.THROUGHPUT
    decode: Decode = Decode.AUTO
    batch: int | None = None
    latency_budget: float | None = None
    threads: int | None = None
    decode_threads: int | None = None
    confidence: float = 0.25
    iou: float = 0.45
    classes: frozenset[int] | None = None

    def __post_init__(self) -> None:
        for name, value in (("confidence", self.confidence), ("iou", self.iou)):
            if not 0.0 < value <= 1.0:
                raise UsageError(f"{name} {value} must be above 0 and at most 1")
        if self.latency_budget is not None and self.latency_budget <= 0:
            raise UsageError(f"a latency budget of {self.latency_budget:g} ms must be above 0")
        if self.batch is not None and not 1 <= self.batch <= 1024:
            raise UsageError(f"batch {self.batch} is outside 1..1024")
        if self.decode_threads is not None and not 1 <= self.decode_threads <= 64:
            raise UsageError(f"decode threads {self.decode_threads} is outside 1..64")


@dataclass(frozen=True)
class Tiles:
    """How a picture is cut for the strategy ``tiles``.

    columns, rows: of the grid, None = so many that a tile is about as large as the network's input. overlap: of neighbouring
    tiles, as a share of a tile's side. full_frame: the whole picture goes through the network as well, for what is larger than a tile.
    """

    columns: int | None = None
    rows: int | None = None
    overlap: float = 0.2
    full_frame: bool = True

    def __post_init__(self) -> None:
        for name, count in (("columns", self.columns), ("rows", self.rows)):
            if count is not None and not 1 <= count <= 64:
                raise UsageError(f"{count} {name} of tiles are outside 1..64")
        if not 0.0 <= self.overlap <= 0.5:
            raise UsageError(f"a tile overlap of {self.overlap:g} is outside 0..0.5")

    @property
    def in_words(self) -> str:
        """The grid, the overlap and whether the whole picture is used."""
        columns, rows = (str(count) if count else "as many" for count in (self.columns, self.rows))
        grid = "tiles of about the network's size" if not (self.columns or self.rows) else f"{columns} × {rows} tiles"
        return f"{grid} that overlap by {self.overlap:.0%}{', and the whole picture' if self.full_frame else ''}"


@dataclass(frozen=True)
class RunSettings:
    """One run of the pool: the model, the devices (empty = the best available) and the way of sharing the work."""

    model: ModelFiles
    devices: tuple[DeviceId, ...] = ()
    parallel: Parallel = Parallel.AUTO
    engine: EngineSettings = EngineSettings()
    isolation: Isolation = Isolation.PROCESS
    tiles: Tiles = Tiles()

    def __post_init__(self) -> None:
        if len(set(self.devices)) != len(self.devices):
            raise UsageError(f"a device is named twice: {', '.join(map(str, self.devices))}")


def check_decode(decode: Decode, devices: Sequence[DeviceId]) -> None:
    """Check that one of these devices has the decoder that the settings ask for.

    Raises:
        UsageError: none has it.
    """
    if decode is Decode.NVDEC and not any(member.kind == "cuda" for device in devices for member in device.members):
        names = ", ".join(map(str, devices))
        raise UsageError(f"NVDEC is part of NVIDIA's GPUs, and none is among the devices ({names}): choose one, or let the CPU decode")
