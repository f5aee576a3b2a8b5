"""Compares the network's input, and the boxes, of a GPU with those of the CPU, for whole videos.

1. NVDEC and FFmpeg decode every frame, and both frames are resized to the network's size. No byte of the two inputs may differ.
2. Both devices detect at FP32. Boxes are paired one to one: same class, IoU ≥ 0.9, confidence within 0.03. All boxes above the threshold
   count, even if the other side's box is just below the threshold. Target: at least 99.5 % of the boxes of each side are paired.

Without ``--video``: people.mp4, the demo's clip, and a clip of 10-bit HEVC that the script makes from the pictures in ``--data``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.accuracy import CPU, detect
from benchmarks.report import table, write
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.cpu_decoding import decode_planes
from framefleet.engine.media.decoder import Decoded, Decoder
from framefleet.engine.media.images import read_picture
from framefleet.engine.media.picture import fit_host_image
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodeFailure, DeviceFrame, SourceInfo
from framefleet.engine.settings import Decode, EngineSettings, ModelFiles, Precision
from framefleet.engine.types import DeviceId, Image
from framefleet.plugins.preprocess import FRAME, Preprocess
from framefleet.resources import DEMO
from tests.support.media import make_video
from tests.support.networks.detections import Comparison, compare

BATCH = 16
WANTED = 0.995
THRESHOLD = 0.25

Inputs = Callable[[Sequence[HostImage | DeviceFrame]], NDArray[np.uint8]]
"""Computes the network's input on a device: uint8 (n, height, width, 3)."""


@dataclass(frozen=True)
class Bytes:
    """Comparison of inputs. frames: compared. on_gpu: those that NVDEC decoded. different: bytes that differ. most: largest difference."""

    frames: int
    on_gpu: int
    different: int
    most: int


def compare_inputs(info: SourceInfo, decoder: Decoder, inputs: Inputs, size: tuple[int, int], letterbox: bool) -> Bytes:
    """Compare the inputs from a device's decoder with those of the CPU, for all frames. size: of the network, width and height."""
    frames = on_gpu = different = most = 0
    by_cpu = (item for segment in info.segments for item in decode_planes(info, segment, oblong_only=True))
    by_device = (item for segment in info.segments for item in decoder.decode(info, segment))
    while expected := list(islice(by_cpu, BATCH)):
        found = list(islice(by_device, BATCH))
        if [item.ref.pts for item in found] != [item.ref.pts for item in expected]:
            raise SystemExit(f"{info.path}: the decoders give different frames near {expected[0].ref.pts:.3f} s")
        images, others = ([item.image for item in items if not isinstance(item, DecodeFailure)] for items in (found, expected))
        computed = inputs(images)
        on_gpu += sum(isinstance(image, DeviceFrame) for image in images)
        _release(found)
        out = np.empty((size[1], size[0], 3), np.float32)
        for mine, image in zip(computed, others, strict=True):
            assert not isinstance(image, DeviceFrame)
            fit_host_image(image, out, letterbox)
            difference = np.abs(mine.astype(np.int16) - np.rint(out).astype(np.int16))
            different += int(np.count_nonzero(difference))
            most = max(most, int(difference.max()))
        frames += len(others)
    return Bytes(frames, on_gpu, different, most)


def _release(items: Sequence[Decoded]) -> None:
    for item in items:
        if not isinstance(item, DecodeFailure) and isinstance(item.image, DeviceFrame):
            item.image.release()


class GpuInputs:
    """Computes inputs with the kernel ``preprocess`` on a GPU. gpu: see ``tests.support.devices.cuda.Gpu``."""

    def __init__(self, gpu: Any, uploads: Any, size: tuple[int, int], letterbox: bool) -> None:
        from framefleet.engine.backends.nvidia.slot import Geometry

        self._gpu, self._uploads, self._size = gpu, uploads, size
        self._geometry = Geometry(*size, letterbox)
        self._table, self._out = gpu.poisoned(BATCH * FRAME.itemsize), gpu.poisoned(BATCH * 6 * size[0] * size[1])
        self._step = Preprocess(gpu.kernels, self._table, self._out, BATCH, *size)

    def __call__(self, images: Sequence[HostImage | DeviceFrame]) -> NDArray[np.uint8]:
        """Return the inputs of at most BATCH frames."""
        table = np.zeros(BATCH, FRAME)
        host = [image for image in images if not isinstance(image, DeviceFrame)]
        addresses: list[int] = []
        if host:
            addresses, uploaded = self._uploads.put(host)
            self._gpu.stream.wait(uploaded)
        for stream in {id(image.written_on): image.written_on for image in images if isinstance(image, DeviceFrame)}.values():
            self._gpu.stream.wait(stream)
        self._geometry.fill(table, images, addresses, still=False)
        self._gpu.overwrite(self._table, table)
        self._gpu.run(self._step)
        width, height = self._size
        halves: NDArray[np.float16] = self._gpu.download(self._out, (BATCH, 3, height, width), np.float16)[: len(images)]
        return np.rint(255 * halves.astype(np.float32)).astype(np.uint8).transpose(0, 2, 3, 1)


def pan(folder: Path) -> Callable[[int, tuple[int, int]], Image]:
    """Return a function that draws frame n: a window that moves over the pictures of a folder."""
    pictures = [read_picture(path) for path in sorted(folder.glob("*.jpg"))]

    def draw(number: int, size: tuple[int, int]) -> Image:
        picture = pictures[number // 50 % len(pictures)]
        scale = max(size[0] / picture.shape[1], size[1] / picture.shape[0]) * (1.05 + 0.004 * (number % 50))
        large = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
        top, left = (large.shape[0] - size[1]) // 2, (large.shape[1] - size[0]) * (number % 50) // 50
        return np.ascontiguousarray(large[top : top + size[1], left : left + size[0]])

    return draw


def make_pan(pictures: Path, path: Path, frames: int = 300, size: tuple[int, int] = (1280, 720)) -> Path:
    """Make a clip of 10-bit HEVC from the pictures of a folder."""
    options = {"preset": "ultrafast", "x265-params": "log-level=none:info=0:keyint=30:crf=16"}
    return make_video(path, frames, size, codec="libx265", pix_fmt="yuv420p10le", options=options, colorspace=1, picture=pan(pictures))


def _videos(data: Path, chosen: Sequence[Path], folder: Path) -> Iterator[tuple[Path, ModelFiles]]:
    model = ModelFiles(data / "models" / "yolo-fastest-1.1.cfg", data / "models" / "yolo-fastest-1.1.weights")
    if chosen:
        yield from ((video, model) for video in chosen)
        return
    yield data / "video" / "people.mp4", model
    yield DEMO.clip, ModelFiles(DEMO.cfg, DEMO.weights)
    yield make_pan(data / "images", folder / "pictures-10-bit.mp4"), model


def main() -> int:
    """Compare and write the result. Returns 1 if bytes differ or too few boxes agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("shared/data"), help="folder with models/, images/ and video/ (shared/data)")
    parser.add_argument("--video", type=Path, nargs="+", default=[], help="videos to compare instead of the three")
    parser.add_argument("--device", type=DeviceId.parse, default=DeviceId("cuda", "0"))
    parser.add_argument("--size", type=int, nargs=2, default=(416, 416), help="of the network in the comparison of bytes (416 416)")
    parser.add_argument("--precision", type=Precision, default=Precision.FP32, help="of the GPU; the CPU computes in fp32")
    parser.add_argument("--result", default="accuracy", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    size = tuple(options.size)
    rows, good = [], True
    with tempfile.TemporaryDirectory() as folder:
        videos = list(_videos(options.data, options.video, Path(folder)))
        for video, _ in videos:
            info = probe(video)
            for letterbox in (False, True):
                found = _bytes(info, options.device, size, letterbox)
                good &= found.different == 0 and found.on_gpu == found.frames
                shape = f"{info.width}×{info.height} → {size[0]}×{size[1]}{' letterbox' if letterbox else ''}"
                share = f"{found.different} of {found.frames * 3 * size[0] * size[1]:,} (≤ {found.most})"
                rows.append([video.name, shape, found.frames, found.on_gpu, share])
                print(rows[-1], file=sys.stderr, flush=True)
        boxes = []
        for video, model in videos:
            settings = EngineSettings(precision=Precision.FP32, decode=Decode.CPU, stored_confidence=THRESHOLD)
            reference, _ = detect(model, video, CPU, settings)
            ours, used = detect(model, video, options.device, EngineSettings(precision=options.precision, stored_confidence=THRESHOLD))
            result = sum((compare(a, b, THRESHOLD) for a, b in zip(reference, ours, strict=True)), Comparison())
            good &= min(result.recovered, result.confirmed) >= WANTED
            boxes.append([video.name, model.cfg.stem, *(result.reference, result.ours, result.paired)])
            boxes[-1] += [f"{result.recovered:.2%}", f"{result.confirmed:.2%}", used]
            print(boxes[-1], file=sys.stderr, flush=True)
    head = ["video", "picture → input", "frames", "decoded by NVDEC", "bytes that differ (largest difference)"]
    heads = ["video", "model", "CPU's boxes", "GPU's boxes", "paired", "share of the CPU's", "share of the GPU's", "the GPU's engine"]
    body = f"No byte differs, and ≥ {WANTED:.1%} of the boxes of both sides agree: {'yes' if good else '**NO**'}.\n\n"
    body += f"## Bytes\n\n{table(head, rows)}\n\n## Boxes\n\n{table(heads, boxes)}\n\n## Method\n\n{__doc__}"
    libraries = ("av", "PyNvVideoCodec", "tensorrt-rtx", "openvino", "opencv-python-headless", "numpy")
    write("gpu.same_input", "Input and boxes of GPU and CPU", body, libraries, options.result)
    return 0 if good else 1


def _bytes(info: SourceInfo, device: DeviceId, size: tuple[int, int], letterbox: bool) -> Bytes:
    from framefleet.engine.backends.nvidia.slot import Uploads
    from framefleet.engine.media.nvdec.decoder import open_nvdec
    from tests.support.devices.cuda import Gpu

    gpu = Gpu(None)
    uploads = Uploads(gpu.device, gpu.device.create_stream())
    decoder = open_nvdec(int(device.name), 1, required=False)
    decoder.make_room(3 * BATCH)
    try:
        return compare_inputs(info, decoder, GpuInputs(gpu, uploads, size, letterbox), size, letterbox)
    finally:
        decoder.close()
        uploads.close()
        gpu.close()


if __name__ == "__main__":
    sys.exit(main())
