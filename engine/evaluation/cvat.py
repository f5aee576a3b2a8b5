"""Reads true objects from "CVAT for video 1.1" and "CVAT for images 1.1" (https://docs.cvat.ai/docs/dataset_management/formats)."""

from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree

from framefleet.engine.errors import SourceError
from framefleet.engine.evaluation.truth import Truth, TruthPicture, check_size, make_truth

_MAX_FRAMES = 3_000_000
"""Of a task: 27 hours at 30 frames/s. Each takes about 280 bytes of memory."""


def read(path: Path) -> Truth:
    """Read a CVAT file. Frames of videos count from 0. All frames of the task are compared, also those without objects.

    Raises SourceError if the file cannot be read, or is damaged.
    """
    check_size(path)
    try:
        return _Reader(path).read()
    except (KeyError, TypeError, AttributeError) as error:
        raise SourceError(f"{path} is no CVAT truth: {error} is missing in an element") from error
    except (OSError, ValueError, LookupError, ElementTree.ParseError) as error:  # LookupError: an unknown encoding
        raise SourceError(f"{path} cannot be read as CVAT: {str(error)[:200]}") from error


class _Reader:
    """Reads one file, element by element."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._labels: list[str] = []
        self._classes: dict[str, int] = {}
        self._pictures: list[TruthPicture] = []
        self._of_frame: dict[int, int] = {}
        self._objects: list[tuple[int, int, float, float, float, float, bool]] = []

    def read(self) -> Truth:
        last, size = -1, None
        with self._path.open("rb") as file:
            for _, element in ElementTree.iterparse(_WithoutDocumentType(file)):
                if element.tag in ("task", "job"):
                    last, size = _frames_of(element)
                    for label in element.iterfind("labels/label/name"):
                        self._class(label.text or "")
                elif element.tag == "track":
                    self._add_track(element, size)
                    element.clear()
                elif element.tag == "image":
                    self._add_image(element)
                    element.clear()
        if not self._pictures or self._of_frame:  # a video
            for frame in range(last + 1):
                self._frame(frame, size)
        return make_truth(self._path, self._labels, self._pictures, self._objects)

    def _add_track(self, track: ElementTree.Element, size: tuple[int, int] | None) -> None:
        class_id = self._class(track.attrib["label"])
        for box in track.iterfind("box"):
            if box.get("outside") != "1":
                self._objects.append((self._frame(int(box.attrib["frame"]), size), class_id, *_place(box), False))

    def _add_image(self, image: ElementTree.Element) -> None:
        number = len(self._pictures)
        size = int(image.attrib["width"]), int(image.attrib["height"])
        self._pictures.append(TruthPicture(image.attrib["name"], None, size))
        for box in image.iterfind("box"):
            self._objects.append((number, self._class(box.attrib["label"]), *_place(box), False))

    def _frame(self, frame: int, size: tuple[int, int] | None) -> int:
        if frame not in self._of_frame:
            self._of_frame[frame] = len(self._pictures)
            self._pictures.append(TruthPicture("", frame, size))
        return self._of_frame[frame]

    def _class(self, label: str) -> int:
        if label not in self._classes:
            self._classes[label] = len(self._labels)
            self._labels.append(label)
        return self._classes[label]


class _WithoutDocumentType:
    """A file without document types, whose entities could fill the memory or name other files."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._tail = file, b""

    def read(self, size: int = -1, /) -> bytes:
        """Read up to ``size`` bytes."""
        part = self._file.read(size)
        if b"\0" in part:
            raise ValueError("it is not UTF-8 text: export the task from CVAT again")
        if b"<!DOCTYPE" in self._tail + part or b"<!ENTITY" in self._tail + part:
            raise ValueError("document types and entities are not supported: export the task from CVAT again")
        self._tail = part[-10:]
        return part


def _frames_of(task: ElementTree.Element) -> tuple[int, tuple[int, int] | None]:
    """The index of the last frame, and the size of the pictures if it is known."""
    if task.findtext("frame_filter") or (task.tag == "task" and int(task.findtext("start_frame", "0"))):
        raise ValueError("the task leaves out frames of the video (start frame, frame step): annotate a task of all frames")
    last = int(task.findtext("stop_frame", "-1"))
    if last >= _MAX_FRAMES:
        raise ValueError(f"the task has {last + 1:,} frames")
    size = task.find("original_size")
    return last, None if size is None else (int(size.findtext("width", "0")), int(size.findtext("height", "0")))


def _place(box: ElementTree.Element) -> tuple[float, float, float, float]:
    left, top, right, bottom = (float(box.attrib[key]) for key in ("xtl", "ytl", "xbr", "ybr"))
    return left, top, right - left, bottom - top
