"""The settings that are enumerations, and what the settings dialog calls each choice, in the order that it shows."""

from enum import StrEnum


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


class Hint(StrEnum):
    """What an engine is built for: most frames per second, or the shortest time for one frame.

    With LATENCY, an automatic batch is 1 (``backends/nvidia/trials.py``). A GPU has one batch under way (``nvidia/backend.py``,
    ``tensorrt/depth.py``) and one decode thread (``media/decoder.py``). The thread that submits a batch also waits for it, and spins
    instead of sleeping (``nvidia/backend.py``, ``nvidia/slot.py``). OpenVINO gets its own hint and one batch less (``openvino/build.py``,
    ``openvino/backend.py``). Tiles infer one picture at a time (``pool/groups/tiles.py``).
    """

    THROUGHPUT = "throughput"
    LATENCY = "latency"


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
