"""The small values that every layer uses: devices, engines, frames, detections. Imports NumPy only."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.notices import Notice, UsageError

Image: TypeAlias = NDArray[np.uint8]
"""A picture, uint8, shape (height, width, 3), RGB, upright, square pixels."""


class Closing:
    """A context manager whose exit calls ``close``."""

    def close(self) -> None:
        """Release the object's resources; harmless when repeated."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, order=True)
class DeviceId:
    """A device that can hold an engine, written ``cpu:0``, ``cuda:1`` or ``openvino:GPU.0``, or a group of such devices.

    A group's kind is "group". It is written as its members, with ``+`` between them: ``cuda:0+cuda:1``. node: of a cluster, "" = this
    machine. A cluster's device is written with its node: ``node-a/cuda:1``.
    """

    kind: str
    name: str
    node: str = ""

    KINDS = ("cpu", "cuda", "openvino")

    @classmethod
    def parse(cls, text: str) -> DeviceId:
        """Read ``kind:name`` or ``node/kind:name``. ``cpu`` and ``cuda`` alone mean number 0.

        Raises
        ------
        UsageError
            The text does not name a device.
        """
        if "+" in text:
            return cls.group(*map(cls.parse, text.split("+")))
        node, slash, device = text.strip().rpartition("/")
        kind, _, name = device.partition(":")
        name = name or ("0" if kind in ("cpu", "cuda") else "")
        numbered = kind in ("cpu", "cuda")
        if kind not in cls.KINDS or not name or (numbered and not name.isdecimal()) or (slash and not node):
            raise UsageError(Notice("settings.no_device", text=text))
        return cls(kind, str(int(name)) if numbered else name, node)

    @classmethod
    def group(cls, *members: DeviceId) -> Self:
        """The group of these devices."""
        return cls("group", "+".join(map(str, members)))

    @property
    def members(self) -> tuple[DeviceId, ...]:
        """The devices of a group; for a single device the device itself."""
        return tuple(map(DeviceId.parse, self.name.split("+"))) if self.kind == "group" else (self,)

    def __str__(self) -> str:
        return self.name if self.kind == "group" else f"{self.node}{'/' * bool(self.node)}{self.kind}:{self.name}"


def of_device(device: DeviceId, problem: Notice) -> Notice:
    """A message that names the device which it is about."""
    return Notice("general.of_device", device=str(device), problem=problem)


def without_device(notice: Notice) -> Notice:
    """A message without the device's name, for places that show the name beside it."""
    return notice.fields["problem"] if notice.code == "general.of_device" else notice


AS_BEFORE = Notice("backends.as_before")
"""Why an engine has what it has: the run that this one continues had it."""

AS_ASKED = Notice("backends.as_asked")
"""The reason of a precision or batch that the settings name."""


@dataclass(frozen=True)
class EngineChoice:
    """What was chosen for an engine. A run that continues another one builds its engines from this, whatever was tuned in between.

    Parameters
    ----------
    device_name : str
        The name of the device. All devices of this name get this engine.
    precision : str
        The precision.
    batch : int
        Frames per inference.
    options : tuple of str
        See ``EngineInfo``.
    """

    device_name: str
    precision: str
    batch: int
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class EngineInfo:
    """An engine as every report shows it.

    Parameters
    ----------
    backend : str
        Library and version.
    precision : str
        The precision in use.
    reason : Notice
        Why the engine is built as it is: a notice, or several as the parts of ``backends.reasons``. The reason of an automatic batch is
        one with the code ``backends.batch``.
    width, height : int
        The network's input, pixels.
    batch : int
        Frames per inference.
    slots : int
        Most inferences under way at once.
    decode_threads : int
        Segments that the worker decodes at once; set by the worker.
    options : tuple of str
        What computes the network besides the library's own plan, see ``CustomLayers.names``; empty for most libraries.
    """

    device: DeviceId
    device_name: str
    backend: str
    precision: str
    reason: Notice
    width: int
    height: int
    batch: int
    slots: int
    decode_threads: int = 1
    options: tuple[str, ...] = ()

    @property
    def choice(self) -> EngineChoice:
        """What a later run needs to build the same engine."""
        return EngineChoice(self.device_name, self.precision, self.batch, self.options)

    @property
    def batch_reason(self) -> Notice | None:
        """Why the engine has this batch; None if the backend does not say."""
        return next((part.fields["why"] for part in self._reasons if part.code == "backends.batch"), None)

    @property
    def is_first(self) -> bool:
        """Whether no trial chose the engine, so that tuning may find a faster one."""
        return any(part.code == "backends.not_tuned" for part in self._reasons)

    @property
    def _reasons(self) -> tuple[Notice, ...]:
        return self.reason.fields["parts"] if self.reason.code == "backends.reasons" else (self.reason,)


UNNUMBERED = -1
"""The index of a frame until the pool knows how many frames come before its segment."""


class FrameRef(NamedTuple):  # one for every frame: a frozen dataclass takes six times as long to make
    """Identifies a frame on its whole way. Made where the frame is decoded, carried from there on.

    Parameters
    ----------
    source : int
        Number of the source in its session.
    index : int
        Number of the frame in its source, in display order; ``UNNUMBERED`` in a worker, unless only some frames are decoded.
    pts : float
        Time in seconds, NaN if unknown; for pictures the position in the folder.
    name : str, optional
        File name, where the source is a folder of pictures.
    created : str, optional
        When a picture was taken, as its metadata state it.
    """

    source: int
    index: int  # type: ignore[assignment]  # instead of the method of tuples
    pts: float
    name: str | None = None
    created: str | None = None


@dataclass(frozen=True, eq=False)
class Detections:
    """The objects found in one frame, highest confidence first.

    boxes: float32 (n, 4), x1 y1 x2 y2 in source pixels, origin top left. scores: float32 (n,), confidence 0..1.
    class_ids: int32 (n,). tracks: int32 (n,), the track of each object, -1 if it has none; None if the source was not tracked.
    verified: bool (n,), whether a person has checked each object; None if nothing was corrected. drawn: bool (n,), whether a person drew or
    moved each box; None if no box was.
    """

    boxes: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 4), np.float32))
    scores: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    class_ids: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    tracks: NDArray[np.int32] | None = None
    verified: NDArray[np.bool_] | None = None
    drawn: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        count = len(self.scores)
        shapes = (self.boxes.shape, self.scores.shape, self.class_ids.shape)
        if shapes != ((count, 4), (count,), (count,)):
            raise ValueError(f"detections of unequal length: boxes, scores, class ids {shapes}")
        if self.boxes.dtype != np.float32 or self.scores.dtype != np.float32 or self.class_ids.dtype != np.int32:
            types = (self.boxes.dtype.name, self.scores.dtype.name, self.class_ids.dtype.name)
            raise ValueError(f"detections of the wrong type: boxes, scores, class ids {types}")

    def __len__(self) -> int:
        return len(self.scores)

    def select(self, keep: NDArray[np.bool_] | NDArray[np.intp]) -> Detections:
        """The detections that a boolean mask or an index array keeps, in that order."""
        tracks = None if self.tracks is None else self.tracks[keep]
        verified = None if self.verified is None else self.verified[keep]
        drawn = None if self.drawn is None else self.drawn[keep]
        return Detections(self.boxes[keep], self.scores[keep], self.class_ids[keep], tracks, verified, drawn)

    def filter(self, confidence: float, classes: frozenset[int] | None = None) -> Detections:
        """The detections at or above a confidence and, unless ``classes`` is None, of one of these class ids."""
        keep = self.scores >= confidence
        if classes is not None:
            keep &= np.isin(self.class_ids, np.fromiter(classes, np.int32, len(classes)))
        return self.select(keep)


@dataclass(frozen=True)
class InferenceFailure:
    """Takes the place of a picture's detections in the results of an engine. reason: why there are none."""

    reason: Notice


Found: TypeAlias = Detections | InferenceFailure
"""An engine's result for one picture."""


@dataclass(slots=True)  # one for every frame: freezing would make that three times as slow
class FrameResult:
    """The result for one frame.

    Parameters
    ----------
    ref : FrameRef
        The frame.
    device : DeviceId
        The device that inferred it, or whose worker could not decode it.
    width, height : int
        Size of the upright picture, pixels.
    found : Detections or InferenceFailure
        The objects, or why there are none.
    """

    ref: FrameRef
    device: DeviceId
    width: int
    height: int
    found: Found

    @property
    def detections(self) -> Detections | None:
        """The objects; None if the frame failed."""
        return self.found if isinstance(self.found, Detections) else None

    def scaled_to(self, size: tuple[int, int]) -> FrameResult:
        """The same result, as if the picture had this width and height, pixels."""
        if size == (self.width, self.height):
            return self
        found = self.found
        if isinstance(found, Detections):
            scale = np.tile(np.divide(size, (self.width, self.height)), 2)
            found = replace(found, boxes=(found.boxes * scale).astype(np.float32))
        return FrameResult(self.ref, self.device, *size, found)

    @property
    def failure(self) -> Notice | None:
        """Why the frame has no detections; None if it has."""
        return None if isinstance(self.found, Detections) else self.found.reason
