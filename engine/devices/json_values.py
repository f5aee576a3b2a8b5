"""Reads values from JSON that other programs wrote: a missing value, or one of another type, is None."""

from typing import Any, TypeVar

T = TypeVar("T")


def at(values: Any, kind: type[T], *path: str | int) -> T | None:
    """The value at the end of a path of keys and positions; None if it is missing or not of type ``kind``."""
    for step in path:
        try:
            values = values[step]
        except (KeyError, IndexError, TypeError):
            return None
    return values if isinstance(values, kind) else None
