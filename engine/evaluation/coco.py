"""Reads true objects from COCO's object-detection JSON (https://cocodataset.org/#format-data), also compressed with gzip."""

import gzip
import json
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from framefleet.engine.errors import SourceError
from framefleet.engine.evaluation.truth import MAX_BYTES, Truth, TruthPicture, check_size, make_truth


def read(path: Path) -> Truth:
    """Read a COCO file. A picture is found by its ``file_name`` or, as Framefleet writes it, by ``frame``.

    Raises SourceError if the file cannot be read, or is damaged.
    """
    check_size(path)
    try:
        content = path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = _unpacked(content, path)
        return from_data(json.loads(content), path)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        detail = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise SourceError(f"{path} is no COCO truth: it needs images, annotations and categories ({detail})") from error
    except (OSError, EOFError, ValueError, OverflowError, zlib.error, RecursionError) as error:
        raise SourceError(f"{path} cannot be read as COCO: {str(error)[:200]}") from error


def from_data(data: Mapping[str, Any], path: Path) -> Truth:
    """Create a truth from the content of a COCO file."""
    categories = sorted(data["categories"], key=lambda category: int(category["id"]))
    class_of = {int(category["id"]): number for number, category in enumerate(categories)}
    place_of: dict[int, int] = {}
    pictures: list[TruthPicture] = []
    for image in data["images"]:
        number = int(image["id"])
        if number in place_of:
            raise ValueError(f"two images have the id {number}")
        place_of[number] = len(pictures)
        size = (int(image["width"]), int(image["height"])) if image.get("width") else None
        frame = image.get("frame", None if image.get("file_name") else number)
        pictures.append(TruthPicture(str(image.get("file_name", "")), None if frame is None else int(frame), size))
    objects = []
    for note in data["annotations"]:
        category, image = int(note["category_id"]), int(note["image_id"])
        if category not in class_of or image not in place_of:
            raise ValueError(f"the annotation {note.get('id')} names image {image} and category {category}, which are not both there")
        x, y, width, height = note["bbox"]
        box = float(x), float(y), float(width), float(height)
        objects.append((place_of[image], class_of[category], *box, bool(note.get("iscrowd") or note.get("ignore"))))
    return make_truth(path, (str(category["name"]) for category in categories), pictures, objects)


def _unpacked(content: bytes, path: Path) -> bytes:
    """Unpack gzip, but no more than a file may have."""
    with gzip.open(BytesIO(content)) as file:
        unpacked = file.read(MAX_BYTES // 4 + 1)
    if len(unpacked) > MAX_BYTES // 4:
        raise SourceError(f"{path} has more than {MAX_BYTES // 4 >> 20} MiB when it is unpacked: divide it")
    return unpacked
