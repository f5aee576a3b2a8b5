"""A table of text that grows row by row."""

from __future__ import annotations


class Table:
    """Prints rows as they come, the headings before the first one. columns: a format for all cells. heads: one a cell."""

    def __init__(self, columns: str, heads: tuple[str, ...]) -> None:
        self._columns = columns
        self._heads: tuple[str, ...] | None = heads

    def row(self, *cells: object) -> str:
        """The next row, after the headings if it is the first one."""
        lines = [self._columns.format(*self._heads).rstrip()] if self._heads else []
        self._heads = None
        return "\n".join([*lines, self._columns.format(*cells).rstrip()])
