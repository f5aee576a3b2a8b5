"""The choice of the decoder for an engine, and of its number of threads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from framefleet.engine.media.decoder import GPU_THREADS, DecoderUse, FfmpegDecoder, open_decoder
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame, SourceInfo, SourceKind
from framefleet.engine.notices import DeviceError
from framefleet.engine.settings import Decode, EngineSettings, Hint
from framefleet.engine.types import DeviceId
from tests.support.media import make_video
from tests.support.notices import words

GPU = DeviceId("cuda", "0")
INFO = SourceInfo("a.mp4", SourceKind.VIDEO, "h264", 96, 64, 30, 1.0, 30.0, ())


@pytest.mark.parametrize(
    ("settings", "device", "threads"),
    [
        (EngineSettings(), None, 1),
        (EngineSettings(decode_threads=3), None, 3),
        (EngineSettings(decode=Decode.CPU), GPU, GPU_THREADS),
        (EngineSettings(decode=Decode.CPU, hint=Hint.LATENCY), GPU, 1),
        (EngineSettings(decode=Decode.CPU, decode_threads=2), GPU, 2),
    ],
)
def test_ffmpeg_is_used_for_the_cpu_or_by_the_settings(settings: EngineSettings, device: DeviceId | None, threads: int) -> None:
    decoder = open_decoder(settings, device)
    assert isinstance(decoder, FfmpegDecoder)
    assert decoder.threads == threads


@pytest.mark.skipif(Path("/proc/driver/nvidia/version").exists(), reason="there is an NVIDIA driver")
def test_without_a_driver_only_auto_falls_back_to_ffmpeg() -> None:
    pytest.importorskip("cuda.core", reason="cuda-python is not installed")
    with pytest.raises(DeviceError):
        open_decoder(EngineSettings(decode=Decode.NVDEC), GPU)
    video, pictures = (replace(INFO, kind=kind) for kind in (SourceKind.VIDEO, SourceKind.IMAGES))
    decoder = open_decoder(EngineSettings(), GPU)
    assert isinstance(decoder, FfmpegDecoder)
    assert str(decoder.cpu_reason(video)).startswith("NVDEC needs ")
    assert not decoder.cpu_reason(pictures)
    assert not open_decoder(EngineSettings(decode=Decode.CPU), GPU).cpu_reason(video)


def test_ffmpeg_skips_the_completed_frames_of_a_segment(tmp_path: Path) -> None:
    info = probe(make_video(tmp_path / "a.mp4", 30, (96, 64)))
    decoder = FfmpegDecoder(threads=2)
    frames = list(decoder.decode(info, info.segments[0], 20))
    assert all(isinstance(frame, DecodedFrame) for frame in frames)
    assert [round(30 * frame.ref.pts) for frame in frames] == list(range(20, 30))
    decoder.close()


@pytest.mark.parametrize(
    ("parts", "name", "phrase"),
    [
        ([], "", ""),
        ([DecoderUse(cpu=3)], "cpu", "decoded by the CPU"),
        ([DecoderUse(nvdec=3), DecoderUse(nvdec=4)], "nvdec", "decoded by the GPU"),
        ([DecoderUse(cpu=5, reason=words("no driver"))], "cpu", "decoded by the CPU: no driver"),
        (
            [DecoderUse(nvdec=90), DecoderUse(5, 5, words("its data is damaged")), DecoderUse(cpu=1, reason=words("another"))],
            "nvdec+cpu",
            "decoded by the GPU, 6 of 101 frames by the CPU: its data is damaged",
        ),
    ],
)
def test_what_decoded_a_source_is_said_in_one_phrase(parts: list[DecoderUse], name: str, phrase: str) -> None:
    use = sum(parts, DecoderUse())
    assert (use.name, str(use.notice or "")) == (name, phrase)
