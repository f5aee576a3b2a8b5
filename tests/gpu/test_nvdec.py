"""NVDEC returns the same frames as FFmpeg, bit by bit, with the same times; FFmpeg decodes what NVDEC cannot."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from cuda.bindings import driver
from cuda.core import Device

from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.decoder import Decoded, release_all
from framefleet.engine.media.nvdec.decoder import NvdecDecoder, open_nvdec
from framefleet.engine.media.nvdec.format import planes
from framefleet.engine.media.nvdec.library import limits
from framefleet.engine.media.nvdec.surfaces import SurfaceRing, device_surfaces
from framefleet.engine.media.probe import probe
from framefleet.engine.media.segment import SegmentDecoder, samples
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, DeviceFrame, Sampling, Segment, SourceInfo
from framefleet.engine.notices import DeviceError
from framefleet.engine.settings.kinds import Moments
from tests.support.media import damaged, make_field_video, make_video, numbered, rewrap, truncated

FRAMES = 250
SIZE = (192, 160)  # NVDEC has a least size, of 144×144 for HEVC
VP9 = {"codec": "libvpx-vp9", "gop": 40, "options": {"deadline": "good", "cpu-used": "5", "auto-alt-ref": "1", "lag-in-frames": "16"}}


def x265(**parameters: object) -> dict[str, Any]:
    coded = ":".join(
        f"{name.replace('_', '-')}={value}" for name, value in {"log_level": "none", "info": 0, "keyint": 20, **parameters}.items()
    )
    return {"codec": "libx265", "options": {"preset": "ultrafast", "x265-params": coded}}


CLIPS: dict[str, dict[str, Any]] = {
    "constant.mp4": {"gop": 20},
    "variable.mkv": {"gop": 20, "bframes": 2, "pts": [number * 4 + number // 5 * 7 + number % 3 for number in range(FRAMES)]},
    "variable.mp4": {"gop": 25, "bframes": 3, "pts": [number * 40 + number // 30 * 5000 for number in range(FRAMES)]},
    "b-frames.mp4": {"bframes": 3, "gop": 25, "audio": True},
    "pyramid.mkv": {"bframes": 7, "gop": 40, "options": {"refs": "8"}},
    "open.mkv": {"bframes": 3, "gop": 22, "open_gop": True},
    "open.mp4": {"bframes": 3, "gop": 22, "open_gop": True},
    "open.ts": {"bframes": 3, "gop": 22, "open_gop": True},
    "edit.mp4": {"bframes": 3, "gop": 25, "pts": [number - 40 for number in range(FRAMES)], "muxer": {"avoid_negative_ts": "disabled"}},
    "offset.mp4": {"bframes": 3, "gop": 25, "pts": [number + 700 for number in range(FRAMES)]},
    "fragments.mp4": {"bframes": 2, "gop": 20, "muxer": {"movflags": "frag_keyframe+empty_moov"}},
    "broadcast.ts": {"bframes": 2, "gop": 20, "audio": True},
    "flash.flv": {"bframes": 2, "gop": 20},
    "high.mp4": {"size": (640, 360), "bframes": 3, "gop": 25, "options": {"preset": "slow", "profile": "high"}},
    "1080p.mp4": {"size": (1920, 1080), "bframes": 2, "gop": 30, "frames": 130, "rate": Fraction(30000, 1001)},
    "854.mp4": {"size": (854, 480), "bframes": 2, "gop": 30},
    "1366.mkv": {"size": (1366, 768), "gop": 30, "frames": 130},
    "66.mkv": {"size": (66, 50), "gop": 30},
    "intra.mp4": {"gop": 1},
    "slices.mp4": {"gop": 20, "options": {"x264-params": "slices=4"}},
    "hevc.mp4": x265(bframes=3, open_gop=0),
    "hevc-open.mp4": x265(bframes=4, open_gop=1, b_adapt=0, keyint=22, scenecut=0),
    "hevc-open.ts": x265(bframes=4, open_gop=1, b_adapt=0, keyint=22, scenecut=0),
    "hevc-10.mkv": {**x265(bframes=3), "pix_fmt": "yuv420p10le"},
    "hevc-12.mp4": {**x265(bframes=3), "pix_fmt": "yuv420p12le"},
    "hevc-854.mp4": {**x265(bframes=3), "size": (854, 480), "pix_fmt": "yuv420p10le"},
    "vp9.webm": VP9,
    "vp9-odd.webm": {**VP9, "size": (203, 141)},
    "vp9.mp4": VP9,
    "vp8.webm": {
        "codec": "libvpx",
        "gop": 40,
        "options": {"deadline": "good", "cpu-used": "5", "auto-alt-ref": "1", "lag-in-frames": "16"},
    },
    "turned.mp4": {"rotation": 90, "gop": 20},
    "mirrored.mp4": {"hflip": True, "gop": 20, "aspect": Fraction(4, 3)},
    "full.mp4": {"colorspace": 1, "color_range": 2, "gop": 20},
}

SAMPLED = (
    *("constant.mp4", "variable.mkv", "b-frames.mp4", "pyramid.mkv", "open.mkv", "open.mp4", "open.ts", "edit.mp4", "broadcast.ts"),
    *("hevc-open.mp4", "hevc-open.ts", "vp9.webm"),
)


def detailed(number: int, size: tuple[int, int]) -> Any:
    """Numbered, with noise that makes every decoded value count."""
    image = numbered(number, size)
    rows = slice(size[1] // 2, size[1] * 3 // 4)
    image[rows] = np.random.default_rng(number).integers(0, 255, image[rows].shape, dtype=np.uint8)
    return image


@pytest.fixture(scope="module")
def surfaces() -> Iterator[SurfaceRing]:
    ring = device_surfaces(0, 12, 1 << 30)
    yield ring
    ring.close()


@pytest.fixture(scope="module", params=["singly", "grouped"])
def decoder(request: pytest.FixtureRequest) -> Iterator[NvdecDecoder]:
    ring = device_surfaces(0, 12, 1 << 30)
    decoder = NvdecDecoder(0, ring, required=True) if request.param == "singly" else Grouped(0, ring, threads=2, required=True)
    yield decoder
    decoder.close()


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("clips")

    def make(name: str) -> Path:
        path = folder / name
        coder = {"threads": "1", **CLIPS[name].get("options", {})}  # else the bytes depend on the number of processors
        given = {"frames": FRAMES, "size": SIZE, "picture": detailed, **CLIPS[name], "options": coder}
        return path if path.exists() else make_video(path, **given)

    return make


def download(frame: DeviceFrame) -> list[Any]:
    """Luma, U and V, as ``FrameFormat.planes``, by the rules for consumers: another stream, after the stream that writes the frame."""
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    stream.wait(frame.written_on)
    content = np.zeros(frame.format.nbytes, np.uint8)
    (status,) = driver.cuMemcpyDtoHAsync(content.ctypes.data, frame.address, content.nbytes, stream.handle)
    assert status == driver.CUresult.CUDA_SUCCESS
    stream.sync()
    return frame.format.planes(content)


def assert_pixels(given: DecodedFrame[DeviceFrame], frame: Any) -> None:
    """Compare a frame with FFmpeg's, and give its surface back."""
    depth = {"yuv420p10le": 10, "yuv420p12le": 12}.get(frame.format.name, 8)
    for one, other in zip(download(given.image), planes(frame, depth), strict=True):
        assert np.array_equal(one, other), f"frame at {given.ref.pts}"
    given.image.release()


class Grouped(NvdecDecoder):
    """Decodes as a worker's decode threads do: several packets together."""

    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[Decoded]:
        """The frames of all groups."""
        for group in self.groups(info, segment, skip):
            frames = iter(group)
            try:
                yield from frames
            finally:
                release_all(frames)


def check(decoder: NvdecDecoder, info: SourceInfo, segment: Segment, skip: int = 0) -> int:
    """The frames of a segment compared with FFmpeg's; how many there are."""
    with VideoFile(Path(info.path), 4) as file:
        outcomes = [(pts, frame) for pts, frame, _ in SegmentDecoder(file, segment).outcomes()][skip:]
        base = file.time_base
        found = decoder.decode(info, segment, skip)
        tail = 0
        for pts, frame in outcomes:
            assert not isinstance(frame, str)
            given = next(found)
            assert not isinstance(given, DecodeFailure)
            assert given.ref.pts == float(pts * base)
            if not isinstance(given.image, DeviceFrame):  # the last frames of a broadcast, whose end is uncertain
                assert info.path.endswith(".ts")
                assert segment is info.segments[-1]
                tail += 1
                continue
            assert_pixels(given, frame)
        assert next(found, None) is None
        assert tail <= 16
    return len(outcomes)


@pytest.mark.parametrize("name", CLIPS)
def test_every_frame_of_every_segment(name: str, decoder: NvdecDecoder, clip: Any, caplog: pytest.LogCaptureFixture) -> None:
    info = probe(clip(name))
    assert decoder.supports(info) is None
    with caplog.at_level(logging.WARNING):
        counted = sum(check(decoder, info, segment) for segment in info.segments)
    assert counted == info.frames
    assert not caplog.records
    if info.frames >= FRAMES:
        assert len(info.segments) >= 2


@pytest.mark.parametrize("every", ["1s", "0.4s", "7", "1"])
@pytest.mark.parametrize("name", SAMPLED)
def test_sampled_frames_are_those_of_the_cpu(name: str, every: str, decoder: NvdecDecoder, clip: Any) -> None:
    info = probe(clip(name), Sampling(begin=Moments().read("0.7s"), every=Moments().read(every)))
    for segment in info.segments:
        for skip in (0, 2):
            with VideoFile(Path(info.path)) as file:
                expected = list(samples(file, segment, skip))
                base = file.time_base
            found = decoder.decode(info, segment, skip)
            for index, pts, frame in expected:
                assert not isinstance(frame, str)
                given = next(found)
                assert not isinstance(given, DecodeFailure)
                assert (given.ref.index, given.ref.pts) == (index, float(pts * base))
                if not isinstance(given.image, DeviceFrame):
                    assert info.path.endswith(".ts")
                    continue
                assert_pixels(given, frame)
            assert next(found, None) is None


def test_frames_are_described_like_the_cpus(decoder: NvdecDecoder, clip: Any) -> None:
    for name in ("turned.mp4", "mirrored.mp4", "full.mp4", "854.mp4"):
        info = probe(clip(name))
        frame = next(decoder.decode(info, info.segments[0]))
        assert not isinstance(frame, DecodeFailure)
        assert isinstance(frame.image, DeviceFrame)
        assert (frame.image.format.width, frame.image.format.height) == (info.width, info.height)
        frame.image.release()


@pytest.mark.parametrize("name", ["b-frames.mp4", "open.mkv", "hevc-open.mp4"])
def test_skipped_frames_are_the_first_ones(name: str, decoder: NvdecDecoder, clip: Any) -> None:
    info = probe(clip(name))
    segment = info.segments[1]
    for skip in (0, 1, 17, segment.frames - 1, segment.frames, segment.frames + 5):
        assert check(decoder, info, segment, skip) == max(0, segment.frames - skip)


def test_many_decode_threads_at_once(decoder: NvdecDecoder, clip: Any) -> None:
    """Eight threads, sources of different formats and sizes, fewer surfaces than frames wanted."""
    names = ["b-frames.mp4", "854.mp4", "hevc-10.mkv", "1366.mkv", "open.ts", "vp9.webm", "hevc-854.mp4", "variable.mkv"]
    infos = [probe(clip(name)) for name in names]
    failed: list[str] = []

    def decode(number: int) -> None:
        for turn in range(2):
            info = infos[(number + turn) % len(infos)]
            try:
                for segment in info.segments:
                    check(decoder, info, segment)
            except BaseException as problem:
                failed.append(f"{info.path}: {problem!r}")

    threads = [threading.Thread(target=decode, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_closing_early_gives_everything_back(clip: Any) -> None:
    ring = device_surfaces(0, 2, 1 << 28)
    decoder = NvdecDecoder(0, ring)
    info = probe(clip("b-frames.mp4"))
    for _ in range(20):
        frames = decoder.decode(info, info.segments[1])
        frame = next(frames)
        assert not isinstance(frame, DecodeFailure)
        assert isinstance(frame.image, DeviceFrame)
        frame.image.release()
        frame.image.release()
        frames.close()  # type: ignore[attr-defined]
    assert check(decoder, info, info.segments[1]) == info.segments[1].frames
    decoder.close()
    assert ring.used == 0


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 8, reason="there are few processors")
def test_only_decoding_on_the_gpu_is_bound_to_few_processors(surfaces: SurfaceRing, clip: Any, tmp_path: Path) -> None:
    decoder, all_of_them = NvdecDecoder(0, surfaces, threads=12), os.sched_getaffinity(0)
    info = probe(torn("zeros", clip("constant.mp4"), tmp_path))
    used: dict[type, set[int]] = {}
    for segment in info.segments:
        for frame in decoder.decode(info, segment):
            used.setdefault(type(getattr(frame, "image", None)), set()).add(len(os.sched_getaffinity(0)))
            if not isinstance(frame, DecodeFailure) and isinstance(frame.image, DeviceFrame):
                frame.image.release()
        assert os.sched_getaffinity(0) == all_of_them
    assert used.pop(DeviceFrame) == {4}
    assert [*used.values()] == len(used) * [{len(all_of_them)}], "FFmpeg decodes the rest of a damaged segment"
    assert used
    frames = decoder.decode(info, info.segments[0])
    frame = next(frames)
    assert not isinstance(frame, DecodeFailure)
    assert isinstance(frame.image, DeviceFrame)
    frame.image.release()
    frames.close()  # type: ignore[attr-defined]
    assert os.sched_getaffinity(0) == all_of_them


def test_decode_threads_follow_the_hardware() -> None:
    Device(0).set_current()
    engines = limits(4, 8).engines
    assert engines > 0
    for threads, more, expected in ((12, True, max(12, 3 * engines)), (64, True, 64), (12, False, 12)):
        decoder = open_nvdec(0, threads, required=True, more=more)
        assert decoder.threads == expected
        decoder.close()


def outcomes_of(frames: Any) -> list[tuple[float, int, str]]:
    found = []
    for frame in frames:
        if isinstance(frame, DecodeFailure):
            found.append((frame.ref.pts, frame.count, frame.reason))
        else:
            found.append((frame.ref.pts, 1, "frame"))
            if not isinstance(frame, DecodeFailure) and isinstance(frame.image, DeviceFrame):
                frame.image.release()
    return found


def torn(kind: str, source: Path, folder: Path) -> Path:
    """A copy with zeros in the middle, or without its end."""
    if kind == "zeros":
        return damaged(source, folder / source.name, [(0.6, 3000)])
    movable = source if source.suffix in (".ts", ".mkv") else rewrap(source, folder / "a.mkv")
    return truncated(movable, folder / f"torn{movable.suffix}", 0.7)


@pytest.mark.parametrize("name", ["b-frames.mp4", "constant.mp4", "broadcast.ts", "hevc.mp4", "open.mp4"])
@pytest.mark.parametrize("kind", ["zeros", "truncated"])
def test_torn_files_are_accounted_for_as_on_the_cpu(
    name: str, kind: str, decoder: NvdecDecoder, clip: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    info = probe(torn(kind, clip(name), tmp_path))
    assert decoder.supports(info) is None
    given = 0
    with caplog.at_level(logging.WARNING):
        for segment in info.segments:
            found = []
            for frame in decoder.decode(info, segment):
                found += outcomes_of([frame])
                given += not isinstance(frame, DecodeFailure) and isinstance(frame.image, DeviceFrame)
            assert found == outcomes_of(decode(info, segment, threads=1))
    assert given > info.frames // 3, "sound segments stay on the device"
    assert len(caplog.records) <= 1


def spoiler(seed: int) -> Any:
    """Overwrites a piece in the picture data of some packets, whose structure stays whole."""
    dice = np.random.default_rng(seed)
    chosen = set(dice.integers(5, FRAMES, 4).tolist())

    def spoil(number: int, data: bytes, _key: bool) -> bytes:
        if number not in chosen or len(data) < 150:
            return data
        start = int(dice.integers(100, len(data) - 20))
        size = min(int(dice.choice([1, 20, 400])), len(data) - 10 - start)
        return data[:start] + dice.integers(4, 250, size, dtype=np.uint8).tobytes() + data[start + size :]

    return spoil


@pytest.mark.parametrize("name", ["b-frames.mp4", "constant.mp4", "broadcast.ts", "hevc.mp4", "hevc.ts", "open.mp4", "vp9.mp4"])
def test_spoiled_pictures(name: str, decoder: NvdecDecoder, clip: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The hardware does not notice all that FFmpeg does, but nothing is lost or doubled, and what it notices is FFmpeg's."""
    flagged = noticed = files = files_noticed = 0
    for seed in range(12):
        path = tmp_path / f"{seed}{name}"
        info = probe(rewrap(clip(name if name in CLIPS else "hevc.mp4"), path, spoiler(seed)))
        if decoder.supports(info):
            continue
        caplog.clear()
        failed = missed = 0
        with caplog.at_level(logging.WARNING):
            for segment in info.segments:
                found, expected = outcomes_of(decoder.decode(info, segment)), outcomes_of(decode(info, segment, threads=1))
                assert sum(count for _, count, _ in found) == sum(count for _, count, _ in expected)
                theirs = {pts for pts, _, text in expected if text != "frame"}
                ours = {pts for pts, _, text in found if text != "frame"}
                assert ours <= theirs
                failed, missed = failed + len(theirs), missed + len(theirs - ours)
        flagged, noticed = flagged + failed, noticed + failed - missed
        files, files_noticed = files + bool(failed), files_noticed + bool(failed and caplog.records)
    print(f"{name}: of {flagged} failures by FFmpeg {noticed} also here; of {files} files with failures {files_noticed} reported")
    assert files_noticed >= files // 2


def test_what_is_not_supported_says_why(decoder: NvdecDecoder, tmp_path: Path) -> None:
    for path, reason in (
        (make_video(tmp_path / "a.mp4", 30, pix_fmt="yuv444p"), "yuv444p"),
        (make_video(tmp_path / "b.mp4", 30, pix_fmt="yuv420p10le"), "h264 of 10 bits"),
        (make_video(tmp_path / "c.avi", 30, codec="mpeg4"), "mpeg4"),
        (make_field_video(tmp_path / "d.mkv", 30), "interlaced"),
        (make_video(tmp_path / "e.mp4", 30, (16, 16)), "16×16"),
        (make_video(tmp_path / "f.mp4", 30, codec="libx265", pix_fmt="yuv420p10le", colorspace=9, transfer=16), "HDR video (PQ)"),
    ):
        info = probe(path)
        assert reason in str(decoder.supports(info))
        with pytest.raises(DeviceError, match="--decode"):
            next(decoder.decode(info, info.segments[0]))
        assert reason in str(decoder.cpu_reason(info))


def test_a_stream_that_changes_its_format_goes_to_the_cpu(decoder: NvdecDecoder, tmp_path: Path) -> None:
    one = make_video(tmp_path / "one.ts", 60, (320, 240), gop=20)
    two = make_video(tmp_path / "two.ts", 60, (160, 120), gop=20, pts=range(60, 120))
    path = tmp_path / "both.ts"
    path.write_bytes(one.read_bytes() + two.read_bytes())
    info = probe(path)
    for segment in info.segments:
        assert outcomes_of(decoder.decode(info, segment)) == outcomes_of(decode(info, segment, threads=1))
    sizes = set()
    for segment in info.segments:
        for frame in decoder.decode(info, segment):
            if not isinstance(frame, DecodeFailure) and not isinstance(frame.image, np.ndarray):
                sizes.add((frame.image.format.width, frame.image.format.height))
            if not isinstance(frame, DecodeFailure) and isinstance(frame.image, DeviceFrame):
                frame.image.release()
    assert sizes == {(320, 240), (160, 120)}
    assert "NVDEC cannot decode it (" in str(decoder.cpu_reason(info))


def test_the_real_video(decoder: NvdecDecoder, data: Path) -> None:
    info = probe(data / "video" / "people.mp4")
    assert sum(check(decoder, info, segment) for segment in info.segments) == 1394


@pytest.mark.parametrize("depth", [8, 10, 12])
@pytest.mark.parametrize("codec", ["H264", "HEVC", "VP8", "VP9", "AV1", "MPEG2"])
def test_its_limits_are_those_that_the_library_tells(codec: str, depth: int) -> None:
    import PyNvVideoCodec

    kind = getattr(PyNvVideoCodec.cudaVideoCodec, codec)
    chroma = PyNvVideoCodec.cudaVideoChromaFormat.__members__["420"]
    told = PyNvVideoCodec.GetDecoderCaps(gpuid=0, codec=kind, chromaformat=chroma, bitdepth=depth)
    Device(0).set_current()
    asked = limits(int(kind), depth)
    assert bool(asked.supported) == bool(told["supported"])
    if asked.supported:
        ours = asked.min_width, asked.min_height, asked.max_width, asked.max_height, asked.max_blocks
        assert ours == tuple(told[name] for name in ("width_min", "height_min", "width_max", "height_max", "mb_num_max"))
