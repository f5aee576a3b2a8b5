"""Reads true objects from COCO, YOLO and CVAT files."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.devices.host_memory import free_host_memory
from framefleet.engine.errors import SourceError

MAX_BYTES = 2 << 30

_MEMORY_FACTOR = 12
"""A file takes at most about this factor of its size in memory while it is read."""


@dataclass(frozen=True)
class TruthPicture:
    """A picture whose objects are known.

    name: of the picture's file, with folders, or "" if only the frame is known. frame: the frame's index in its video, from 0; None if only
    the name is known. size: width and height, pixels; None if unknown.
    """

    name: str
    frame: int | None
    size: tuple[int, int] | None


@dataclass(frozen=True, eq=False)
class Truth:
    """The true objects of some pictures.

    file: for messages. boxes: float64 (n, 4): x, y, width, height in pixels or, if ``relative``, as shares of the picture.
    pictures, classes: int64 (n,): indices of each object's picture and label. ignored: bool (n,): objects that are not scored (crowds).
    """

    file: Path
    labels: tuple[str, ...]
    pictures: tuple[TruthPicture, ...]
    of_picture: NDArray[np.int64]
    classes: NDArray[np.int64]
    boxes: NDArray[np.float64]
    ignored: NDArray[np.bool_]
    relative: bool = False


def read_truth(path: Path) -> Truth:
    """Read true objects: a COCO file (.json, .json.gz), a CVAT file (.xml), or a folder in YOLO's format.

    Raises SourceError if the file or folder is missing, unreadable, damaged, or of another kind; or it holds no pictures.
    """
    from framefleet.engine.evaluation import coco, cvat, yolo

    if path.is_dir():
        truth = yolo.read(path)
    elif path.suffix.lower() == ".xml":
        truth = cvat.read(path)
    elif path.suffix.lower() in (".json", ".gz"):
        truth = coco.read(path)
    elif path.exists():
        raise SourceError(f"{path} is not a truth file: give a COCO file (.json), a CVAT file (.xml), or a folder with labels of YOLO")
    else:
        raise SourceError(f"{path} does not exist")
    if not truth.pictures:
        raise SourceError(f"{path} names no pictures, so nothing can be compared")
    return truth


def make_truth(
    file: Path,
    labels: Iterable[str],
    pictures: Iterable[TruthPicture],
    objects: list[tuple[int, int, float, float, float, float, bool]],
    *,
    relative: bool = False,
) -> Truth:
    """Create a ``Truth``. objects: picture, class, x, y, width, height, whether it is ignored.

    Raises SourceError if a box is not finite, or has no width or height.
    """
    pictures = tuple(pictures)
    table = np.array(objects, np.float64).reshape(-1, 7)
    boxes = table[:, 2:6]
    wrong = np.flatnonzero(~np.isfinite(boxes).all(axis=1) | (boxes[:, 2:] <= 0).any(axis=1) | (np.abs(boxes) > 1e6).any(axis=1))
    if len(wrong):
        picture = pictures[int(table[wrong[0], 0])]
        place = picture.name or f"frame {picture.frame}"
        raise SourceError(f"{file}: an object in {place[:200]} has the box {boxes[wrong[0]].tolist()}: width and height must be above 0")
    return Truth(
        file, tuple(labels), pictures, table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), boxes, table[:, 6] > 0, relative
    )


def check_size(path: Path) -> None:
    """Refuse a file that is too large for the machine's memory, or no file. Raises SourceError."""
    try:
        if not path.is_file():
            raise SourceError(f"{path} is not a file" if path.exists() else f"{path} does not exist")
        size = path.stat().st_size
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise SourceError(f"{path} cannot be read: {error}") from error
    free = free_host_memory()
    if size > MAX_BYTES or (free is not None and size * _MEMORY_FACTOR > free):
        known = "" if free is None else f", and {free / 1e9:.1f} GB of memory are free"
        raise SourceError(f"{path} has {size / 1e9:.1f} GB{known}: divide it into smaller files")
