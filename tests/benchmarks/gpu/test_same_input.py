"""The comparison of a GPU's input with the CPU's: an emulated GPU gives the same bytes, and a byte that differs is counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.core")

from benchmarks.gpu.same_input import GpuInputs, compare_inputs, make_pan
from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat
from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.decoder import Decoded, Decoder
from framefleet.engine.media.nvdec.format import planes
from framefleet.engine.media.picture import DEPTHS, Converter, frame_format
from framefleet.engine.media.probe import probe
from framefleet.engine.media.segment import SegmentDecoder
from framefleet.engine.media.types import DecodedFrame, DeviceFrame, Segment, SourceInfo
from framefleet.engine.types import UNNUMBERED, FrameRef
from tests.support.devices import emulation
from tests.support.media import make_video

SIZE = (96, 64)


class Hardware(Decoder):
    """Decodes with FFmpeg into surfaces of an emulated GPU. broken: whether one sample is wrong."""

    def __init__(self, gpu: emulation.EmulatedGpu) -> None:
        super().__init__()
        self._gpu, self.broken = gpu, False

    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[Decoded]:  # noqa: ARG002
        with VideoFile(Path(info.path)) as file:
            for pts, frame, _ in SegmentDecoder(file, segment).outcomes():
                assert not isinstance(frame, str)
                depth = DEPTHS[frame.format.name]
                kind = PixelFormat.NV12 if depth == 8 else PixelFormat.P016
                layout = frame_format(frame, Converter(file.stream.sample_aspect_ratio), kind, depth)
                yield DecodedFrame(
                    FrameRef(0, UNNUMBERED, file.seconds(pts)), DeviceFrame(layout, self._surface(layout, frame), None, lambda: None)
                )

    def _surface(self, layout: FrameFormat, frame: Any) -> int:
        content = np.zeros(layout.nbytes, np.uint8)
        for place, samples in zip(layout.planes(content), planes(frame, layout.depth), strict=True):
            place[...] = samples
        content[0] ^= 128 * self.broken
        return self._gpu.upload(content)


class Stream:
    def wait(self, _other: object) -> None:
        """Every call of the emulated GPU waits until its work is done."""


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[emulation.EmulatedGpu]:
    if emulation.COMPILER is None:
        pytest.skip("there is no g++")
    with emulation.emulated_gpu(emulation.build(tmp_path_factory.mktemp("emulated"), "half.cuh", "preprocess.cu")) as gpu:
        gpu.stream = Stream()
        yield gpu


@pytest.mark.parametrize("letterbox", [False, True])
@pytest.mark.parametrize(("name", "options"), [("turned.mp4", {"rotation": 90, "colorspace": 1}), ("odd.mkv", {"size": (111, 61)})])
def test_a_gpu_sees_what_the_cpu_sees(
    name: str, options: dict[str, Any], letterbox: bool, gpu: emulation.EmulatedGpu, tmp_path: Path
) -> None:
    coder = {"codec": "libvpx-vp9", "options": {"cpu-used": "8"}} if name == "odd.mkv" else {}
    info = probe(make_video(tmp_path / name, 18, **{"size": (112, 80), **options, **coder}))
    hardware = Hardware(gpu)
    found = compare_inputs(info, hardware, GpuInputs(gpu, None, SIZE, letterbox), SIZE, letterbox)
    assert (found.frames, found.on_gpu, found.different, found.most) == (18, 18, 0, 0)
    hardware.broken = True
    assert compare_inputs(info, hardware, GpuInputs(gpu, None, SIZE, letterbox), SIZE, letterbox).different >= 18


def test_frames_are_not_shifted_against_each_other(gpu: emulation.EmulatedGpu, tmp_path: Path) -> None:
    info = probe(make_video(tmp_path / "a.mp4", 24, (64, 48), gop=24))

    class Late(Hardware):
        def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[Decoded]:
            frames = super().decode(info, segment, skip)
            next(frames)
            return frames

    with pytest.raises(SystemExit, match="different frames"):
        compare_inputs(info, Late(gpu), GpuInputs(gpu, None, SIZE, False), SIZE, False)


def test_the_clip_of_pictures_has_ten_bits(data: Path, gpu: emulation.EmulatedGpu, tmp_path: Path) -> None:
    info = probe(make_pan(data / "images", tmp_path / "a.mp4", 6, (160, 90)))
    found = compare_inputs(info, Hardware(gpu), GpuInputs(gpu, None, SIZE, False), SIZE, False)
    assert (found.frames, found.different) == (6, 0)
