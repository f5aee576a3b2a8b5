"""Reads true objects from COCO's object-detection JSON (https://cocodataset.org/#format-data), also compressed with gzip.

The file is read piece by piece: each image, annotation and category is parsed alone and becomes a few numbers.
"""

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from framefleet.engine.evaluation.truth import MAX_BYTES, MAX_UNPACKED, Truth, TruthBuilder, check_size, outline
from framefleet.engine.notices import Notice, SourceError

_LISTS = ("images", "annotations", "categories")
CHUNK = 1 << 20
_MAX_VALUE = 16 << 20
"""Characters of one image, annotation or category. JSON takes up to 30 times its size in memory."""

_MAX_OTHER = 1_000_000
"""Entries of a list that is no part of COCO. They are read and forgotten."""

_MIN_UNPACKED, _MAX_RATIO = 64 << 20, 100
"""A compressed file may have this size when it is unpacked, or this multiple of its own. JSON usually has 10 to 30 times."""

_SPACE = re.compile(r"[ \t\n\r]*")
_ID_BYTES = 250
"""Memory that an id takes until the image or category that it names is known."""


def read(path: Path) -> Truth:
    """Read a COCO file. A picture is found by its ``file_name`` or, as Framefleet writes it, by ``frame``.

    Raises
    ------
    SourceError
        The file cannot be read, is damaged, or takes more memory than is free.
    """
    check_size(path)
    data = _Data(path)
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            with gzip.GzipFile(fileobj=file) if packed else file as content:
                most = min(MAX_UNPACKED, max(_MIN_UNPACKED, _MAX_RATIO * path.stat().st_size)) if packed else MAX_BYTES
                data.read(_Json(content, path, most))  # type: ignore[arg-type]
        return data.truth()
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        detail = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise SourceError(Notice("evaluation.no_coco", path=path, reason=detail[:200])) from error
    except (OSError, EOFError, ValueError, OverflowError, zlib.error, RecursionError) as error:
        raise SourceError(Notice("evaluation.not_read", path=path, form="COCO", reason=str(error)[:200])) from error


def from_data(data: Mapping[str, Any], path: Path) -> Truth:
    """Return the truth in the content of a COCO file. path: for messages.

    Raises KeyError, TypeError, ValueError: it is no COCO data set.
    """
    collected = _Data(path)
    for name in _LISTS:
        for each in data[name]:
            collected.add(name, each)
    return collected.truth()


class _Json:
    """A JSON text that is read in pieces. most: bytes that it may have."""

    def __init__(self, file: BinaryIO, path: Path, most: int) -> None:
        self._file, self._path, self._most = file, path, most
        head = file.read(CHUNK)
        self._decoder = codecs.getincrementaldecoder(json.detect_encoding(head))("surrogatepass")
        self._bytes = len(head)
        self._text, self._place = self._decoder.decode(head), 0
        self._parse = json.JSONDecoder().raw_decode

    def expect(self, characters: str) -> str:
        """Return the next character, which must be one of these; "" is the end of the text."""
        found = self.peek()
        if found not in (tuple(characters) or ("",)):
            names = " or ".join(repr(each) for each in characters) or "the end"
            raise ValueError(f"{names} is expected, not {found!r}, behind {self._text[max(self._place - 30, 0) : self._place]!r}")
        self._place += 1
        return found

    def peek(self) -> str:
        """Return the next character that is no space."""
        while True:
            self._place = _SPACE.match(self._text, self._place).end()  # type: ignore[union-attr]
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more():
                return ""

    def value(self) -> Any:
        """Return the next value."""
        while True:
            try:
                value, end = self._parse(self._text, self._place)
            except json.JSONDecodeError:
                if len(self._text) - self._place > _MAX_VALUE:
                    raise ValueError(f"a value has more than {_MAX_VALUE >> 20} MiB") from None
                if not self._more():
                    raise
            else:
                if end < len(self._text) or not self._more():  # at the end of a piece, a number may go on in the next one
                    self._place = end
                    return value

    def elements(self) -> Iterator[Any]:
        """Yield the elements of the next value, which must be a list."""
        self.expect("[")
        if self.peek() == "]":
            self.expect("]")
            return
        while True:
            self.peek()
            yield self.value()
            if self.expect(",]") == "]":
                return

    def _more(self) -> bool:
        """Read another piece. Returns whether there is one."""
        size = max(CHUNK, len(self._text) - self._place)  # more each time, so that a long value is not parsed too often
        part = self._file.read(size)
        self._bytes += len(part)
        if self._bytes > self._most:
            raise SourceError(Notice("evaluation.unpacked", path=self._path, most=self._most >> 20))
        text = self._decoder.decode(part, not part)
        if part or text:
            self._text, self._place = self._text[self._place :] + text, 0
        return bool(part or text)


class _Data:
    """Collects the images, annotations and categories of a file, in any order."""

    def __init__(self, path: Path) -> None:
        self._builder = TruthBuilder(path)
        self._categories: list[tuple[str, str]] = []
        self._images: dict[str, int] = {}
        self._named: tuple[dict[str, int], dict[str, int]] = {}, {}
        self._without_box = 0

    def read(self, text: _Json) -> None:
        missing = dict.fromkeys(_LISTS)
        text.expect("{")
        if text.peek() == "}":
            raise KeyError(_LISTS[0])
        while True:
            text.peek()
            name = text.value()
            text.expect(":")
            if text.peek() == "[":
                missing.pop(name, None)
                for number, each in enumerate(text.elements()):
                    if name in _LISTS:
                        self.add(name, each)
                    elif number == _MAX_OTHER:
                        raise ValueError(f"{str(name)[:50]!r} has more than {_MAX_OTHER:,} entries")
            elif (value := text.value()) is not None and name in _LISTS:
                raise TypeError(f"{name} is no list")
            elif name == "info" and isinstance(value, dict):
                self._builder.source = str(value.get("description") or "")
            if text.expect(",}") == "}":
                break
        text.expect("")
        for name in missing:
            raise KeyError(name)

    def add(self, name: str, each: Mapping[str, Any]) -> None:
        """Add an element of the list of this name."""
        if name == "annotations":
            self._add_annotation(each)
        elif name == "images":
            self._add_image(each)
        else:
            self._categories.append((_key(each["id"]), str(each["name"])))

    def _add_image(self, image: Mapping[str, Any]) -> None:
        key, name = _key(image["id"]), str(image.get("file_name") or "")
        if key in self._images:
            raise ValueError(f"two images have the id {key[:50]}")
        size = (int(image["width"]), int(image["height"])) if image.get("width") else None
        frame = image.get("frame")
        if frame is None and not name:
            name, frame = ("", int(key)) if _is_number(key) else (key, None)
        self._images[key] = self._builder.add_picture(name, None if frame is None else int(frame), size)

    def _add_annotation(self, note: Mapping[str, Any]) -> None:
        keys = _key(note["image_id"]), _key(note["category_id"])
        image, category = (numbers.setdefault(key, len(numbers)) for numbers, key in zip(self._named, keys, strict=True))
        box = note.get("bbox") or _around(note.get("segmentation"))
        if box is None:
            self._without_box += 1
            return
        x, y, width, height = box
        # pycocotools replaces ``ignore`` by ``iscrowd``, too
        self._builder.add_object(image, category, (float(x), float(y), float(width), float(height)), bool(note.get("iscrowd")))
        if self._builder.objects % 10_000 == 0:
            self._builder.check_memory(_ID_BYTES * sum(map(len, self._named)))

    def truth(self) -> Truth:
        categories = self._categories
        if all(_is_number(key) for key, _ in categories):
            categories = sorted(categories, key=lambda category: int(category[0]))
        classes: dict[str, int] = {}
        for number, (key, _) in enumerate(categories):
            if classes.setdefault(key, number) != number:
                raise ValueError(f"two categories have the id {key[:50]}")
        known = self._images, classes
        for what, named, there in zip(("image", "category"), self._named, known, strict=True):
            for key in named:
                if key not in there:
                    raise ValueError(f"an annotation names the {what} {key[:50]}, which is not there")
        if self._without_box:
            self._builder.remarks.append(Notice("evaluation.without_box", count=self._without_box))
        numbers = [np.array([there[key] for key in named], np.int64) for named, there in zip(self._named, known, strict=True)]
        return self._builder.truth((name for _, name in categories), numbers=(numbers[0], numbers[1]))


def _key(value: object) -> str:
    """An id as text: some programs write numbers as texts."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    raise TypeError(f"{value!r:.50} is no id")


def _is_number(key: str) -> bool:
    return key.removeprefix("-").isdecimal() and len(key) < 20


def _around(segmentation: object) -> Sequence[float] | None:
    """The box around the polygons of an annotation; None if it has none."""
    if not isinstance(segmentation, list) or not segmentation:
        return None
    points = [*chain.from_iterable(segmentation)]
    return outline(points[::2], points[1::2]) if len(points) > 3 else None
