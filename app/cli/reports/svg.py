"""The parts of charts as SVG: text, the frame of a document, and colours for a white background."""

from collections.abc import Sequence
from html import escape

TEXT, MUTED, GRID, PAPER = "#1c2027", "#646c79", "#e4e7ec", "#ffffff"
ACCENT, GREEN = "#3b7ddd", "#2b8a60"
"""The window's colours, darker."""

SERIES = (ACCENT, "#d9480f", GREEN, "#862e9c", "#b08900", "#0b7285")
"""Colours of lines that are compared."""


def document(width: int, height: int, parts: Sequence[str]) -> str:
    """An SVG document with rounded white paper behind ``parts``."""
    fonts = 'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" {fonts}>'
    paper = f'<rect width="{width}" height="{height}" rx="10" fill="{PAPER}"/>'
    return "\n".join([head, paper, *parts, "</svg>", ""])


def text(x: float, y: float, words: str, size: int, colour: str, anchor: str = "start", weight: int = 400, turned: int = 0) -> str:
    """A line of text. anchor: "start", "middle" or "end". turned: clockwise around x, y, degrees."""
    turn = f'transform="rotate({turned} {x:.1f} {y:.1f})" ' if turned else ""
    place = f'{turn}x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{size}" font-weight="{weight}" fill="{colour}">{escape(words)}</text>'
