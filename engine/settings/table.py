"""The table of settings: every setting is declared here, once, with its default, limits, texts and the places that show it.

The command line's options, the settings dialog, the stored preferences and the checks are made from this table. A new setting needs
an entry here, a field of the same name in ``RunSettings``, ``EngineSettings`` or ``Tiles``, and its use in the engine.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from framefleet.engine.settings.clock import ClockTime, TimeZone
from framefleet.engine.settings.hint import Hint
from framefleet.engine.settings.kinds import Choice, Devices, Kind, Moments, Names, Number, Switch


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
    """What separates the devices of a run. PROCESS: a crash ends one device's process. THREAD: all devices share one process."""

    PROCESS = "process"
    THREAD = "thread"


class Decode(StrEnum):
    """What decodes videos. AUTO: NVDEC on GPUs that have it, for the formats that it decodes; else the CPU."""

    AUTO = "auto"
    CPU = "cpu"
    NVDEC = "nvdec"


class Track(StrEnum):
    """What follows objects from frame to frame. NONE: nothing does."""

    NONE = "none"
    BYTETRACK = "bytetrack"


PARALLEL = {
    Parallel.AUTO: "Automatic: Segments",
    Parallel.SEGMENTS: "Segments: all devices share each file",
    Parallel.STREAMS: "Streams: each file stays on one device",
    Parallel.FRAMES: "Frames: decoded once, dealt to devices by speed",
    Parallel.TILES: "Tiles: each frame cut into overlapping pieces",
    Parallel.DEPTH: "Depth: the network cut into stages, one per device",
}
PRECISION = {
    Precision.AUTO: "Automatic: the fastest whose detections match FP32",
    Precision.FP32: "FP32",
    Precision.MIXED: "Mixed: FP32, the last layers BF16",
    Precision.BF16: "BF16",
    Precision.FP16: "FP16",
}
DECODE = {
    Decode.AUTO: "Automatic: NVDEC on GPUs, for what it can decode",
    Decode.CPU: "CPU",
    Decode.NVDEC: "NVDEC: what it cannot decode fails",
}
RESIZE = {
    Resize.AUTO: "As the model says",
    Resize.STRETCH: "Stretch to the network's shape",
    Resize.LETTERBOX: "Letterbox: keep the aspect ratio",
}
HINT = {Hint.THROUGHPUT: "Most frames per second", Hint.LATENCY: "Each frame as soon as possible"}
ISOLATION = {
    Isolation.PROCESS: "A process for each device: a failure stays with its device",
    Isolation.THREAD: "One process for all: takes less memory",
}
TRACK = {
    Track.NONE: "No",
    Track.BYTETRACK: "ByteTrack: fast, weak detections continue a track",
}
EVERY = {
    "": "Every frame",
    "2": "2 frames",
    "5": "5 frames",
    "25": "25 frames",
    "1s": "1 second",
    "10s": "10 seconds",
    "60s": "1 minute",
}
CLOCK = {"": "Unknown", "name": "In the name of the file", "metadata": "In the metadata of the file"}


class Section(StrEnum):
    """A part of the settings dialog."""

    DEVICES = "Devices"
    SHARING = "Sharing the work"
    DETECTION = "Detection"
    VIDEOS = "Videos"
    ADVANCED = "Advanced"


@dataclass(frozen=True)
class Option:
    """An option of the command line.

    Attributes
    ----------
    help
        The explanation; "" = the dialog's note.
    """

    flag: str
    help: str = ""
    metavar: str | None = None


@dataclass(frozen=True)
class Field:
    """A field of the settings dialog.

    Fields with the same title share a row.

    Attributes
    ----------
    note
        Text beside the field.
    spoken
        Accessible name, "" = title.
    empty
        What an empty text means.
    choices
        Titles of the most frequent texts.
    """

    section: Section
    title: str = ""
    note: str = ""
    spoken: str = ""
    empty: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    """One setting.

    Attributes
    ----------
    name
        Name of the field in the settings' classes, and in the stored preferences.
    option, field
        Where it shows, None = not there.
    only_with
        Another setting and the value which that one must have, else this setting has no effect.
    """

    name: str
    kind: Kind
    default: Any
    option: Option | None = None
    field: Field | None = None
    only_with: tuple[str, StrEnum] | None = None


_GRID = Number(1, 64, whole=True, none="Automatic")
_SHARE = Number(0, 1, above=True)
_TILED = ("parallel", Parallel.TILES)
_SHARING, _DETECTION, _VIDEOS, _ADVANCED = Section.SHARING, Section.DETECTION, Section.VIDEOS, Section.ADVANCED

SETTINGS = (
    Setting(
        "devices", Devices(), (), Option("--devices", "such as cpu:0,cpu:1 (see 'framefleet devices')", "auto|LIST"), Field(Section.DEVICES)
    ),
    Setting(
        "parallel",
        Choice(PARALLEL),
        Parallel.AUTO,
        Option("--parallel", f"how devices share the work: {', '.join(Parallel)}", "HOW"),
        Field(_SHARING, "Strategy"),
    ),
    Setting("columns", _GRID, None, None, Field(_SHARING, "Tiles", spoken="Columns of tiles"), _TILED),
    Setting("rows", _GRID, None, None, Field(_SHARING, "Tiles", "columns × rows", "Rows of tiles"), _TILED),
    Setting(
        "overlap",
        Number(0, 0.5),
        0.2,
        Option("--tile-overlap", "overlap of neighbouring tiles, as a share of a tile's side", "0..0.5"),
        Field(_SHARING, "Tile overlap", "of a tile's side", "Overlap of tiles"),
        _TILED,
    ),
    Setting(
        "full_frame",
        Switch(),
        True,
        Option("--no-full-frame", "detect in the tiles only: an object larger than a tile is then put together from its parts"),
        Field(_SHARING, "Full frame", "Also the whole frame at once, for large objects"),
        _TILED,
    ),
    Setting(
        "precision",
        Choice(PRECISION),
        Precision.AUTO,
        Option("--precision", "auto: the fastest whose detections match fp32"),
        Field(_ADVANCED, "Precision"),
    ),
    Setting(
        "decode",
        Choice(DECODE),
        Decode.AUTO,
        Option("--decode", "what decodes videos; auto: NVDEC on GPUs, for what it can decode"),
        Field(_ADVANCED, "Decoding"),
    ),
    Setting(
        "resize",
        Choice(RESIZE),
        Resize.AUTO,
        Option("--resize", "how pictures are fitted to the network; auto: as the cfg says"),
        Field(_ADVANCED, "Resize"),
    ),
    Setting(
        "batch",
        Number(1, 1024, whole=True, none="Automatic"),
        None,
        Option("--batch", metavar="auto|N"),
        Field(_ADVANCED, "Batch", "frames that a device computes at once"),
    ),
    Setting(
        "confidence",
        _SHARE,
        0.25,
        Option("--confidence", "least confidence reported", "0..1"),
        Field(_DETECTION, "Confidence", "the first value; change it with the slider beside the video"),
    ),
    Setting(
        "iou",
        _SHARE,
        0.45,
        Option("--iou", "overlap above which the weaker of two boxes of a class is removed, with tiles in each tile", "0..1"),
        Field(_DETECTION, "Overlap (IoU)", "above it, the weaker of two boxes is removed"),
    ),
    Setting(
        "track",
        Choice(TRACK),
        Track.NONE,
        Option("--track", "follow objects from frame to frame; detections from 0.1 up are stored for that"),
        Field(_DETECTION, "Track objects"),
    ),
    Setting("classes", Names(), None, Option("--classes", "labels or class ids to report: person,car … (all)", "LIST")),
    Setting(
        "begin",
        Moments(),
        None,
        Option("--from", "begin with the frame at this time (90s, 1:02.5) or of this number (2700)", "T"),
        Field(_VIDEOS, "Begin", "a time such as 1:30, or a frame number", empty="The start"),
    ),
    Setting(
        "end",
        Moments(),
        None,
        Option("--to", "end before this time or frame number", "T"),
        Field(_VIDEOS, "End", "before this time or frame number", empty="The end"),
    ),
    Setting(
        "every",
        Moments(above=True),
        None,
        Option("--every", "take only one frame in this time (1s) or number of frames (30)", "T"),
        Field(_VIDEOS, "One frame in", "or a time such as 7s, or a number of frames", choices=EVERY),
    ),
    Setting(
        "hint",
        Choice(HINT),
        Hint.THROUGHPUT,
        Option("--hint", "what engines are built for: most frames/s, or the shortest time for each frame"),
        Field(_ADVANCED, "Optimized for"),
    ),
    Setting(
        "isolation",
        Choice(ISOLATION),
        Isolation.PROCESS,
        Option("--isolation", "a process for each device, so that a crash stops one device only, or threads of one process"),
        Field(_ADVANCED, "Processes"),
    ),
    Setting(
        "decode_threads",
        Number(1, 64, whole=True, none="Automatic"),
        None,
        field=Field(_ADVANCED, "Decode threads", "segments that a device decodes at once"),
    ),
    Setting(
        "latency_budget",
        Number(0, 60_000, above=True, unit="ms", none="None"),
        None,
        Option("--latency-budget", "the longest time that an automatic batch may take on a GPU", "MS"),
        Field(_ADVANCED, "Latency budget", "the longest that an automatic batch may take on a GPU"),
    ),
    Setting(
        "clock",
        ClockTime(),
        None,
        Option("--clock", "when each video began or picture was taken: name, metadata, or a time (unknown)", "SOURCE"),
        Field(_VIDEOS, "Clock time", "of the start, or a time such as 2026-11-01 08:00", choices=CLOCK),
    ),
    Setting(
        "time_zone",
        TimeZone(),
        None,
        Option("--time-zone", "time zone of clock times that state none (this computer's)", "Area/City"),
        Field(_VIDEOS, "Time zone", "such as Europe/Berlin", empty="This computer's"),
    ),
    Setting(
        "record_minutes",
        Number(1, 1440, whole=True),
        10,
        Option("--record-minutes", "begin a new file of a recording after so many minutes of clock time (10)", "N"),
    ),
    Setting(
        "session_minutes",
        Number(1, 1440, whole=True),
        60,
        Option("--session-minutes", "move results into another session file after so many minutes of clock time (60)", "N"),
    ),
    Setting(
        "record_days",
        Number(0, 36_500, above=True, none="No limit"),
        None,
        Option("--record-days", "remove recorded files, and session files of past intervals, that are older (no limit)", "N"),
    ),
    Setting(
        "record_gib",
        Number(0, 100_000, above=True, none="No limit"),
        None,
        Option("--record-gib", "remove the oldest of these files when all together are larger (no limit)", "N"),
    ),
    Setting("threads", Number(1, 4096, whole=True, none="Automatic"), None),
)
TABLE = {setting.name: setting for setting in SETTINGS}
DEFAULTS = {setting.name: setting.default for setting in SETTINGS}
