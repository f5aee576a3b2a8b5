"""Tables of text: one that grows row by row, an aligned one, and Markdown."""

import re
from collections.abc import Sequence
from html import escape

from framefleet.engine.notices import printable


class Table:
    """Prints rows as they come, the headings before the first one. columns: a format for all cells. heads: one a cell."""

    def __init__(self, columns: str, heads: tuple[str, ...]) -> None:
        self._columns = columns
        self._heads: tuple[str, ...] | None = heads

    def row(self, *cells: object) -> str:
        """The next row, after the headings if it is the first one."""
        return "\n".join(self.lines(*cells))

    def lines(self, *cells: object) -> list[str]:
        """The next row as lines: the headings and the row, or the row alone."""
        heads = [self._columns.format(*self._heads).rstrip()] if self._heads else []
        self._heads = None
        return [*heads, self._columns.format(*(printable(cell) if isinstance(cell, str) else cell for cell in cells)).rstrip()]


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """A table for the terminal, whose columns are as wide as their widest cells."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table. The first row is its heading."""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(map(markdown_text, line)) + " |" for line in lines)


def markdown_text(text: str) -> str:
    """Text in one line of Markdown, without links, code and HTML that a label or a file name may contain."""
    text = re.sub(r"([\\`\[\]|])", r"\\\1", " ".join(text.splitlines()))
    return escape(text, quote=False)
