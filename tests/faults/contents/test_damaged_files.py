"""Damaged and handmade files: no crash, no hang, bounded memory, and no file that is silently short."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from tests.support.faults.counts import short_and_long
from tests.support.faults.decoding import EXPECTED, Decoding, Result
from tests.support.faults.seeds import seeded
from tests.support.media import make_video, numbered

FRAMES = EXPECTED
PEAK = 1024
"""Most memory of the decoding process, MiB."""

SECONDS = 30.0
"""Most processor time for one file."""

CLIPS: dict[str, dict[str, Any]] = {
    "a.mp4": {"bframes": 2, "gop": 20, "audio": True, "muxer": {"movflags": "faststart"}},
    "fragments.mp4": {"bframes": 2, "gop": 20, "muxer": {"movflags": "frag_keyframe+empty_moov"}},
    "a.mkv": {"bframes": 2, "gop": 20, "audio": True},
    "a.webm": {"codec": "libvpx-vp9", "gop": 40, "options": {"deadline": "realtime", "cpu-used": "8"}},
    "a.ts": {"bframes": 2, "gop": 20, "audio": True},
    "a.flv": {"bframes": 2, "gop": 20},
    "a.avi": {"codec": "mpeg4", "options": {"bf": "2"}, "gop": 20},
    "motion.avi": {"codec": "mjpeg", "pix_fmt": "yuvj420p"},
}


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("clips")
    return [make_video(folder / name, FRAMES, (96, 64), **options) for name, options in CLIPS.items()]


@pytest.fixture(scope="module")
def decoding() -> Iterator[Decoding]:
    with Decoding() as process:
        yield process


@dataclass(frozen=True)
class Damage:
    """What was done to a file's content: the kind, the number of bytes, and where."""

    kind: str
    length: int
    places: tuple[int, ...]

    def touches(self, span: range) -> bool:
        """Whether a byte of this span is damaged."""
        return any(place < span.stop and span.start < place + self.length for place in self.places)


def mutated(content: bytes, chance: random.Random) -> tuple[bytes, Damage]:
    """Damage a file's content. Returns it, and what was done."""
    size = len(content)
    changed = bytearray(content)
    kind = chance.choice(["zeros", "flipped", "random", "removed", "inserted", "truncated", "swapped"])
    length = min(size, int(2 ** chance.uniform(0, 14)))
    place = chance.randrange(size - length + 1)
    places = (place,)
    span = slice(place, place + length)
    match kind:
        case "zeros":
            changed[span] = bytes(length)
        case "flipped":
            changed[span] = bytes(value ^ 0xFF for value in changed[span])
        case "random":
            changed[span] = chance.randbytes(length)
        case "removed":
            del changed[span]
        case "inserted":
            changed[place:place] = chance.randbytes(length)
        case "truncated":
            del changed[place:]
        case "swapped":
            other = chance.randrange(size - length + 1)
            changed[span], changed[other : other + length] = changed[other : other + length], changed[span]
            places = place, other
    return bytes(changed), Damage(kind, length, places)


def timing(content: bytes) -> list[range]:
    """Where an MP4 holds the clocks, edit list and intervals of its first track: the boxes mvhd to mdhd, and stts."""
    if b"elst" not in content:
        return []
    intervals = content.find(b"stts") - 4
    return [range(content.find(b"mvhd") - 4, content.find(b"hdlr")), range(intervals, intervals + 24)]


def silently_short(result: Result, content: bytes, name: str, damage: Damage) -> bool:
    """Whether frames are missing without a failed frame or an error. content: of the undamaged file.

    Three kinds of damage cannot be known. A truncated broadcast has no end that it could miss: see ``test_damage``. An edit list may show
    any part of a video, so a list that shows less because its numbers, clocks or intervals are damaged looks like a cut.
    A VP9 frame has one bit that says whether it is shown.
    """
    hidden = result.hidden if name == "a.webm" else 0
    if result.error or result.failed or result.frames + hidden >= FRAMES:
        return False
    return not (name == "a.ts" and damage.kind == "truncated") and not any(map(damage.touches, timing(content)))


@short_and_long(10, 1000, "count")
def test_mutated_videos(count: int, clips: list[Path], decoding: Decoding, tmp_path: Path) -> None:
    chance = seeded()
    short: list[str] = []
    refused = damaged = 0
    for number in range(count):
        source = clips[number % len(clips)]
        whole = source.read_bytes()
        content, done = mutated(whole, chance)
        path = tmp_path / source.name
        path.write_bytes(content)
        result = decoding.decode(path)
        assert result.seconds < SECONDS, f"{source.name}, {done}"
        assert result.peak < PEAK, f"{source.name}, {done}"
        refused += bool(result.error)
        damaged += bool(result.failed)
        if silently_short(result, whole, source.name, done):
            short.append(f"{source.name}, {done}: {result.frames} of {FRAMES}, {result.announced} announced")
    print(f"{count} files: {refused} refused, {damaged} with failed frames, peak {result.peak} MiB")
    assert not short, "\n".join([f"{len(short)} of {count} are silently short", *short])


def handmade(clips: list[Path]) -> Iterator[tuple[str, bytes]]:
    """Names and contents of files that no program writes."""
    for clip in clips:
        content = clip.read_bytes()
        for length in (1, 8, 40, 400, 2000):
            yield f"{length}-{clip.name}", content[:length]
        yield f"twice-{clip.name}", content * 2
        yield f"tail-{clip.name}", content[len(content) // 2 :]
    png = cv2.imencode(".png", numbered(1, (64, 48)))[1].tobytes()
    box = b"ftypisom\0\0\2\0isomiso2"
    ebml = b"\x1a\x45\xdf\xa3\x84\x42\x82\x81w"
    yield from (
        ("text.mp4", b"this is no video\n" * 1000),
        ("zeros.mp4", bytes(1 << 20)),
        ("ones.mkv", b"\xff" * (1 << 20)),
        ("picture.mp4", png),
        ("length-0.mp4", b"\0\0\0\0" + box),
        ("length-1.mp4", b"\0\0\0\1" + box + b"\xff" * 8),
        ("length-7.mp4", b"\0\0\0\7" + box),
        ("endless.mp4", (b"\0\0\0\x18" + box) * 20_000),
        ("nested.mp4", b"".join((8 * (2000 - depth)).to_bytes(4, "big") + b"moov" for depth in range(1999))),
        ("segment.mkv", ebml + b"\x18\x53\x80\x67\x01" + b"\xff" * 7),
        ("no-size.mkv", ebml + b"\x18\x53\x80\x67\x00"),
        ("huge.mkv", ebml + b"\x18\x53\x80\x67\x01" + b"\x7f" * 7 + bytes(100)),
        ("sync.ts", b"G" * 188 * 400),
        ("riff.avi", b"RIFF\xff\xff\xff\xffAVI LIST\xff\xff\xff\xffhdrl"),
        ("flv.flv", b"FLV\1\5\0\0\0\t\0\0\0\0\t\xff\xff\xff" + bytes(100)),
        ("y4m.y4m", b"YUV4MPEG2 W99999999 H99999999 F1:1\nFRAME\n"),
        ("big.y4m", b"YUV4MPEG2 W16384 H16384 F30:1\nFRAME\n" + bytes(1000)),
    )


def test_handmade_videos(clips: list[Path], decoding: Decoding, tmp_path: Path) -> None:
    count = 0
    for name, content in handmade(clips):
        path = tmp_path / name
        path.write_bytes(content)
        result = decoding.decode(path)
        assert result.seconds < SECONDS, name
        assert result.peak < PEAK, name
        assert result.error or result.frames or result.failed, f"{name} gives neither frames nor an error"
        if result.error:
            assert str(path) in result.error, "the message names the file"
        count += 1
    print(f"{count} files, peak {result.peak} MiB")
    assert count >= 60


@short_and_long(12, 200, "count")
def test_mutated_pictures(count: int, decoding: Decoding, tmp_path: Path) -> None:
    chance = seeded()
    noise = np.random.default_rng(chance.randrange(1 << 32)).integers(0, 256, (96, 128, 3)).astype(np.uint8)
    contents = {suffix: cv2.imencode(f".{suffix}", noise)[1].tobytes() for suffix in ("jpg", "png", "bmp", "tiff", "webp", "ppm")}
    for number in range(count):
        suffix = [*contents][number % len(contents)]
        content, done = mutated(contents[suffix], chance)
        path = tmp_path / f"a.{suffix}"
        path.write_bytes(content)
        result = decoding.decode(path)
        assert result.seconds < SECONDS, f"{suffix}, {done}"
        assert result.peak < 2 * PEAK, f"{suffix}, {done}"
        assert bool(result.error) != (result.frames == 1), f"{suffix}, {done}"
