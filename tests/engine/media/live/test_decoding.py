"""Decoding of live packets: every packet becomes a frame or is counted, and nothing damaged is shown."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat
from framefleet.engine.media.live.decoding import LiveDecoder, Shown, converter, screen_converter
from framefleet.engine.media.live.messages import EpochBegan, Format, LivePacket
from framefleet.engine.media.types import DeviceFrame
from framefleet.engine.notices import Notice, SourceError
from tests.support.live.packets import HostDevice, counts, decode, packets_of
from tests.support.media import make_video, number_of

FIRST = Notice("live.first")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.mp4", {}),
        ("a.mp4", {"bframes": 2}),
        ("a.mkv", {"codec": "libx265", "options": {"x265-params": "log-level=none"}}),
        ("a.avi", {"codec": "mjpeg", "pix_fmt": "yuvj420p"}),
    ],
)
def test_every_frame_of_a_clean_stream_is_shown_in_order(name: str, options: dict[str, object], tmp_path: Path) -> None:
    form, packets = packets_of(make_video(tmp_path / name, 48, **options))  # type: ignore[arg-type]
    decoder = LiveDecoder()
    assert decoder.begin(EpochBegan(form, FIRST, 0)) == []
    shown = [*decode(decoder, packets)]
    convert = converter(form, planes=False, address="rtsp://cam/a")
    assert all(isinstance(outcome, Shown) for outcome in shown)
    assert [number_of(convert(outcome)) for outcome in shown if isinstance(outcome, Shown)] == [*range(48)]
    times = [outcome.packet.seconds for outcome in shown if isinstance(outcome, Shown)]
    assert times == sorted(times)
    assert decoder.decoded == 48


def test_frames_before_the_first_keyframe_are_counted(tmp_path: Path) -> None:
    form, packets = packets_of(make_video(tmp_path / "a.mp4", 36))
    decoder = LiveDecoder()
    decoder.begin(EpochBegan(form, FIRST, 5))
    assert counts(decode(decoder, packets[5:])) == {"live.before_keyframe": 7, "shown": 24}


def test_after_a_gap_nothing_is_shown_before_the_next_keyframe(tmp_path: Path) -> None:
    form, packets = packets_of(make_video(tmp_path / "a.mp4", 36))
    decoder = LiveDecoder()
    decoder.begin(EpochBegan(form, FIRST, 0))
    assert counts(decode(decoder, packets[:15] + packets[20:])) == {"shown": 15 + 12, "live.decoder_behind": 9}


@pytest.mark.parametrize("codec", ["libx264", "libx265", "mjpeg"])
def test_garbage_is_not_shown_and_is_counted(codec: str, tmp_path: Path) -> None:
    name = "a.avi" if codec == "mjpeg" else "a.mkv"
    options = {"x265-params": "log-level=none"} if codec == "libx265" else {}
    form, packets = packets_of(
        make_video(tmp_path / name, 48, codec=codec, pix_fmt="yuvj420p" if codec == "mjpeg" else "yuv420p", options=options)
    )
    noise = np.random.default_rng(5)
    damaged = [
        replace(packet, data=noise.bytes(len(packet.data)), damaged=codec == "libx265") if packet.number == 14 else packet
        for packet in packets
    ]
    decoder = LiveDecoder()
    decoder.begin(EpochBegan(form, FIRST, 0))
    outcomes = [*decode(decoder, damaged)]
    found = counts(outcomes)
    assert found.total() == 48
    # up to the keyframe 24, and what the decoder still holds back
    assert found["live.damaged"] in ((1,) if codec == "mjpeg" else (10, 11, 12))
    convert = converter(form, planes=False, address="rtsp://cam/a")
    numbers = [number_of(convert(outcome)) for outcome in outcomes if isinstance(outcome, Shown)]
    assert set(numbers).isdisjoint({14} if codec == "mjpeg" else range(14, 24))


@pytest.mark.parametrize("codec", ["libx264", "libx265"])
@pytest.mark.parametrize("lost", [(10,), (10, 11), (14, 26)])
def test_frames_that_depend_on_a_lost_one_are_not_shown(codec: str, lost: tuple[int, ...], tmp_path: Path) -> None:
    """The network, or the camera, lost whole packets: the numbers of the capture process have no gap."""
    options = {"x265-params": "log-level=none:bframes=0"} if codec == "libx265" else {}
    form, packets = packets_of(make_video(tmp_path / "a.mkv", 48, codec=codec, options=options))
    kept = [packet for packet in packets if packet.number not in lost]
    truth = [packet.number for packet in kept]
    decoder = LiveDecoder()
    decoder.begin(EpochBegan(form, FIRST, 0))
    outcomes = [*decode(decoder, [replace(packet, number=number) for number, packet in enumerate(kept)])]
    assert counts(outcomes).total() == len(kept)
    shown = {truth[outcome.packet.number] for outcome in outcomes if isinstance(outcome, Shown)}
    whole = {number for number in range(48) if not any(gap <= number < 12 * (gap // 12 + 1) for gap in lost)}
    assert shown <= whole
    assert len(whole - shown) <= 3 * len(lost)  # what the decoder of HEVC still holds back


def test_non_reference_frames_may_be_missing(tmp_path: Path) -> None:
    form, packets = packets_of(make_video(tmp_path / "a.mp4", 48, bframes=2))
    decoder = LiveDecoder()
    decoder.begin(EpochBegan(form, FIRST, 0))
    assert counts(decode(decoder, packets)) == {"shown": 48}


def test_a_packet_that_is_known_to_be_damaged_is_not_shown(tmp_path: Path) -> None:
    form, packets = packets_of(make_video(tmp_path / "a.mp4", 36))
    decoder = LiveDecoder()
    decoder.begin(EpochBegan(form, FIRST, 0))
    marked = [replace(packet, damaged=packet.number == 20) for packet in packets]
    assert counts(decode(decoder, marked)) == {"shown": 20 + 12, "live.damaged": 4}


def test_a_storm_of_garbage_ends_and_everything_is_counted(tmp_path: Path) -> None:
    form, packets = packets_of(make_video(tmp_path / "a.mp4", 48))
    noise = np.random.default_rng(7)
    storm = [replace(packet, data=noise.bytes(500)) if packet.number < 36 else packet for packet in packets]
    decoder = LiveDecoder()
    decoder.begin(EpochBegan(form, FIRST, 0))
    assert counts(decode(decoder, storm)) == {"live.damaged": 36, "shown": 12}


def test_another_format_begins_with_a_new_decoder(tmp_path: Path) -> None:
    one, first = packets_of(make_video(tmp_path / "a.mp4", 12))
    two, second = packets_of(make_video(tmp_path / "b.mkv", 12, (160, 120), codec="libx265", options={"x265-params": "log-level=none"}))
    decoder = LiveDecoder()
    decoder.begin(EpochBegan(one, FIRST, 0))
    outcomes = [outcome for packet in first for outcome in decoder.decode(packet)]
    outcomes += decoder.begin(EpochBegan(two, Notice("live.reconnected"), 12))
    outcomes += decode(decoder, [replace(packet, number=12 + packet.number) for packet in second])
    sizes = [outcome.size for outcome in outcomes if isinstance(outcome, Shown)]
    assert sizes == [(320, 240)] * 12 + [(160, 120)] * 12


def test_a_codec_without_a_decoder_is_named() -> None:
    with pytest.raises(SourceError, match="there is no decoder for nonsense"):
        LiveDecoder().begin(EpochBegan(Format("nonsense"), FIRST, 0))


def test_the_device_decodes_what_it_can_and_the_rest_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    device = HostDevice()
    decoder = LiveDecoder(device, "rtsp://cam/1")
    form, packets = packets_of(make_video(tmp_path / "a.mp4", 24))
    decoder.begin(EpochBegan(form, FIRST, 0))
    assert [decoder.opens(packet) for packet in packets[:2]] == [True, False]
    assert counts(decode(decoder, packets)) == {"shown": 24}
    assert (device.opened, decoder.refusal) == ([("h264", 320)], None)
    assert not decoder.opens(packets[12]), "a decoder of this kind is open"
    form, second = packets_of(make_video(tmp_path / "b.mkv", 24, codec="libx265", options={"x265-params": "log-level=none"}))
    decoder.begin(EpochBegan(form, FIRST, 24))
    assert counts(decode(decoder, [replace(packet, number=packet.number + 24) for packet in second])) == {"shown": 24}
    assert "its codec is hevc" in str(decoder.refusal)
    assert "rtsp://cam/1: NVDEC cannot decode this stream, so the CPU decodes it: its codec is hevc" in caplog.text


def test_what_the_device_has_to_decode_is_an_error_otherwise(tmp_path: Path) -> None:
    device = HostDevice()
    device.required = True
    form, packets = packets_of(make_video(tmp_path / "b.mkv", 2, codec="libx265", options={"x265-params": "log-level=none"}))
    decoder = LiveDecoder(device, "rtsp://cam/1")
    decoder.begin(EpochBegan(form, FIRST, 0))
    with pytest.raises(SourceError, match="NVDEC cannot decode rtsp://cam/1"):
        decoder.decode(packets[0])


def test_a_device_that_is_late_goes_on_with_the_next_fresh_keyframe(tmp_path: Path) -> None:
    """Keyframes: 0, 12, 24, 36. The one that comes when the packets are still a little late is not enough."""
    form, packets = packets_of(make_video(tmp_path / "a.mp4", 48))
    now = time.perf_counter()
    ages = dict.fromkeys(range(5, 10), 5.0) | {12: 0.3}
    aged = [replace(packet, arrival=now - ages[packet.number] if packet.number in ages else math.inf) for packet in packets]
    decoder = LiveDecoder(HostDevice())
    decoder.begin(EpochBegan(form, FIRST, 0))
    assert counts(decode(decoder, aged)) == {"shown": 5 + 24, "live.decoder_behind": 19}
    decoder = LiveDecoder(HostDevice())
    decoder.begin(EpochBegan(form, FIRST, 0, waits=True))
    assert counts(decode(decoder, aged)) == {"shown": 48}, "a file is not late"


def test_a_late_keyframe_opens_the_decoder_so_that_the_next_one_is_not_late(tmp_path: Path) -> None:
    """Many sources that begin at once wait for each other's decoders."""
    form, packets = packets_of(make_video(tmp_path / "a.mp4", 24))
    now, device = time.perf_counter(), HostDevice()
    decoder = LiveDecoder(device)
    decoder.begin(EpochBegan(form, FIRST, 0))
    assert counts(decoder.decode(replace(packets[0], arrival=now - 5.0))) == {"live.decoder_behind": 1}
    assert len(device.opened) == 1
    assert not decoder.opens(packets[12])
    assert counts(decode(decoder, packets[1:])) == {"live.decoder_behind": 11, "shown": 12}


def hevc(folder: Path) -> tuple[Format, list[LivePacket]]:
    return packets_of(make_video(folder / "a.mkv", 72, codec="libx265", options={"x265-params": "log-level=none:bframes=0"}))


def without(packets: list[LivePacket], lost: set[int]) -> list[LivePacket]:
    """The packets without those that a camera lost: the numbers have no gap."""
    kept = [packet for packet in packets if packet.number not in lost]
    return [replace(packet, number=number) for number, packet in enumerate(kept)]


def test_a_device_shows_nothing_that_depends_on_a_lost_picture_of_hevc(tmp_path: Path) -> None:
    form, packets = hevc(tmp_path)
    decoder = LiveDecoder(HostDevice(codecs=("hevc",)))
    decoder.begin(EpochBegan(form, FIRST, 0))
    outcomes = [*decode(decoder, without(packets, {29}))]
    assert decoder.refusal is None
    assert counts(outcomes) == {"shown": 29 + 36, "live.damaged": 6}
    assert [outcome.packet.number for outcome in outcomes if isinstance(outcome, Shown)] == [*range(29), *range(35, 71)]


def test_an_encoder_that_always_names_missing_pictures_is_believed_in_the_end(tmp_path: Path) -> None:
    form, packets = hevc(tmp_path)
    decoder = LiveDecoder(HostDevice(codecs=("hevc",)))
    decoder.begin(EpochBegan(form, FIRST, 0))
    outcomes = [*decode(decoder, without(packets, {2, 14, 26, 38, 50, 62}))]
    assert counts(outcomes) == {"shown": 3 * 2 + 3 * 11, "live.damaged": 3 * 9}


@pytest.mark.parametrize("codec", ["libx264", "libx265"])
def test_keyframes_in_the_memory_of_a_gpu_are_shown_on_the_screen(codec: str, tmp_path: Path) -> None:
    options = {"x265-params": "log-level=none"} if codec == "libx265" else {}
    form, packets = packets_of(make_video(tmp_path / "a.mkv", 30, codec=codec, gop=10, options=options))
    convert = screen_converter(form, (160, 90))
    in_memory = DeviceFrame(FrameFormat(PixelFormat.NV12, 8, 320, 192, 320, 192, (False, None), "bt601", False), 0, None, lambda: None)
    for packet in packets:
        picture = convert(Shown(packet, in_memory))
        assert (picture is not None) == packet.keyframe
        if picture is not None:
            assert picture.shape[1] <= 160
            assert picture.shape[0] <= 90
            assert number_of(np.ascontiguousarray(picture[:, :, 2::-1])) == round(30 * packet.seconds)
    assert convert(Shown(replace(packets[0], data=b"\0\0\1garbage"), in_memory)) is None
