"""Reads true objects from a folder in YOLO's format: a text file per picture, and ``data.yaml`` with the names of the classes.

A line is: class, centre x, centre y, width, height, as shares of the picture; or a class and the points of an outline. Pictures without
such a file have no objects. The labels are in folders ``labels``, as in the layouts of Ultralytics (``labels/train``) and Roboflow
(``train/labels``), or beside the pictures.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from framefleet.engine.evaluation.truth import Truth, TruthBuilder, outline
from framefleet.engine.media.sources import is_picture
from framefleet.engine.notices import Notice, SourceError
from framefleet.engine.store.exporters.yolo import LOOKED_FOR

MAX_FILE_BYTES = 1 << 22
_MAX_CLASSES, _MAX_DEPTH = 100_000, 50
_NOT_LABELS = ("classes.txt", "obj.names", "train.txt", "val.txt", "test.txt")
_BESIDE = ("readme", "license", "licence")
_DESCRIPTIONS = ("data.yaml", "data.yml", "dataset.yaml", "dataset.yml")


def read(folder: Path) -> Truth:
    """Read all label files in the folders ``labels`` under ``folder``, or in ``folder`` itself if there are none.

    The names come from ``data.yaml``, ``classes.txt`` or a file ``*.names``, there or in the folders above; without them, classes have
    their numbers as names.

    Raises
    ------
    SourceError
        A file cannot be read, or a line is no label.
    """
    builder, highest, outlines = TruthBuilder(folder), -1, 0
    try:
        names, looked_for = _names(folder)
        for labels, pictures in _layout(folder):
            files = {_key(path, labels): path for path in _files(labels) if _is_label_file(path)}
            keys = files.keys() | {_key(path, pictures) for path in _files(pictures) if is_picture(path)}
            for key in sorted(keys):
                picture = builder.add_picture(key, None, None)
                for class_id, box, is_outline in _lines(files[key]) if key in files else ():
                    builder.add_object(picture, class_id, box)
                    highest, outlines = max(highest, class_id), outlines + is_outline
    except OSError as error:
        raise SourceError(Notice("general.unreadable", path=folder, detail=str(error))) from error
    if names and highest >= len(names):
        raise SourceError(Notice("evaluation.yolo_class", path=folder, class_id=highest, names=len(names)))
    if outlines:
        builder.remarks.append(Notice("evaluation.outlines", count=outlines))
    wanted = None if looked_for is None else frozenset(number for number, name in enumerate(names) if name in looked_for)
    return builder.truth(names or map(str, range(highest + 1)), relative=True, looked_for=wanted)


def _layout(folder: Path) -> list[tuple[Path, Path]]:
    """The folders of labels, each with the folder of their pictures."""
    found = sorted(Path(top, name) for top, names, _ in os.walk(folder) for name in names if name == "labels")
    pairs = [(labels, labels.with_name("images")) for labels in found if "labels" not in labels.relative_to(folder).parts[:-1]]
    if not pairs and folder.name == "labels":
        return [(folder, folder.with_name("images"))]
    return pairs or [(folder, folder)]


def _files(folder: Path) -> Iterator[Path]:
    return (Path(top, name) for top, _, names in os.walk(folder) for name in names)


def _is_label_file(path: Path) -> bool:
    name = path.name.lower()
    return name.endswith(".txt") and name not in _NOT_LABELS and not name.startswith(_BESIDE)


def _key(path: Path, folder: Path) -> str:
    return path.relative_to(folder).with_suffix("").as_posix()


def _lines(path: Path) -> Iterator[tuple[int, tuple[float, float, float, float], bool]]:
    """Yield class, box and whether it is the box around an outline, of each label."""
    for number, line in enumerate(_text(path).splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        try:
            class_id, *values = map(float, parts)
            if not class_id.is_integer() or not 0 <= class_id < _MAX_CLASSES:
                raise ValueError
            if len(values) >= 6 and len(values) % 2 == 0:
                yield int(class_id), outline(values[::2], values[1::2]), True
                continue
            x, y, width, height = values[:4]
            if len(values) > 5 or not (width > 0 and height > 0):
                raise ValueError
        except (ValueError, OverflowError):
            raise SourceError(Notice("evaluation.yolo_line", path=path, line=number, text=line[:60])) from None
        yield int(class_id), (x - width / 2, y - height / 2, width, height), False


def _names(folder: Path) -> tuple[list[str], frozenset[str] | None]:
    """The names of the classes, and those that were looked for if it is known."""
    above = [*folder.absolute().parents][:2]
    described = [parent / name for parent in (folder, *above) for name in _DESCRIPTIONS]
    described[len(_DESCRIPTIONS) : len(_DESCRIPTIONS)] = [*sorted(folder.glob("*.yaml")), *sorted(folder.glob("*.yml"))]
    for path in described:
        if path.is_file():
            names, looked_for = _described(path)
            if names:
                return names, looked_for
    listed = [parent / name for parent in (folder, folder / "labels", *above[:1]) for name in ("classes.txt",)]
    for path in (*listed, *sorted(folder.glob("*.names"))):
        if path.is_file():
            return [line.strip() for line in _text(path).splitlines() if line.strip()], None
    return [], None


def _described(path: Path) -> tuple[list[str], frozenset[str] | None]:
    """Read ``names`` and ``LOOKED_FOR`` from a ``data.yaml``. The other entries are skipped unread."""
    import yaml

    events = yaml.parse(_text(path), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    names: list[str] = []
    looked_for = None
    try:
        for event in events:
            if isinstance(event, yaml.MappingStartEvent):
                break
            if isinstance(event, yaml.NodeEvent):
                return [], None  # no mapping
        while isinstance(key := next(events, None), yaml.NodeEvent):
            if isinstance(key, yaml.ScalarEvent) and key.value in ("names", LOOKED_FOR):
                values = _scalars(events, path, key.value)
                if key.value == LOOKED_FOR:
                    looked_for = frozenset(values.values())
                elif values and max(values) < _MAX_CLASSES:
                    names = [values.get(number, str(number)) for number in range(max(values) + 1)]
            else:
                _skip(key, events)
                _skip(next(events), events)
    except (yaml.YAMLError, StopIteration) as error:
        raise SourceError(Notice("evaluation.yaml", path=path, reason=" ".join(str(error).split())[:200])) from error
    return names, looked_for


def _scalars(events: Iterator[Any], path: Path, key: str) -> dict[int, str]:
    """The texts of a list, or of a mapping with numbers as keys, by their numbers."""
    import yaml

    opened = next(events)
    found: dict[int, str] = {}
    number: int | None = None
    for event in events if isinstance(opened, yaml.CollectionStartEvent) else ():
        if isinstance(event, yaml.CollectionEndEvent):
            return found
        if not isinstance(event, yaml.ScalarEvent) or len(found) >= _MAX_CLASSES:
            break
        if isinstance(opened, yaml.SequenceStartEvent):
            found[len(found)] = event.value.strip()
        elif number is None:
            if not event.value.isdecimal() or len(event.value) > 6:
                break
            number = int(event.value)
        else:
            found[number], number = event.value.strip(), None
    raise SourceError(Notice("evaluation.yaml_names", path=path, key=key))


def _skip(event: Any, events: Iterator[Any]) -> None:
    """Skip the rest of a value. event: its first event."""
    import yaml

    depth = int(isinstance(event, yaml.CollectionStartEvent))
    while depth:
        if depth > _MAX_DEPTH:  # the time that YAML's parsers take grows with the square of it
            raise yaml.YAMLError(f"values are nested more than {_MAX_DEPTH} times")
        event = next(events)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)


def _text(path: Path) -> str:
    if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
        raise SourceError(Notice("evaluation.no_labels", path=path))
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(Notice("evaluation.no_utf8", path=path)) from error
