"""Makes test videos and pictures with PyAV. Each frame shows its number, so that tests find lost and repeated frames."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial, wraps
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

import av
import cv2
import numpy as np
from av.stream import Disposition
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray
from PIL import ExifTags, Image

from framefleet.engine.detection.frame_format import HostImage, Planes

P = ParamSpec("P")
BITS = 16
ROWS = 2


def numbered(number: int, size: tuple[int, int] = (320, 240)) -> NDArray[np.uint8]:
    """A picture that shows a number, uint8 (height, width, 3), RGB: 16 black or white squares in two rows, and below a bar that moves."""
    width, height = size
    image = _background(size).copy()
    cell_height, cell_width = height // 4, width // (BITS // ROWS)
    for bit in range(BITS):
        row, column = divmod(bit, BITS // ROWS)
        value = 235 if number >> bit & 1 else 20
        image[row * cell_height : (row + 1) * cell_height, column * cell_width : (column + 1) * cell_width] = value
    bar = number * 7 % max(1, width - 8)
    image[-height // 4 :, bar : bar + 8] = (220, 30, 30)
    return image


@cache
def _background(size: tuple[int, int]) -> NDArray[np.uint8]:
    """The picture behind the squares."""
    width, height = size
    image = np.empty((height, width, 3), np.uint8)
    image[...] = np.linspace(40, 200, width, dtype=np.uint8)[None, :, None]
    image[:, :, 2] = 90
    return image


def number_of(image: HostImage) -> int:
    """Read the number in a picture or frame that ``numbered`` drew."""
    pixels = pixels_of(image)
    middles = _middles(pixels.shape[0], pixels.shape[1])
    values = pixels[middles].reshape(BITS, -1).mean(axis=1)
    return int(np.packbits(values > 127, bitorder="little").view("<u2")[0])


@cache
def _middles(height: int, width: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows and columns of the middles of all squares."""
    row, column = np.divmod(np.arange(BITS), BITS // ROWS)
    return ((row + 0.5) * height / 4).astype(np.intp), ((column + 0.5) * width / (BITS // ROWS)).astype(np.intp)


def write_pictures(folder: Path, count: int, size: tuple[int, int] = (64, 48)) -> Path:
    """Write the numbered pictures 0.png, 1.png, … into a folder, which is made. Returns it."""
    folder.mkdir(exist_ok=True)
    for number in range(count):
        assert cv2.imwrite(str(folder / f"{number}.png"), numbered(number, size))
    return folder


def dated_picture(
    tags: Mapping[int, str], form: str = "JPEG", size: tuple[int, int] = (64, 48), picture: NDArray[np.uint8] | None = None
) -> bytes:
    """A picture with these EXIF tags of an exposure. form: a format of Pillow. picture: RGB, None = noise of this size."""
    if picture is None:
        picture = np.random.default_rng(size[0]).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    exif = Image.Exif()
    exif[ExifTags.Base.Model] = "Framefleet"
    exif.get_ifd(ExifTags.IFD.Exif).update(tags)
    file = BytesIO()
    Image.fromarray(picture).save(file, form, exif=exif)
    return file.getvalue()


def pixels_of(image: HostImage) -> NDArray[np.uint8]:
    """The pixels of a picture, the luma of a frame."""
    return image.luma if isinstance(image, Planes) else image


def _once(make: Callable[Concatenate[Path, P], Path]) -> Callable[Concatenate[Path, P], Path]:
    """Let a function that makes a file make each one once in this process, and then write its bytes again."""
    made: dict[tuple[object, ...], bytes] = {}

    @wraps(make)
    def made_or_copied(path: Path, /, *arguments: P.args, **options: P.kwargs) -> Path:
        others = sorted((name, repr(value)) for name, value in options.items() if name != "picture")
        key = path.suffix, repr(arguments), tuple(others), options.get("picture")  # keeps the function alive, so that its id is its own
        if key in made:
            path.write_bytes(made[key])
        else:
            make(path, *arguments, **options)
            made[key] = path.read_bytes()
        return path

    return made_or_copied


@_once
def make_video(
    path: Path,
    frames: int = 60,
    size: tuple[int, int] = (320, 240),
    rate: int | Fraction = 30,
    *,
    codec: str = "libx264",
    container: str | None = None,
    gop: int = 12,
    bframes: int = 0,
    open_gop: bool = False,
    pts: Sequence[int] | None = None,
    time_base: Fraction | None = None,
    pix_fmt: str = "yuv420p",
    options: dict[str, str] | None = None,
    muxer: dict[str, str] | None = None,
    metadata: dict[str, str] | None = None,
    rotation: int = 0,
    hflip: bool = False,
    aspect: Fraction | None = None,
    colorspace: int | None = None,
    color_range: int | None = None,
    transfer: int | None = None,
    tagged: bool = True,
    audio: bool = False,
    picture: Callable[[int, tuple[int, int]], NDArray[np.uint8]] = numbered,
) -> Path:
    """Write a video of numbered pictures. The suffix of the path chooses the container. Returns the path.

    size: width and height, pixels. rate: frames/s. gop: frames between keyframes. pts: of each frame, in units of ``time_base`` (1/rate
    by default), for variable frame rates. rotation: degrees counter-clockwise by which a player turns the picture, before it mirrors
    the picture (hflip). aspect: of one pixel. colorspace: FFmpeg's number of the matrix for the conversion; the stream names it if
    ``tagged``. transfer: FFmpeg's number of the transfer function, which the stream names. options, muxer: of the encoder and of the
    container. audio: adds a silent track. picture: draws frame n.
    """
    coder = {"preset": "ultrafast", "crf": "18", "sc_threshold": "0", "bf": str(bframes)} if codec == "libx264" else {}
    if codec == "libx264" and bframes:
        coder |= {"preset": "veryfast", "x264-params": f"b-adapt=0:bframes={bframes}:open-gop={int(open_gop)}:scenecut=0"}
    with av.open(str(path), "w", format=container, options=muxer or {}) as output:
        stream = output.add_stream(codec, rate=rate, options=coder | (options or {}))
        assert isinstance(stream, av.VideoStream)
        output.metadata.update(metadata or {})
        stream.width, stream.height = size
        stream.pix_fmt = pix_fmt
        stream.codec_context.gop_size = gop
        stream.codec_context.time_base = time_base or 1 / Fraction(rate)
        if aspect is not None:
            stream.codec_context.sample_aspect_ratio = aspect
        if colorspace is not None and tagged:
            stream.codec_context.colorspace = colorspace
        if color_range is not None:
            stream.codec_context.color_range = color_range
        if transfer is not None:
            stream.codec_context.color_trc = transfer
            stream.codec_context.color_primaries = 9  # BT.2020
        if rotation or hflip:
            stream.set_display_rotation(rotation, hflip=hflip)
        convert = VideoReformatter()
        sound = output.add_stream("libopus" if path.suffix == ".webm" else "aac", rate=48000) if audio else None
        for number in range(frames):
            frame = av.VideoFrame.from_ndarray(picture(number, size), format="rgb24")
            frame = convert.reformat(frame, format=pix_fmt, dst_colorspace=colorspace, dst_color_range=color_range)
            if not tagged:
                frame.colorspace = 2  # unspecified
            frame.pts = number if pts is None else pts[number]
            frame.time_base = stream.codec_context.time_base
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
        if sound is not None:
            _silence(output, sound, frames / float(rate))
    return path


def make_heif(path: Path, columns: int, rows: int, tile: tuple[int, int] = (64, 64)) -> Path:
    """Write a picture in HEVC as telephones do: a grid places tiles side by side (ISO 23008-12, 6.6.2.3.2). One tile: without grid."""
    video = make_video(path.with_suffix(".mp4"), columns * rows, tile, codec="libx265", gop=1, options={"x265-params": "log-level=none"})
    with av.open(str(video)) as container:
        setup = container.streams.video[0].codec_context.extradata
        tiles = [bytes(packet) for packet in container.demux(video=0) if packet.size]
    assert setup is not None

    def box(kind: bytes, *content: bytes, flags: bytes | None = None) -> bytes:
        body = (b"" if flags is None else flags) + b"".join(content)
        return struct.pack(">I", 8 + len(body)) + kind + body

    def extent(width: int, height: int) -> bytes:
        return box(b"ispe", struct.pack(">II", width, height), flags=bytes(4))

    grid = len(tiles) > 1
    items = [*range(1, len(tiles) + 1 + grid)]  # the grid is the last one
    primary = items[-1]
    properties = box(b"hvcC", setup), extent(*tile), *([extent(columns * tile[0], rows * tile[1])] if grid else [])
    used = [bytes((0, item, 2, 0x81, 2)) for item in items[: len(tiles)]] + ([bytes((0, primary, 1, 3))] if grid else [])
    layout = bytes((0, 0, rows - 1, columns - 1)) + struct.pack(">HH", columns * tile[0], rows * tile[1])

    def meta(begin: int) -> bytes:
        places, at = b"", begin
        for item, content in zip(items, tiles, strict=False):
            places += struct.pack(">HHHHII", item, 0, 0, 1, at, len(content))
            at += len(content)
        if grid:
            places += struct.pack(">HHHHII", primary, 1, 0, 1, 0, len(layout))  # within "idat"
        names = [b"hvc1"] * len(tiles) + [b"grid"] * grid
        kinds = [box(b"infe", struct.pack(">HH4sB", item, 0, name, 0), flags=b"\2\0\0\0") for item, name in zip(items, names, strict=True)]
        parts = struct.pack(f">HH{len(tiles)}H", primary, len(tiles), *items[:-1]) if grid else b""
        return box(
            b"meta",
            box(b"hdlr", bytes(4), b"pict", bytes(13), flags=bytes(4)),
            box(b"pitm", struct.pack(">H", primary), flags=bytes(4)),
            box(b"iloc", b"\x44\0", struct.pack(">H", len(items)), places, flags=b"\1\0\0\0"),
            box(b"iinf", struct.pack(">H", len(items)), *kinds, flags=bytes(4)),
            *([box(b"iref", box(b"dimg", parts), flags=bytes(4))] if grid else []),
            box(b"iprp", box(b"ipco", *properties), box(b"ipma", struct.pack(">I", len(items)), *used, flags=bytes(4))),
            *([box(b"idat", layout)] if grid else []),
            flags=bytes(4),
        )

    head = box(b"ftyp", b"heic", bytes(4), b"mif1heic")
    begin = len(head) + len(meta(0)) + 8
    path.write_bytes(head + meta(begin) + box(b"mdat", *tiles))
    return path


def _silence(output: av.container.OutputContainer, stream: av.AudioStream, seconds: float) -> None:
    for start in range(0, int(seconds * 48000), 960):
        frame = av.AudioFrame.from_ndarray(np.zeros((2, 960), np.float32), format="fltp", layout="stereo")
        frame.sample_rate = 48000
        frame.pts = start
        frame.time_base = Fraction(1, 48000)
        output.mux(stream.encode(frame))
    output.mux(stream.encode(None))


def rewrap(source: Path, target: Path, change: Callable[[int, bytes, bool], bytes] | None = None, times: int = 1) -> Path:
    """Copy the packets of the video track of ``source`` into another container.

    change: takes the number and data of each packet and whether it is a keyframe; returns the data to write. times: copies in a row.
    """
    with av.open(str(source)) as given, av.open(str(target), "w") as output:
        stream = given.streams.video[0]
        copy = output.add_stream_from_template(stream)
        packets = [packet for packet in given.demux(stream) if packet.size]
        starts = [packet.pts for packet in packets if packet.pts is not None]
        ends = [packet.pts + packet.duration for packet in packets if packet.pts is not None and packet.duration is not None]
        span = max(ends) - min(starts)
        for turn in range(times):
            for number, packet in enumerate(packets):
                data = bytes(packet)
                new = av.Packet(change(number, data, packet.is_keyframe) if change else data)
                assert packet.pts is not None
                assert packet.dts is not None
                new.pts, new.dts, new.duration = packet.pts + turn * span, packet.dts + turn * span, packet.duration
                new.time_base, new.is_keyframe, new.stream = packet.time_base, packet.is_keyframe, copy
                output.mux(new)
    return target


def beginning(source: Path, target: Path, frames: int) -> Path:
    """Copy the first packets of the video track of ``source``."""
    with av.open(str(source)) as given, av.open(str(target), "w") as output:
        stream = output.add_stream_from_template(given.streams.video[0])
        for packet in islice((packet for packet in given.demux(video=0) if packet.size), frames):
            packet.stream = stream
            output.mux(packet)
    return target


def packed_bitstream(source: Path, target: Path) -> Path:
    """Copy an AVI as DivX wrote it: each chunk holds a P-frame and the B-frame shown before it, and a placeholder follows.

    source: MPEG-4 with at most one B-frame in a row.
    """
    vop, placeholder = b"\0\0\1\xb6", b"\0\0\1\xb6\x50\x4f\x80"
    with av.open(str(source)) as given, av.open(str(target), "w") as output:
        stream = given.streams.video[0]
        copy = output.add_stream_from_template(stream)
        chunks: list[bytes] = []
        for packet in given.demux(stream):
            data = bytes(packet)
            if data and data[data.index(vop) + 4] >> 6 == 2:  # a B-frame
                chunks[-1:] = [chunks[-1] + data, placeholder]
            elif data:
                chunks.append(data.replace(vop, b"\0\0\1\xb2DivX503b1393p" + vop) if packet.is_keyframe else data)
        for number, chunk in enumerate(chunks):
            new = av.Packet(chunk)
            new.pts = new.dts = number
            new.time_base, new.is_keyframe, new.stream = 1 / Fraction(30), b"DivX" in chunk, copy
            output.mux(new)
    return target


class _Bits(list[str]):
    """A bit string of ITU-T H.264 syntax elements."""

    def u(self, width: int, value: int) -> _Bits:
        self.append(format(value, f"0{width}b"))
        return self

    def ue(self, *values: int) -> _Bits:
        for value in values:
            code = format(value + 1, "b")
            self.append("0" * (len(code) - 1) + code)
        return self

    def align(self) -> _Bits:
        self.append("0" * (-sum(map(len, self)) % 8))
        return self

    def nal(self, head: int) -> bytes:
        bits = "".join(self.u(1, 1).align())
        content = int(bits, 2).to_bytes(len(bits) // 8, "big")
        safe = bytearray()
        for byte in content:
            if byte <= 3 and safe[-2:] == b"\0\0":
                safe.append(3)
            safe.append(byte)
        return b"\0\0\0\1" + bytes([head]) + bytes(safe)


def make_field_video(path: Path, frames: int, size: tuple[int, int] = (64, 64), gop: int = 12, repeated: bool = False) -> Path:
    """Write interlaced H.264, 25 frames/s: each frame is two fields of raw samples in separate packets. Sides: multiples of 32.

    repeated: only keyframes have samples, and the other frames repeat them.
    """
    width, height = size
    parameters = _Bits().u(8, 77).u(8, 0).u(8, 30).ue(0, 0, 0, 4, 1).u(1, 0).ue(width // 16 - 1, height // 32 - 1).u(6, 0b001000)
    sequence, pictures = parameters.nal(0x67), _Bits().ue(0, 0).u(2, 0).ue(0, 0, 0).u(3, 0).ue(0, 0, 0).u(3, 0b100).nal(0x68)
    elementary = path.with_suffix(".h264")
    with elementary.open("wb") as file:
        for number in range(frames):
            luma = np.clip(numbered(number, size)[..., 1], 20, 235)
            turn = number % gop
            for bottom in range(2):
                key = not turn and not bottom
                copy = repeated and turn > 0
                bits = _Bits().ue(0, 5 if copy else 7, 0).u(4, turn % 16).u(2, 2 + bottom)
                if key:
                    bits.ue(number // gop % 2)
                bits.u(8, 2 * turn + bottom).u(2 if key else 3 if copy else 1, 0).ue(0, 1)
                field = luma[bottom::2]
                if copy:
                    bits.ue(width * height // 512)  # macroblocks that are skipped
                for top in range(0, 0 if copy else height // 2, 16):
                    for left in range(0, width, 16):
                        bits.ue(25).align()
                        samples = field[top : top + 16, left : left + 16].tobytes()
                        bits.u(8 * len(samples), int.from_bytes(samples, "big"))
                        bits.append("10000000" * 128)
                file.write(b"\0\0\0\1\x09\x10" + (sequence + pictures if key else b"") + bits.nal(0x45 if key else 0x41))
    return path if path == elementary else wrap_fields(elementary, path)


def wrap_fields(elementary: Path, path: Path) -> Path:
    """Copy the video of ``make_field_video`` into another container, with times for 50 fields/s."""
    with av.open(str(elementary)) as given, av.open(str(path), "w") as output:
        stream = given.streams.video[0]
        copy = output.add_stream_from_template(stream)
        for number, packet in enumerate(packet for packet in given.demux(stream) if packet.size):
            packet.time_base, packet.pts, packet.dts = Fraction(1, 90000), 10000 + number * 1800, 10000 + number * 1800
            packet.stream = copy
            output.mux(packet)
    return path


def make_audio(path: Path, seconds: float = 1.0, cover: bool = False) -> Path:
    """Write a sound file. cover: adds a still picture, as an album's cover."""
    with av.open(str(path), "w") as output:
        sound = output.add_stream("aac", rate=48000)
        if cover:
            still = output.add_stream("mjpeg", rate=1)
            assert isinstance(still, av.VideoStream)
            still.width, still.height, still.pix_fmt, still.disposition = 64, 64, "yuvj420p", Disposition.attached_pic
            frame = av.VideoFrame.from_ndarray(numbered(1, (64, 64)), format="rgb24").reformat(format="yuvj420p")
            output.mux(still.encode(frame))
            output.mux(still.encode(None))
        _silence(output, sound, seconds)
    return path


def joined(path: Path, *parts: int, **options: Any) -> Path:
    """Join several MPEG-TS recordings, each with its own clock. parts: frames of each. The numbers in the pictures continue."""
    content = b""
    first = 0
    for frames in parts:
        make_video(path, frames, picture=partial(_numbered_from, first), **options)
        content += path.read_bytes()
        first += frames
    path.write_bytes(content)
    return path


def _numbered_from(first: int, number: int, size: tuple[int, int]) -> NDArray[np.uint8]:
    return numbered(first + number, size)


def truncated(source: Path, target: Path, share: float) -> Path:
    """Copy the first part of a file. share: of its bytes, 0..1."""
    content = source.read_bytes()
    target.write_bytes(content[: int(len(content) * share)])
    return target


def damaged(source: Path, target: Path, spans: Iterable[tuple[float, int]], fill: int | None = 0) -> Path:
    """Copy a file with damage. spans: (position 0..1, length in bytes) of each. fill: the byte to write, None = flip every bit."""
    content = bytearray(source.read_bytes())
    for position, length in spans:
        start = int(position * len(content))
        for offset in range(start, min(start + length, len(content))):
            content[offset] = content[offset] ^ 0xFF if fill is None else fill
    target.write_bytes(content)
    return target


def make_sound(path: Path, seconds: float, codec: str = "aac") -> Path:
    """Write a video of 10 small pictures/s with a tone of 440 Hz. codec: of the sound. Returns the path."""
    with av.open(str(path), "w") as output:
        video = output.add_stream("mpeg4", rate=10)
        assert isinstance(video, av.VideoStream)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        sound: Any = output.add_stream(codec, rate=48_000, layout="stereo")
        tenth = np.arange(4800)
        for number in range(round(seconds * 10)):
            output.mux(video.encode(av.VideoFrame.from_ndarray(numbered(number, (64, 48)), format="rgb24")))
            wave = 12_000 * np.sin(2 * np.pi * 440 / 48_000 * (tenth + 4800 * number))
            frame = av.AudioFrame.from_ndarray(np.repeat(wave.astype(np.int16), 2)[None], format="s16", layout="stereo")
            frame.sample_rate, frame.pts = 48_000, 4800 * number
            output.mux(sound.encode(frame))
        for stream in (video, sound):
            output.mux(stream.encode())
    return path
