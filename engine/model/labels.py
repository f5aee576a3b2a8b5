"""Reads the labels of a model from text files with one class name per line, and finds the labels that a user wrote: ``person,car``."""

from collections.abc import Sequence
from importlib.resources import files as resource_files
from pathlib import Path

from framefleet.engine.errors import ModelError, UsageError, similar
from framefleet.engine.model.files import read_start

MAX_BYTES = 1 << 22


def find_labels(cfg: Path, classes: int, labels: Path | None = None) -> tuple[str, ...]:
    """Find the labels of a model. Returns one label per class.

    The labels come from ``labels``, else from the ``.names`` file with the cfg's stem, else from the only ``.names`` file in the cfg's
    folder with one line per class. Else they are COCO's for 80 classes, and "class 0", "class 1", … for any other number.

    Raises ModelError if ``labels``, or the file with the cfg's stem, cannot be read or has a different number of labels.
    """
    own = cfg.with_suffix(".names")
    if labels is not None or own.is_file():
        return read_labels(labels or own, classes)
    fitting = []
    for path in sorted(cfg.parent.glob("*.names")):
        try:
            fitting.append(read_labels(path, classes))
        except ModelError:
            continue
    if len(fitting) == 1:
        return fitting[0]
    if classes == 80:
        return coco_labels()
    return tuple(f"class {number}" for number in range(classes))


def coco_labels() -> tuple[str, ...]:
    """COCO's 80 labels, by class id."""
    return tuple(resource_files("framefleet.resources").joinpath("labels/coco.txt").read_text("utf-8").splitlines())


def read_labels(path: Path, classes: int) -> tuple[str, ...]:
    """Read one label per class from a UTF-8 text file. Empty lines at its end are ignored.

    Raises ModelError if the file is missing, unreadable or not text, or the number of labels differs from ``classes``.
    """
    content = read_start(path, MAX_BYTES + 1)
    if len(content) > MAX_BYTES or b"\0" in content:
        raise ModelError(f"{path} is not a list of labels: a list of labels is a text file with one name per line")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(f"{path} is not UTF-8 text at byte {error.start}: save it as UTF-8") from error
    names = tuple(line.strip() for line in text.rstrip().split("\n")) if text.strip() else ()
    if "" in names:
        raise ModelError(f"{path}, line {names.index('') + 1} is empty: every line must name a class")
    if number := next((number for number, name in enumerate(names, 1) if not name.isprintable()), None):
        raise ModelError(f"{path}, line {number} has a character that cannot be printed: remove it")
    if len(names) != classes:
        raise ModelError(f"{path} has {len(names)} labels, but the model has {classes} classes: choose the label file of this model")
    return names


def class_ids(names: Sequence[str] | None, labels: Sequence[str]) -> frozenset[int] | None:
    """Find the class ids of labels. names: labels, in upper or lower case, or ids as text; None = all classes, which returns None.

    Raises UsageError if the model does not have a label or id; the message names similar labels.
    """
    if names is None:
        return None
    by_label = {label.casefold(): number for number, label in enumerate(labels)}
    return frozenset(_class_id(name, by_label, labels) for name in names)


def _class_id(name: str, by_label: dict[str, int], labels: Sequence[str]) -> int:
    if name.casefold() in by_label:
        return by_label[name.casefold()]
    if name.isdecimal():
        if int(name) < len(labels):
            return int(name)
        raise UsageError(f"class id {name}: this model has {len(labels)} classes, 0 to {len(labels) - 1}")
    more = f" and {len(labels) - 8} more" if len(labels) > 8 else ""
    hint = similar(name, labels, 3) or f"it has {', '.join(labels[:8])}{more}"
    raise UsageError(f"this model has no class '{name}': {hint}")
