"""The true objects of pictures, collected by the reader of each format. Memory is counted while a file is read."""

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.devices.host_memory import free_host_memory
from framefleet.engine.notices import Notice, SourceError

MAX_BYTES = 2 << 30
"""Size of a file."""

MAX_UNPACKED = 512 << 20
"""Bytes that a compressed file may have when it is unpacked."""

_OBJECT_BYTES, _PICTURE_BYTES = 250, 600
"""What an object and a picture take in memory until they are compared, with everything that is computed from them."""

_MAX_COORDINATE = 1e6

FRAME_NAME = re.compile(r"(?:^|/)frame_(\d{6,9})(?:\.\w+)?$")
"""The name that CVAT gives to a frame of a video in all its formats; the number counts from 0."""


@dataclass(frozen=True)
class TruthPicture:
    """A picture whose objects are known.

    name: of the picture's file, with folders, or "" if only the frame is known. frame: the frame's index in its video, from 0; None if only
    the name is known. size: width and height, pixels; None if unknown.
    """

    name: str
    frame: int | None
    size: tuple[int, int] | None

    @property
    def title(self) -> str | Notice:
        """The name for messages."""
        return self.name[:200] or Notice("evaluation.frame", number=self.frame)


@dataclass(frozen=True, eq=False)
class Truth:
    """The true objects of some pictures.

    Parameters
    ----------
    file : Path
        For messages.
    labels : tuple of str
        One a class.
    pictures : tuple of TruthPicture
    of_picture, classes : ndarray, int64, shape (n,)
        Indices of each object's picture and label.
    boxes : ndarray, float64, shape (n, 4)
        x, y, width, height in pixels or, if ``relative``, as shares of the picture.
    ignored : ndarray, bool, shape (n,)
        Objects that are not scored (crowds).
    relative : bool
    looked_for : frozenset of int, optional
        Classes whose objects are marked. None: all.
    remarks : tuple of Notice
        What a person should know about the file.
    source : str
        The name of the source that the file is about, as Framefleet writes it. "": unknown.
    """

    file: Path
    labels: tuple[str, ...]
    pictures: tuple[TruthPicture, ...]
    of_picture: NDArray[np.int64]
    classes: NDArray[np.int64]
    boxes: NDArray[np.float64]
    ignored: NDArray[np.bool_]
    relative: bool = False
    looked_for: frozenset[int] | None = None
    remarks: tuple[Notice, ...] = ()
    source: str = ""


class TruthBuilder:
    """Collects pictures and objects in little memory, and refuses more than fit into the free memory of the machine.

    Parameters
    ----------
    file : Path
        For messages.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.source = ""
        self.remarks: list[Notice] = []
        self.pictures: list[TruthPicture] = []
        self._free = free_host_memory() or MAX_BYTES
        self._rows = array("d")

    @property
    def objects(self) -> int:
        """Number of objects."""
        return len(self._rows) // 7

    def add_picture(self, name: str, frame: int | None, size: tuple[int, int] | None) -> int:
        """Add a picture, and return its index."""
        self.pictures.append(TruthPicture(name, frame, size))
        if len(self.pictures) % 1000 == 0:
            self.check_memory()
        return len(self.pictures) - 1

    def add_object(self, picture: int, class_id: int, box: Iterable[float], ignored: bool = False) -> None:
        """Add an object. box: x, y, width, height."""
        x, y, width, height = box
        self._rows.extend((picture, class_id, x, y, width, height, ignored))
        if len(self._rows) % 70_000 == 0:
            self.check_memory()

    def check_memory(self, other: int = 0) -> None:
        """Refuse more objects and pictures than the free memory holds. other: bytes that the reader needs for something else.

        Raises
        ------
        SourceError
        """
        needed = self.objects * _OBJECT_BYTES + len(self.pictures) * _PICTURE_BYTES + other
        if needed > self._free:
            sizes = {"needed": round(needed / 1e9, 1), "free": round(self._free / 1e9, 1)}
            raise SourceError(Notice("evaluation.memory", path=self.file, objects=self.objects, pictures=len(self.pictures), **sizes))

    def truth(
        self,
        labels: Iterable[str],
        *,
        relative: bool = False,
        looked_for: frozenset[int] | None = None,
        numbers: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    ) -> Truth:
        """Return the truth. numbers: the picture and the class that each given number of a picture and of a class stands for.

        Raises
        ------
        SourceError
            A box is not finite, or its width or height is below 0.
        """
        table = np.frombuffer(self._rows, np.float64).reshape(-1, 7)
        boxes = table[:, 2:6].copy()
        of_picture, classes = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
        if numbers is not None:
            of_picture, classes = numbers[0][of_picture], numbers[1][classes]
        wrong = np.flatnonzero(
            ~np.isfinite(boxes).all(axis=1) | (boxes[:, 2:] < 0).any(axis=1) | (np.abs(boxes) > _MAX_COORDINATE).any(axis=1)
        )
        if len(wrong):
            picture = self.pictures[int(of_picture[wrong[0]])]
            raise SourceError(Notice("evaluation.box", path=self.file, picture=picture.title, box=str(boxes[wrong[0]].tolist())))
        remarks = list(self.remarks)
        if flat := int((boxes[:, 2:] == 0).any(axis=1).sum()):
            remarks.append(Notice("evaluation.flat_boxes", count=flat))
        named = tuple(labels), tuple(self.pictures)
        return Truth(self.file, *named, of_picture, classes, boxes, table[:, 6] > 0, relative, looked_for, tuple(remarks), self.source)


def outline(xs: Iterable[float], ys: Iterable[float]) -> tuple[float, float, float, float]:
    """Return the box around points: x, y, width, height."""
    xs, ys = tuple(xs), tuple(ys)
    left, top = min(xs), min(ys)
    return left, top, max(xs) - left, max(ys) - top


def check_size(path: Path) -> None:
    """Refuse a file that is too large, or no file.

    Raises
    ------
    SourceError
    """
    try:
        if not path.is_file():
            raise SourceError(Notice("general.no_file" if path.exists() else "general.missing", path=path))
        size = path.stat().st_size
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise SourceError(Notice("general.unreadable", path=path, detail=str(error))) from error
    if size > MAX_BYTES:
        raise SourceError(Notice("evaluation.large", path=path, size=round(size / 1e9, 1), most=round(MAX_BYTES / 1e9, 1)))
