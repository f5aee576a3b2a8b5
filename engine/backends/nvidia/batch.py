"""Prepares the pictures of a batch for the kernels: uploads pictures in host memory; frames decoded on the device stay in place."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from cuda.core import Device, Event, EventOptions, Stream
from numpy.typing import NDArray

from framefleet.engine.cuda.graph import copy, copy_rows
from framefleet.engine.cuda.memory import REGISTERED, Memory
from framefleet.engine.detection.frame_format import FrameFormat, HostImage, PixelFormat, Planes
from framefleet.engine.detection.preprocess import Fit, plan_fit
from framefleet.engine.media.types import DeviceFrame
from framefleet.plugins.preprocess import I420, NV12, P016, RGB8, describe_frame

_FORMATS = {PixelFormat.NV12: NV12, PixelFormat.P016: P016, PixelFormat.I420: I420}
_ALIGNMENT = 256


class Geometry:
    """Maps pictures to a network's input of width × height pixels.

    Attributes: of_image, of_frame: functions that return FRAME () without addresses, and the fit, for RGB pictures of a width and height in
    host memory (still: see ``Backend.submit``), and for frames of a ``FrameFormat``.
    """

    def __init__(self, width: int, height: int, letterbox: bool) -> None:
        self._width, self._height, self._letterbox = width, height, letterbox
        self.of_image, self.of_frame = lru_cache(64)(self._describe_image), lru_cache(64)(self._describe_frame)

    def fill(self, table: NDArray[Any], images: Sequence[HostImage | DeviceFrame], uploaded: Sequence[int], still: bool) -> list[Fit]:
        """Describe the pictures of a batch in its table, FRAME (batch,), and return their fits. Entries without a picture get no address.

        uploaded: addresses on the device of the pictures in host memory, in order. still: see ``Backend.submit``.
        """
        remaining, fits = iter(uploaded), []
        luma, chroma = np.zeros(len(table), np.uint64), np.zeros(len(table), np.uint64)
        known: FrameFormat | None = None
        for index, image in enumerate(images):
            if not isinstance(image, DeviceFrame | Planes):
                entry, fit = self.of_image(image.shape[1], image.shape[0], still)
                luma[index] = next(remaining)
            else:
                if image.format is not known:  # frames of one source share it
                    known, (frame_entry, frame_fit) = image.format, self.of_frame(image.format)
                entry, fit = frame_entry, frame_fit
                luma[index] = address = image.address if isinstance(image, DeviceFrame) else next(remaining)
                chroma[index] = address + known.chroma_offset
            table[index] = entry
            fits.append(fit)
        table["luma"], table["chroma"] = luma, chroma
        return fits

    def _describe_image(self, width: int, height: int, still: bool) -> tuple[NDArray[Any], Fit]:
        fit = plan_fit(width, height, self._width, self._height, self._letterbox)
        entry = describe_frame(RGB8, (width, height), (width, height), _inside(fit), still=still)
        entry["pitch"] = 3 * width
        return entry, fit

    def _describe_frame(self, layout: FrameFormat) -> tuple[NDArray[Any], Fit]:
        stored, shown = (layout.stored_width, layout.stored_height), (layout.width, layout.height)
        fit = plan_fit(*shown, self._width, self._height, self._letterbox)
        entry = describe_frame(_FORMATS[layout.format], stored, shown, _inside(fit), layout.matrix, layout.full_range, layout.orientation)
        entry["pitch"] = layout.pitch
        return entry, fit


class Uploads:
    """Copies one slot's host pictures to the device. stream: only for copies, so that copying and computing overlap.

    Pictures in ``REGISTERED`` memory are copied directly, the others through the slot's own pinned memory.
    """

    def __init__(self, device: Device, stream: Stream) -> None:
        self._memory = Memory(device, stream)
        self._stream = stream
        self._host: NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._address = 0
        self._room = 0
        self._begun = device.create_event(EventOptions(timing_enabled=True))
        self._done = device.create_event(EventOptions(timing_enabled=True))
        self._used = False

    def put(self, images: Sequence[HostImage]) -> tuple[list[int], Event]:
        """Copy the pictures. Returns their addresses on the device and the event after the copies. The slot's last batch must be done.

        Pictures in registered memory must not change until then.

        Raises OutOfMemoryError if the device's memory does not suffice.
        """
        places = np.cumsum([0, *(-(-image.nbytes // _ALIGNMENT) * _ALIGNMENT for image in images)]).tolist()
        at_hand = [_is_registered(image) for image in images]
        if places[-1] > self._room or (len(self._host) < self._room and not all(at_hand)):
            self._memory.close()
            self._room = max(places[-1], self._room)
            self._address = self._memory.device(self._room)
            self._host = self._memory.pinned(0 if all(at_hand) else self._room)
        self._stream.record(self._begun)
        for image, place, ready in zip(images, places, at_hand, strict=False):
            staged = self._host[place : place + image.nbytes]
            if isinstance(image, Planes):
                block = image.luma if ready else image.copy_to(staged).luma
                copy(self._address + place, block.ctypes.data, image.nbytes, self._stream)
                continue
            if ready:
                height, width = image.shape[:2]
                copy_rows(self._address + place, image.ctypes.data, image.strides[0], 3 * width, height, self._stream)
                continue
            np.copyto(staged.reshape(image.shape), image)
            copy(self._address + place, staged.ctypes.data, image.nbytes, self._stream)
        self._stream.record(self._done)
        self._used = True
        return [self._address + place for place in places[:-1]], self._done

    def time(self) -> float:
        """ms of the last batch's copies, 0 if there were none. The batch must be done."""
        if not self._used:
            return 0.0
        self._used = False
        return float(self._done - self._begun)

    def close(self) -> None:
        """Free the memory."""
        self._memory.close()


def _inside(fit: Fit) -> tuple[int, int, int, int]:
    return fit.left, fit.top, fit.inner_width, fit.inner_height


def _is_registered(image: HostImage) -> bool:
    """Whether a picture, or a frame in one block, lies in registered memory. Frames of FFmpeg never do."""
    if isinstance(image, Planes):
        return REGISTERED.covers(image.luma.ctypes.data)
    return image.strides[1:] == (3, 1) and REGISTERED.covers(image.ctypes.data)
