"""Missing reference pictures of HEVC are noticed, and sound streams of many kinds give no alarm."""

from __future__ import annotations

from pathlib import Path

import pytest

from framefleet.engine.media.container.hevc_references import References
from framefleet.engine.media.live.messages import Format, LivePacket
from tests.support.faults.counts import others_slow
from tests.support.live.packets import packets_of
from tests.support.media import make_video, rewrap

KINDS = {
    "default": "",
    "no-b": "bframes=0",
    "open": "bframes=3:open-gop=1:b-adapt=0:scenecut=0",
    "pyramid": "bframes=7:b-pyramid=1:ref=5:b-adapt=0:rc-lookahead=20",
    "layers": "bframes=3:temporal-layers=3:b-adapt=0",
    "many": "ref=8:bframes=4:weightp=1",
    "refresh": "intra-refresh=1:bframes=0",
    "lists": "scaling-list=default:bframes=2",
    "repeated": "repeat-headers=1:bframes=2:sao=0",
}


def made(folder: Path, kind: str, suffix: str = "mkv") -> tuple[Format, list[LivePacket]]:
    options = {"preset": "ultrafast" if kind != "many" else "fast", "x265-params": f"log-level=none:keyint=24:info=0:{KINDS[kind]}"}
    video = make_video(folder / f"{kind}.mp4", 72, codec="libx265", gop=24, options=options)
    return packets_of(rewrap(video, folder / f"{kind}.{suffix}"))


def kind_of(packet: LivePacket, form: Format) -> int:
    """Of the picture: the type of its first slice."""
    data, found = packet.data, -1
    position = 0
    while found < 0:
        if form.extradata and form.extradata[0] == 1:
            size = int.from_bytes(data[position : position + 4], "big")
            kind, position = data[position + 4] >> 1 & 63, position + 4 + size
        else:
            position = data.find(b"\0\0\1", position) + 3
            kind = data[position] >> 1 & 63
        found = kind if kind < 32 else -1
    return found


def gaps(form: Format, packets: list[LivePacket]) -> list[int]:
    references = References(form.extradata)
    found = []
    for packet in packets:
        if packet.keyframe:
            references.reset()
        if references.is_gap(packet.data):
            found.append(packet.number)
    return found


@pytest.mark.parametrize("suffix", others_slow(["mkv", "ts"], "mkv"))
@pytest.mark.parametrize("kind", KINDS)
def test_a_sound_stream_has_no_gap(kind: str, suffix: str, tmp_path: Path) -> None:
    form, packets = made(tmp_path, kind, suffix)
    assert gaps(form, packets) == []
    for begin in [packet.number for packet in packets if packet.keyframe][1:]:
        assert gaps(form, packets[begin:]) == [], "it may begin in the middle"


@pytest.mark.parametrize("kind", ["default", "no-b", "open", "pyramid", "layers", "many"])
def test_a_missing_picture_is_noticed_if_others_refer_to_it(kind: str, tmp_path: Path) -> None:
    form, packets = made(tmp_path, kind)
    noticed = 0
    for lost in range(4, 20):
        unreferenced = kind_of(packets[lost], form) in range(0, 15, 2)
        found = gaps(form, [packet for packet in packets if packet.number != lost])
        if unreferenced:
            assert found == []
            continue
        noticed += bool(found)
        assert not found or lost < found[0] < 24 + 9, "before the next keyframe, or in its leading pictures"
    assert noticed >= 3


def test_every_lost_picture_of_a_camera_is_noticed_by_the_next_one(tmp_path: Path) -> None:
    form, packets = made(tmp_path, "no-b")
    for lost in (1, 7, 22):
        assert gaps(form, [packet for packet in packets if packet.number != lost])[0] == lost + 1


def test_garbage_gives_no_error() -> None:
    for content in (b"", b"\0\0\1", b"\0\0\1\x26\1\x80", b"\1" * 40, b"\0\0\1\x42\1" + bytes(40), b"\0\0\1\x44\1\xff\xff"):
        References(content).is_gap(content)
