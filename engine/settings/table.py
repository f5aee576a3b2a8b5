"""The table of settings: every setting is declared here, once, with its default, limits, texts and the places that show it.

The command line's options, the settings dialog, the stored preferences and the checks are made from this table. A new setting needs
an entry here, a field of the same name in ``RunSettings``, ``EngineSettings`` or ``Tiles``, and its use in the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.settings.choices import Decode, Hint, Isolation, Parallel, Precision, Resize
from engine.settings.kinds import Choice, Devices, Kind, Names, Number, Switch


class Section(StrEnum):
    """A part of the settings dialog."""

    DEVICES = "Devices"
    SHARING = "Sharing the work"
    DETECTION = "Detection"
    ADVANCED = "Advanced"


@dataclass(frozen=True)
class Setting:
    """One setting.

    name: of the field in the settings' classes, and in the stored preferences.
    flag, metavar, help: of the option on the command line; no flag: the command line does not have it. No help: the note is it.
    section, title, note: where and how the dialog shows it; no section: the dialog does not show it. Settings with the same title share
    a row. spoken: its accessible name, "" = the title.
    only_with: another setting and the value which that one must have, else this setting has no effect.
    """

    name: str
    kind: Kind
    default: Any
    flag: str = ""
    help: str = ""
    metavar: str | None = None
    section: Section | None = None
    title: str = ""
    note: str = ""
    spoken: str = ""
    only_with: tuple[str, StrEnum] | None = None


_TILED = ("parallel", Parallel.TILES)
_SHARE = Number(0, 1, above=True)

SETTINGS = (
    Setting(
        "devices",
        Devices(),
        (),
        flag="--devices",
        metavar="auto|LIST",
        help="cpu:0,cpu:1 … (see 'framefleet devices')",
        section=Section.DEVICES,
    ),
    Setting(
        "parallel",
        Choice(
            {
                Parallel.AUTO: "Automatic: the best for the files and devices",
                Parallel.SEGMENTS: "Segments: all devices share each file",
                Parallel.STREAMS: "Streams: each file stays on one device",
                Parallel.FRAMES: "Frames: decoded once, dealt to devices by speed",
                Parallel.TILES: "Tiles: each frame cut into overlapping pieces",
                Parallel.DEPTH: "Depth: the network cut into stages, one per device",
            }
        ),
        Parallel.AUTO,
        flag="--parallel",
        metavar="HOW",
        help=f"how devices share the work: {', '.join(Parallel)}",
        section=Section.SHARING,
        title="Strategy",
    ),
    Setting(
        "columns",
        Number(1, 64, whole=True, none="Automatic"),
        None,
        section=Section.SHARING,
        title="Tiles",
        spoken="Columns of tiles",
        only_with=_TILED,
    ),
    Setting(
        "rows",
        Number(1, 64, whole=True, none="Automatic"),
        None,
        section=Section.SHARING,
        title="Tiles",
        note="columns × rows",
        spoken="Rows of tiles",
        only_with=_TILED,
    ),
    Setting(
        "overlap",
        Number(0, 0.5),
        0.2,
        flag="--tile-overlap",
        metavar="0..0.5",
        help="of neighbouring tiles, as a share of a tile's side",
        section=Section.SHARING,
        title="Tile overlap",
        note="of a tile's side",
        spoken="Overlap of tiles",
        only_with=_TILED,
    ),
    Setting(
        "full_frame",
        Switch(),
        True,
        flag="--no-full-frame",
        help="detect in the tiles only: an object larger than a tile is then put together from its parts",
        section=Section.SHARING,
        title="Full frame",
        note="Also the whole frame at once, for large objects",
        only_with=_TILED,
    ),
    Setting(
        "precision",
        Choice(
            {
                Precision.AUTO: "Automatic: the fastest whose detections match FP32",
                Precision.FP32: "FP32",
                Precision.MIXED: "Mixed: FP32, the last layers BF16",
                Precision.BF16: "BF16",
                Precision.FP16: "FP16",
                Precision.INT8: "INT8",
            }
        ),
        Precision.AUTO,
        flag="--precision",
        help="auto: the fastest whose detections match fp32",
        section=Section.DETECTION,
        title="Precision",
    ),
    Setting(
        "decode",
        Choice(
            {
                Decode.AUTO: "Automatic: NVDEC on GPUs, for what it can decode",
                Decode.CPU: "CPU",
                Decode.NVDEC: "NVDEC: what it cannot decode fails",
            }
        ),
        Decode.AUTO,
        flag="--decode",
        help="what decodes videos; auto: NVDEC on GPUs, for what it can decode",
        section=Section.DETECTION,
        title="Decoding",
    ),
    Setting(
        "resize",
        Choice(
            {
                Resize.AUTO: "As the model says",
                Resize.STRETCH: "Stretch to the network's shape",
                Resize.LETTERBOX: "Letterbox: keep the aspect ratio",
            }
        ),
        Resize.AUTO,
        flag="--resize",
        help="how pictures are fitted to the network; auto: as the cfg says",
        section=Section.DETECTION,
        title="Resize",
    ),
    Setting(
        "batch",
        Number(1, 1024, whole=True, none="Automatic"),
        None,
        flag="--batch",
        metavar="auto|N",
        section=Section.DETECTION,
        title="Batch",
        note="frames per inference",
    ),
    Setting(
        "confidence",
        _SHARE,
        0.25,
        flag="--confidence",
        metavar="0..1",
        help="least confidence reported",
        section=Section.DETECTION,
        title="Confidence",
        note="for a start; the slider beside the video changes it",
    ),
    Setting(
        "iou",
        _SHARE,
        0.45,
        flag="--iou",
        metavar="0..1",
        section=Section.DETECTION,
        title="IoU",
        note="overlap above which the weaker of two boxes goes",
        spoken="Overlap (IoU)",
    ),
    Setting("classes", Names(), None, flag="--classes", metavar="LIST", help="labels or class ids to report: person,car … (all)"),
    Setting(
        "hint",
        Choice({Hint.THROUGHPUT: "Most frames per second", Hint.LATENCY: "Each frame as soon as possible"}),
        Hint.THROUGHPUT,
        flag="--hint",
        help="what engines are built for: most frames/s, or the shortest time for each frame",
        section=Section.ADVANCED,
        title="Optimized for",
    ),
    Setting(
        "isolation",
        Choice(
            {
                Isolation.PROCESS: "A process for each device: a failure stays with its device",
                Isolation.THREAD: "One process for all: takes less memory",
            }
        ),
        Isolation.PROCESS,
        flag="--isolation",
        help="a process for each device, so that a crash stops one device only, or threads of one process",
        section=Section.ADVANCED,
        title="Isolation",
    ),
    Setting(
        "decode_threads",
        Number(1, 64, whole=True, none="Automatic"),
        None,
        section=Section.ADVANCED,
        title="Decode threads",
        note="segments that a device decodes at once",
    ),
    Setting(
        "latency_budget",
        Number(0, 60_000, above=True, unit="ms", none="None"),
        None,
        flag="--latency-budget",
        metavar="MS",
        section=Section.ADVANCED,
        title="Latency budget",
        note="the longest that an automatic batch may take on a GPU",
    ),
    Setting("threads", Number(1, 4096, whole=True, none="Automatic"), None),
)
TABLE = {setting.name: setting for setting in SETTINGS}
DEFAULTS = {setting.name: setting.default for setting in SETTINGS}
