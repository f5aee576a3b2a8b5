"""Reads true objects from a folder in YOLO's format: a text file per picture, and ``data.yaml`` with the names of the classes.

A line is: class, centre x, centre y, width, height, as shares of the picture. Pictures without such a file have no objects.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from framefleet.engine.errors import SourceError
from framefleet.engine.evaluation.truth import Truth, TruthPicture, make_truth
from framefleet.engine.media.sources import is_picture

MAX_FILE_BYTES = 1 << 22
_NOT_LABELS = ("classes.txt", "obj.names", "train.txt", "val.txt", "test.txt", "readme.txt", "license.txt")


def read(folder: Path) -> Truth:
    """Read all label files under ``folder``, or under its folder ``labels`` if there is one.

    The names come from ``data.yaml``, ``classes.txt`` or a file ``*.names``; without them, classes have their numbers as names.

    Raises SourceError if a file cannot be read, or a line is not a label.
    """
    labels = folder / "labels" if (folder / "labels").is_dir() else folder
    try:
        files = {_key(path, labels): path for path in sorted(labels.rglob("*.txt")) if path.name.lower() not in _NOT_LABELS}
        shown = folder / "images" if (folder / "images").is_dir() else folder
        keys = set(files) | {_key(path, shown) for path in shown.rglob("*") if is_picture(path)}
        names = _names(folder)
        objects = []
        for number, key in enumerate(sorted(keys)):
            for class_id, x, y, width, height in _lines(files[key]) if key in files else ():
                objects.append((number, class_id, x - width / 2, y - height / 2, width, height, False))
    except OSError as error:
        raise SourceError(f"{folder} cannot be read: {error}") from error
    highest = max((row[1] for row in objects), default=-1)
    if names and highest >= len(names):
        raise SourceError(f"{folder}: a label has the class {highest}, but there are {len(names)} names of classes")
    labels_of = names or [str(number) for number in range(highest + 1)]
    return make_truth(folder, labels_of, (TruthPicture(key, None, None) for key in sorted(keys)), objects, relative=True)


def _key(path: Path, folder: Path) -> str:
    return path.relative_to(folder).with_suffix("").as_posix()


def _lines(path: Path) -> Iterator[tuple[int, float, float, float, float]]:
    for number, line in enumerate(_text(path).splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        try:
            class_id, x, y, width, height = int(parts[0]), *(float(part) for part in parts[1:5])
            if len(parts) not in (5, 6) or not 0 <= class_id < 100_000 or not (width > 0 and height > 0):
                raise ValueError
        except (ValueError, TypeError):
            form = "class, centre x, centre y, width, height as shares of the picture"
            raise SourceError(f"{path}, line {number}: '{line[:60]}' is not a label: write {form}") from None
        yield class_id, x, y, width, height


def _names(folder: Path) -> list[str]:
    for path in (*sorted(folder.glob("*.yaml")), *sorted(folder.glob("*.yml"))):
        if names := _yaml_names(_text(path)):
            return names
    for path in (folder / "classes.txt", folder / "labels" / "classes.txt", *sorted(folder.glob("*.names"))):
        if path.is_file():
            return [line.strip() for line in _text(path).splitlines() if line.strip()]
    return []


def _yaml_names(text: str) -> list[str]:
    """Return the names in a ``data.yaml``: ``names: [a, b]``, a list with dashes, or ``0: a``."""
    after = re.search(r"^names:[ \t]*(.*(?:\n(?:[ \t-].*)?)*)", text, re.MULTILINE)
    if after is None:
        return []
    body = re.sub(r"(?m)\s+#.*$", "", after[1])
    if body.lstrip().startswith("["):
        return [_plain(part) for part in body.strip().strip("[]").split(",") if part.strip()]
    if pairs := re.findall(r"(?m)^[ \t]*(\d+)[ \t]*:[ \t]*(.+)$", body):
        found = {int(number): _plain(name) for number, name in pairs}
        return [found.get(number, str(number)) for number in range(min(max(found), 100_000) + 1)]
    return [_plain(part) for part in re.findall(r"(?m)^[ \t]*-[ \t]*(.+)$", body)]


def _plain(text: str) -> str:
    return text.strip().strip("'\"").strip()


def _text(path: Path) -> str:
    if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
        raise SourceError(f"{path} is not a text file of labels")
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not UTF-8 text: save it as UTF-8") from error
