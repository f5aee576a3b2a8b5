"""Finds the class ids of labels that a user wrote, such as ``person,car``."""

import difflib
from collections.abc import Sequence

from engine.errors import UsageError


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
    close = [labels[by_label[match]] for match in difflib.get_close_matches(name.casefold(), by_label, 3)]
    hint = f"did you mean {' or '.join(close)}?" if close else f"it has {', '.join(labels[:8])}{', …' if len(labels) > 8 else ''}"
    raise UsageError(f"this model has no class '{name}': {hint}")
