"""Decodes JPEGs on an NVIDIA GPU (its JPEG engines, through nvJPEG) into the device's memory. OpenCV decodes all other pictures.

The pixels are those of OpenCV, with every sampling that ``plain_jpeg`` lets through, except for rounding: in noise, one value in ten
thousand differs by 1. Preprocessing turns the pictures upright.
"""

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import cv2
import numpy as np
from cuda.core import Device, Stream
from numpy.typing import NDArray

from framefleet.engine.cuda.graph import copy
from framefleet.engine.detection.frame_format import FrameFormat
from framefleet.engine.media.decoder import Decoded, release_all
from framefleet.engine.media.images import content_of, decode_picture, picture_from, plain_jpeg, wanted_pictures
from framefleet.engine.media.nvdec.bitstream import UnsupportedError
from framefleet.engine.media.nvdec.surfaces import SurfaceRing
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, DeviceFrame, Segment, SourceInfo
from framefleet.engine.notices import Notice, SourceError
from framefleet.engine.processes.watchdog import waiting_for_room
from framefleet.engine.types import FrameRef, Image

_HARDWARE, _RGB_INTERLEAVED = 3, 5
"""nvJPEG's ``NVJPEG_BACKEND_HARDWARE`` and ``NVJPEG_OUTPUT_RGBI``."""

_INTERPOLATE = 1 << 5
"""Its flag to interpolate chroma, as libjpeg-turbo does. With the flag that refuses incomplete pictures, an H100 decoded 970 pictures a
second instead of 4,770; ``plain_jpeg`` finds these pictures, too.
"""

_LARGEST_DIFFERENCE = 2
"""From OpenCV's pixels in the test picture. Without interpolation of chroma, noise differs by up to 105."""

_BATCH_BYTES = 32 * 2**20
"""Once the files that were read have this size together, they are decoded."""

_BATCHES = 2
"""Batches at once, each with a handle of the library. While the engines decode one, a processor prepares the other."""

_MIN_SURFACES = 8


class _Image(ctypes.Structure):
    """``nvjpegImage_t``."""

    _fields_ = (("channel", ctypes.c_void_p * 4), ("pitch", ctypes.c_size_t * 4))


@cache
def _library() -> Any:
    """Raises UnsupportedError if the library is missing."""
    from cuda.pathfinder import load_nvidia_dynamic_lib

    try:
        return ctypes.CDLL(load_nvidia_dynamic_lib("nvjpeg").abs_path)
    except Exception as problem:  # it raises errors of several kinds
        raise UnsupportedError(Notice("media.no_nvjpeg", detail=str(problem).strip().partition("\n")[0])) from problem


class JpegEngines:
    """The JPEG engines of a CUDA device. Not thread-safe. stream: of this device; decoded pictures are written on it."""

    def __init__(self, stream: Stream) -> None:
        """Open the engines of the current device. Raises UnsupportedError if the library or the engines are missing."""
        self.stream = stream
        self._library = _library()
        self._handle, self._state = ctypes.c_void_p(), ctypes.c_void_p()
        self._batch = 0
        status = self._library.nvjpegCreateEx(_HARDWARE, None, None, ctypes.c_uint(_INTERPOLATE), ctypes.byref(self._handle))
        if not status:
            status = self._library.nvjpegJpegStateCreate(self._handle, ctypes.byref(self._state))
        if status:
            self.close()
            raise UnsupportedError(Notice("media.no_jpeg_engines", status=status))

    def decode(self, contents: Sequence[NDArray[np.uint8]], layouts: Sequence[FrameFormat], addresses: Sequence[int]) -> bool:
        """Decode pictures, as stored, into memory of the current device, and wait. Returns False if one cannot be decoded: then none may
        have been.

        Parameters
        ----------
        contents : sequence of ndarray
            Files, uint8 (bytes,).
        layouts : sequence of FrameFormat
            Of the decoded pictures.
        addresses : sequence of int
            Where to write them.
        """
        count = len(contents)
        data = (ctypes.c_void_p * count)(*(content.ctypes.data for content in contents))
        sizes = (ctypes.c_size_t * count)(*(content.nbytes for content in contents))
        images = (_Image * count)()
        for image, layout, address in zip(images, layouts, addresses, strict=True):
            image.channel[0], image.pitch[0] = address, layout.pitch
        if count != self._batch:
            status = self._library.nvjpegDecodeBatchedInitialize(self._handle, self._state, count, 1, _RGB_INTERLEAVED)
            self._batch = 0 if status else count
            if status:
                return False
        try:
            stream = ctypes.c_void_p(int(self.stream.handle))
            return not self._library.nvjpegDecodeBatched(self._handle, self._state, data, sizes, images, stream)
        finally:
            self.stream.sync()

    def close(self) -> None:
        """Give back the library's memory, which must be that of the current device; harmless when repeated."""
        if self._state:
            self._library.nvjpegJpegStateDestroy(self._state)
        if self._handle:
            self._library.nvjpegDestroy(self._handle)
        self._handle, self._state = ctypes.c_void_p(), ctypes.c_void_p()


@dataclass(frozen=True)
class _Jpeg:
    """A picture for the JPEG engines. content: of its file, uint8 (bytes,)."""

    ref: FrameRef
    file: Path
    content: NDArray[np.uint8]
    layout: FrameFormat


class DevicePictures:
    """Decodes pictures on a CUDA device as far as it can. Thread-safe; the device must be current in each thread that uses this object.

    surfaces: memory for the pictures. open_engines: opens the device's engines, or raises UnsupportedError; called for the first JPEG, as
    often as batches are decoded at once.

    Attributes
    ----------
    reason
        Why the CPU decodes all JPEGs, None: it does not, or none has come yet.
    """

    def __init__(self, surfaces: SurfaceRing, open_engines: Callable[[], JpegEngines]) -> None:
        self._surfaces, self._open_engines = surfaces, open_engines
        self._engines: list[JpegEngines] = []
        self._idle: SimpleQueue[JpegEngines] = SimpleQueue()
        self._opening = threading.Lock()
        self.reason: Notice | None = None

    def groups(self, info: SourceInfo, segment: Segment, skip: int) -> Iterator[list[Decoded]]:
        """Yield the pictures of a segment without the first ``skip``, those together that are ready together, and failures."""
        waiting: list[_Jpeg | Decoded] = []
        size = 0
        for ref, file in wanted_pictures(info, segment, skip):
            found = self._read(ref, file)
            waiting.append(found)
            if isinstance(found, DecodedFrame):
                size += found.image.nbytes
            elif isinstance(found, _Jpeg):
                size += found.content.nbytes
            if size >= _BATCH_BYTES or not isinstance(waiting[0], _Jpeg):
                yield from self._ready(waiting)
                waiting, size = [], 0
        yield from self._ready(waiting)

    def _ready(self, pictures: list[_Jpeg | Decoded]) -> Iterator[list[Decoded]]:
        """Decode those that the engines decode, and yield all in order."""
        rest = iter(pictures)
        for group in self._decoded([each for each in pictures if isinstance(each, _Jpeg)]):
            ready: list[Decoded] = []
            for frame in group:
                while not isinstance(each := next(rest), _Jpeg):
                    ready.append(each)
                ready.append(frame)
            yield ready
        if others := [each for each in rest if not isinstance(each, _Jpeg)]:
            yield others

    def _read(self, ref: FrameRef, file: Path) -> _Jpeg | DecodedFrame[Image] | DecodeFailure:
        """Read a picture for the engines, or decode it if they cannot."""
        try:
            content = content_of(file)
        except SourceError as error:
            return DecodeFailure(ref, 1, error.notice)
        header = plain_jpeg(content) if self.reason is None else None
        if header is not None:
            layout = FrameFormat.rgb(header.width, header.height, header.orientation)
            if self._surfaces.room_for(layout.nbytes) >= _MIN_SURFACES and self._opened():
                return _Jpeg(ref._replace(created=header.taken), file, content, layout)
        return decode_picture(ref, file, content)

    def _decoded(self, jpegs: list[_Jpeg]) -> Iterator[list[Decoded]]:
        """Decode pictures, each time as many as there are surfaces."""
        while jpegs:
            with waiting_for_room():
                engines = self._idle.get()  # before the surfaces: threads that took some each and waited then would decode small batches
            try:
                done = self._decode(engines, jpegs)
            finally:
                self._idle.put(engines)
            if done:
                yield list(done)
            else:  # OpenCV knows which of them is damaged
                for jpeg in jpegs:
                    yield [decode_picture(jpeg.ref, jpeg.file, jpeg.content)]
            jpegs = jpegs[len(done) or len(jpegs) :]

    def _decode(self, engines: JpegEngines, jpegs: Sequence[_Jpeg]) -> list[DecodedFrame[DeviceFrame]]:
        """Decode the first pictures. Returns none if one of them is damaged."""
        taken = self._surfaces.acquire_several(max(jpeg.layout.nbytes for jpeg in jpegs), len(jpegs), more=True)
        frames = [
            DecodedFrame(jpeg.ref, DeviceFrame(jpeg.layout, surface.address, engines.stream, release))
            for jpeg, (surface, release) in zip(jpegs, taken, strict=False)
        ]
        done = False
        try:
            part = jpegs[: len(taken)]
            addresses = [surface.address for surface, _ in taken]
            done = engines.decode([jpeg.content for jpeg in part], [jpeg.layout for jpeg in part], addresses)
        finally:
            if not done:
                release_all(frames)
        return frames if done else []

    def _opened(self) -> bool:
        """Whether the engines can be used. Opens them the first time."""
        if self._engines:
            return True
        with self._opening:
            if not self._engines and self.reason is None:
                try:
                    opened = [self._open_engines()]  # the first decides whether they can be used
                    for _ in range(_BATCHES - 1):
                        with suppress(UnsupportedError):
                            opened.append(self._open_engines())
                except UnsupportedError as problem:
                    self.reason = problem.notice
                else:
                    for each in opened:
                        self._idle.put(each)
                    self._engines = opened
            return bool(self._engines)

    def close(self) -> None:
        """Give back the engines. No thread may decode afterwards."""
        while self._engines:
            self._engines.pop().close()


def tested_engines(index: int, surfaces: SurfaceRing) -> JpegEngines:
    """Open the JPEG engines of the CUDA device of this index, which is current, and compare a picture of noise with OpenCV's.

    surfaces: memory of the device.

    Raises UnsupportedError if the engines are missing, or the pixels differ.
    """
    noise = np.random.default_rng(0).integers(0, 256, (48, 64, 3), np.uint8)
    content = np.asarray(cv2.imencode(".jpg", noise, [cv2.IMWRITE_JPEG_QUALITY, 90])[1], np.uint8).ravel()
    expected = picture_from(Path("noise.jpg"), content)
    engines = JpegEngines(Device(index).create_stream())
    try:
        found = np.zeros_like(expected)
        surface, release = surfaces.acquire(found.nbytes)
        try:
            done = engines.decode([content], [FrameFormat.rgb(64, 48)], [surface.address])
            copy(found.ctypes.data, surface.address, found.nbytes, engines.stream)
            engines.stream.sync()
        finally:
            release()
        difference = int(np.abs(found.astype(np.int16) - expected).max())
        if not done or difference > _LARGEST_DIFFERENCE:
            raise UnsupportedError(Notice("media.jpegs_differ", difference=difference))
    except BaseException:
        engines.close()
        raise
    return engines
