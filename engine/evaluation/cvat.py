"""Reads true objects from "CVAT for video 1.1" and "CVAT for images 1.1" (https://docs.cvat.ai/docs/dataset_management/formats).

Rotated boxes, polygons, ellipses, masks and skeletons count as the box around their outline. Frames have their numbers in the video, also
in jobs and in tasks of a part of it (``abs_frame_id`` in CVAT's ``bindings.py``).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import cos, hypot, radians, sin
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree

from framefleet.engine.evaluation.truth import FRAME_NAME, Truth, TruthBuilder, check_size, outline
from framefleet.engine.notices import Notice, SourceError

MAX_FRAMES = 3_000_000
"""Of a task: 27 hours at 30 frames/s."""

_CHUNK = 1 << 16
_FACTS = ("id", "name", "source", "start_frame", "stop_frame", "frame_filter", "width", "height")
_MAX_DEPTH = 100


def read(path: Path) -> Truth:
    """Read a CVAT file. All frames of the task or job are compared, also those without objects.

    Raises
    ------
    SourceError
        The file cannot be read, is damaged, has shapes without an area, or takes more memory than is free.
    """
    check_size(path)
    document = _Document(path)
    try:
        parser = ElementTree.XMLParser(target=document)
        with path.open("rb") as file:
            for part in _parts(file):
                parser.feed(part)
        parser.close()
        return document.truth()
    except (KeyError, TypeError, AttributeError) as error:
        raise SourceError(Notice("evaluation.no_cvat", path=path, reason=str(error)[:200])) from error
    except (OSError, ValueError, LookupError, ElementTree.ParseError) as error:  # LookupError: an unknown encoding
        raise SourceError(Notice("evaluation.not_read", path=path, form="CVAT", reason=str(error)[:200])) from error


@dataclass
class _Task:
    """A task or job, as the file describes it. frames: the number of the picture of each frame."""

    facts: dict[str, str] = field(default_factory=dict)
    frames: dict[int, int] = field(default_factory=dict)

    @property
    def size(self) -> tuple[int, int] | None:
        return (int(self.facts["width"]), int(self.facts["height"])) if "width" in self.facts and "height" in self.facts else None

    def numbers(self, path: Path) -> range:
        """The numbers of its frames in the video."""
        start, stop = int(self.facts.get("start_frame") or 0), int(self.facts.get("stop_frame") or -1)
        step = re.fullmatch(r"step\s*=\s*(\d+)", self.facts.get("frame_filter", "").strip() or "step=1")
        if step is None or int(step[1]) < 1:
            raise ValueError(f"the frame filter {self.facts['frame_filter'][:50]!r} is unknown")
        frames = range(max(start, 0), stop + 1, int(step[1]))
        if stop >= MAX_FRAMES:
            raise SourceError(Notice("evaluation.frames", path=path, frames=stop + 1))
        return frames


class _Document:
    """Takes the elements of a file as they are parsed, and keeps no tree of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._builder = TruthBuilder(path)
        self._classes: dict[str, int] = {}
        self._tasks: list[_Task] = []
        self._open: list[str] = []
        self._text: list[str] = []
        self._label: dict[str, str] = {}
        self._parent: Mapping[str, str] = {}
        self._picture = 0
        self._images = False
        self._skeleton: tuple[Mapping[str, str], list[tuple[float, float]]] = {}, []
        self._outlines = 0
        self._refused = Counter[str]()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        parent = self._open[-1] if self._open else ""
        self._open.append(tag)
        self._text = []
        if len(self._open) > _MAX_DEPTH:
            raise ValueError(f"elements are nested more than {_MAX_DEPTH} times")
        if tag in ("task", "job"):
            self._tasks.append(_Task())
        elif tag in ("track", "image"):
            self._parent = attributes
            if tag == "image":
                self._add_image(attributes)
        elif parent == "skeleton" and tag != "attribute":
            if attributes.get("outside") != "1":
                self._skeleton[1].extend(_points(attributes))
        elif parent in ("track", "image") and tag not in ("attribute", "tag") and attributes.get("outside") != "1":
            if tag == "skeleton":
                self._skeleton = attributes, []
            else:
                self._add_shape(tag, attributes)

    def data(self, text: str) -> None:
        """Take text between elements."""
        if len(self._text) < 1000:
            self._text.append(text)

    def end(self, tag: str) -> None:
        """End an element."""
        self._open.pop()
        parent = self._open[-1] if self._open else ""
        text, self._text = "".join(self._text).strip(), []
        if parent == "label" and tag in ("name", "parent"):
            self._label[tag] = text
        elif parent == "labels" and tag == "label":
            if not self._label.get("parent"):  # else it is a part of a skeleton
                self._class(self._label.get("name", ""))
            self._label = {}
        elif parent in ("task", "job", "original_size") and tag in _FACTS and self._tasks:
            self._tasks[-1].facts.setdefault(tag, text)
        elif parent in ("track", "image") and tag == "skeleton" and self._skeleton[1]:
            self._outlines += 1
            self._add(self._skeleton[0], outline(*zip(*self._skeleton[1], strict=True)))
            self._skeleton = {}, []

    def close(self) -> None:
        """End the file."""

    def truth(self) -> Truth:
        """Return what the file says."""
        if self._refused:
            shapes = tuple(Notice("evaluation.cvat_shape", kind=kind[:50], number=number) for kind, number in self._refused.most_common(5))
            raise SourceError(Notice("evaluation.cvat_shapes", path=self._path, shapes=shapes))
        if not self._images:
            for task in self._tasks:
                for frame in task.numbers(self._path):
                    self._frame(task, frame)
        if self._outlines:
            self._builder.remarks.append(Notice("evaluation.outlines", count=self._outlines))
        return self._builder.truth(self._classes)

    def _task(self) -> _Task:
        """The task that the open track or image belongs to."""
        if not self._tasks:
            self._tasks.append(_Task())
        if len(self._tasks) == 1:
            return self._tasks[0]
        mine = self._parent.get("task_id")
        found = next((task for task in self._tasks if task.facts.get("id") == mine), None)
        if mine is None or found is None:
            raise ValueError("it has several tasks, and an object does not say which one it belongs to: export each task from CVAT")
        return found

    def _add_image(self, image: Mapping[str, str]) -> None:
        self._images = True
        name, task = image["name"], self._task()
        size = int(image["width"]), int(image["height"])
        frame = FRAME_NAME.search(name)
        if frame is not None and task.facts.get("source"):  # the frame of a video
            self._picture = self._builder.add_picture(*self._named(task, int(frame[1])), size)
        else:
            self._picture = self._builder.add_picture(name, None if frame is None else int(frame[1]), size)

    def _add_shape(self, tag: str, shape: Mapping[str, str]) -> None:
        turned = radians(float(shape.get("rotation") or 0))
        if tag == "box":
            left, top, right, bottom = (float(shape[key]) for key in ("xtl", "ytl", "xbr", "ybr"))
            box = left, top, right - left, bottom - top
            box = _turned(*box, turned) if turned else box
        elif tag == "ellipse":
            x, y, across, down = (float(shape[key]) for key in ("cx", "cy", "rx", "ry"))
            half = hypot(across * cos(turned), down * sin(turned)), hypot(across * sin(turned), down * cos(turned))
            box = x - half[0], y - half[1], 2 * half[0], 2 * half[1]
        elif tag == "polygon":
            box = outline(*zip(*_points(shape), strict=True))
        elif tag == "mask":
            left, top, width, height = (float(shape[key]) for key in ("left", "top", "width", "height"))
            box = left, top, width, height
        else:
            self._refused[tag] += 1
            return
        self._outlines += tag != "box" or turned != 0
        self._add(shape, box)

    def _add(self, shape: Mapping[str, str], box: tuple[float, float, float, float]) -> None:
        if "track" in self._open:
            picture, label = self._frame(self._task(), int(shape["frame"])), self._parent["label"]
        else:
            picture, label = self._picture, shape["label"]
        self._builder.add_object(picture, self._class(label), box)

    def _frame(self, task: _Task, frame: int) -> int:
        if frame not in task.frames:
            task.frames[frame] = self._builder.add_picture(*self._named(task, frame), task.size)
        return task.frames[frame]

    def _named(self, task: _Task, frame: int) -> tuple[str, int | None]:
        """Name and number of a frame. The number alone would not say in which of several videos it is."""
        alone, video = len(self._tasks) == 1, task.facts.get("source") or task.facts.get("name", "")
        name = f"{video}#{frame}" if task.facts.get("source") or not alone else ""
        return name, frame if alone else None

    def _class(self, label: str) -> int:
        return self._classes.setdefault(label, len(self._classes))


def _parts(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file in parts. Refuses document types, whose entities could fill the memory or name other files."""
    tail = b""
    while part := file.read(_CHUNK):
        if b"\0" in part:
            raise ValueError("it is not UTF-8 text: export the task from CVAT again")
        if b"<!DOCTYPE" in tail + part or b"<!ENTITY" in tail + part:
            raise ValueError("document types and entities are not supported: export the task from CVAT again")
        tail = part[-10:]
        yield part


def _points(shape: Mapping[str, str]) -> list[tuple[float, float]]:
    """The points of a shape, ``x,y;x,y``; of a box in a skeleton, its corners."""
    if "points" not in shape:
        left, top, right, bottom = (float(shape[key]) for key in ("xtl", "ytl", "xbr", "ybr"))
        return [(left, top), (right, bottom)]
    pairs = (point.split(",") for point in shape["points"].split(";"))
    return [(float(x), float(y)) for x, y in pairs]


def _turned(left: float, top: float, width: float, height: float, angle: float) -> tuple[float, float, float, float]:
    """The box around a box that is turned about its centre. angle: radians."""
    across = width * abs(cos(angle)) + height * abs(sin(angle))
    down = width * abs(sin(angle)) + height * abs(cos(angle))
    return left + (width - across) / 2, top + (height - down) / 2, across, down
