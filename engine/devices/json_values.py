"""Reads values out of JSON from outside: a value that is missing or of another type is None, never an error."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def at(values: Any, kind: type[T], *path: str | int) -> T | None:
    """The value at the end of a path of keys and positions; None where it is missing or of another type."""
    for step in path:
        try:
            values = values[step]
        except (KeyError, IndexError, TypeError):
            return None
    return values if isinstance(values, kind) else None
