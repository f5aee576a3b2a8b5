"""Reads the labels of a model from text files with one class name per line, and finds the labels that a user wrote: ``person,car``."""

from collections.abc import Sequence
from importlib.resources import files as resource_files
from pathlib import Path

from framefleet.engine.errors import ModelError, UsageError, similar
from framefleet.engine.model.files import read_start
from framefleet.engine.notices import Notice, Option

MAX_BYTES = 1 << 22
MAX_NAMED = 8
"""Maximum number of labels that a message names."""


def find_labels(cfg: Path, classes: int, labels: Path | None = None) -> tuple[tuple[str, ...], Notice]:
    """Find the labels of a model.

    The labels come from ``labels``, else from the ``.names`` file with the cfg's stem, else from the only ``.names`` file in the cfg's
    folder with one line per class. Else they are COCO's for 80 classes, and "class 0", "class 1", … for any other number.

    Returns
    -------
    labels : tuple of str
        One label per class.
    source : Notice
        Their file and number, for the first lines of a run.

    Raises
    ------
    ModelError
        ``labels``, or the file with the cfg's stem, cannot be read or has a different number of labels; or the folder has several other
        files of different labels that fit.
    """
    own = cfg.with_suffix(".names")
    if labels is not None or own.is_file():
        return _with_source(read_labels(labels or own, classes), labels or own)
    fitting: dict[tuple[str, ...], Path] = {}
    for path in sorted(cfg.parent.glob("*.names")):
        try:
            fitting.setdefault(read_labels(path, classes), path)
        except ModelError:
            continue
    if len(fitting) > 1:
        files = tuple(path.name for path in fitting.values())
        raise ModelError(Notice("model.several_labels", folder=cfg.parent, files=files, classes=classes, option=Option("labels")))
    if fitting:
        return _with_source(*next(iter(fitting.items())))
    if classes == 80:
        return coco_labels(), Notice("model.labels_of_coco", number=classes)
    return tuple(f"class {number}" for number in range(classes)), Notice("model.labels_numbered", number=classes, option=Option("labels"))


def _with_source(labels: tuple[str, ...], path: Path) -> tuple[tuple[str, ...], Notice]:
    return labels, Notice("model.labels_of_file", path=path, number=len(labels))


def coco_labels() -> tuple[str, ...]:
    """COCO's 80 labels, by class id."""
    return tuple(resource_files("framefleet.resources").joinpath("labels/coco.txt").read_text("utf-8").splitlines())


def read_labels(path: Path, classes: int) -> tuple[str, ...]:
    """Read one label per class from a UTF-8 text file. Empty lines at its end are ignored.

    Raises ModelError if the file is missing, unreadable or not text, or the number of labels differs from ``classes``.
    """
    content = read_start(path, MAX_BYTES + 1)
    if len(content) > MAX_BYTES or b"\0" in content:
        raise ModelError(Notice("model.no_labels", path=path))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(Notice("model.labels_not_utf8", path=path, byte=error.start)) from error
    names = tuple(line.strip() for line in text.rstrip().split("\n")) if text.strip() else ()
    if "" in names:
        raise ModelError(Notice("model.label_empty", path=path, line=names.index("") + 1))
    if number := next((number for number, name in enumerate(names, 1) if not name.isprintable()), None):
        raise ModelError(Notice("model.label_not_printable", path=path, line=number))
    if len(names) != classes:
        raise ModelError(Notice("model.wrong_labels", path=path, labels=len(names), classes=classes))
    return names


def class_ids(names: Sequence[str] | None, labels: Sequence[str]) -> frozenset[int] | None:
    """Find the class ids of labels: all classes with one of these names.

    Parameters
    ----------
    names : sequence of str or None
        Labels, in upper or lower case, or ids as text. None: all classes, which returns None.
    labels : sequence of str
        The model's labels, by class id.

    Raises
    ------
    UsageError
        The model does not have a label or id; the notice names similar labels.
    """
    if names is None:
        return None
    by_label: dict[str, set[int]] = {}
    for number, label in enumerate(labels):
        by_label.setdefault(label.casefold(), set()).add(number)
    return frozenset().union(*(_ids_of(name, by_label, labels) for name in names))


def _ids_of(name: str, by_label: dict[str, set[int]], labels: Sequence[str]) -> set[int]:
    if name.casefold() in by_label:
        return by_label[name.casefold()]
    if name.isdecimal():
        if int(name) < len(labels):
            return {int(name)}
        raise UsageError(Notice("model.no_class_id", name=name, classes=len(labels), last=len(labels) - 1))
    if hint := similar(name, labels, 3):
        raise UsageError(Notice("model.no_class_but_similar", name=name, hint=hint))
    if len(labels) > MAX_NAMED:
        more = len(labels) - MAX_NAMED
        raise UsageError(Notice("model.no_class_of_many", name=name, labels=tuple(labels[:MAX_NAMED]), more=more))
    raise UsageError(Notice("model.no_class", name=name, labels=tuple(labels)))
