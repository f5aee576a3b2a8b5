"""Reading JSON that others wrote: whatever is missing or of another kind is None, never an error."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def at(values: Any, kind: type[T], *path: str | int) -> T | None:
    """What is at the end of a path of keys and positions; None where there is nothing, or something of another type."""
    for step in path:
        try:
            values = values[step]
        except (KeyError, IndexError, TypeError):
            return None
    return values if isinstance(values, kind) else None
