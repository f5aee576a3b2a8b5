"""What the settings dialog calls each choice, in the order that it shows."""

from __future__ import annotations

from engine.settings.choices import Decode, Hint, Isolation, Parallel, Precision, Resize, Track

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
    Track.OCSORT: "OC-SORT: for objects that stop, turn or hide",
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
