"""The charts of an evaluation as SVG: precision over recall, results over the confidence, and confusions."""

from collections.abc import Sequence
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from framefleet.app.cli.reports.svg import ACCENT, GRID, MUTED, SERIES, TEXT, document, text
from framefleet.engine.evaluation.evaluate import Evaluation, Result
from framefleet.engine.evaluation.precision import CONFIDENCES

WIDTH, HEIGHT = 640, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 84, 56
_MOST_CLASSES = 30
"""Classes in a chart of confusions: those with the most objects and errors."""

Line = tuple[str, str, Sequence[float], Sequence[float], bool]
"""Name, colour, x and y of the points (0..1), whether it is dashed."""


def precision_chart(evaluation: Evaluation) -> str:
    """Precision over recall, a line for each session."""
    lines: list[Line] = []
    for result, colour in zip(evaluation.results, cycle(SERIES), strict=False):
        some = result.curve.recall > 0
        lines.append((result.name, colour, result.curve.recall[some].tolist(), result.curve.precision[some].tolist(), False))
    return _lines("Precision over recall", "all classes, overlap 0.5, confidence 0 to 1", "recall", "precision", lines)


def confidence_chart(evaluation: Evaluation) -> str:
    """F1 over the confidence, a line for each session; for one session precision and recall, too."""
    lines: list[Line] = []
    many = len(evaluation.results) > 1
    for result, colour in zip(evaluation.results, cycle(SERIES), strict=False):
        lines.append((result.name if many else "F1", colour, CONFIDENCES.tolist(), result.curve.f1.tolist(), False))
        if not many:
            lines.append(("precision", SERIES[1], CONFIDENCES.tolist(), result.curve.precision.tolist(), True))
            lines.append(("recall", SERIES[2], CONFIDENCES.tolist(), result.curve.recall.tolist(), True))
    title = "F1 over the confidence" if many else "Precision, recall and F1 over the confidence"
    return _lines(title, "all classes, overlap 0.5", "confidence", "", lines)


def confusion_chart(result: Result, labels: Sequence[str], confidence: float) -> str:
    """A table of true classes (rows) and detected ones (columns), darker the higher the share of the row is."""
    table = result.confusion
    totals = table.sum(axis=0) + table.sum(axis=1)
    chosen = sorted(np.argsort(-totals[:-1], kind="stable")[:_MOST_CLASSES].tolist())
    chosen = [number for number in chosen if totals[number]]
    names = [*(labels[number] for number in chosen), "nothing"]
    cells = table[np.ix_([*chosen, len(labels)], [*chosen, len(labels)])]
    side = max(26, min(56, 560 // len(names)))
    left = 30 + min(150, 7 * max(map(len, names)))
    top = 74 + min(110, 6 * max(map(len, names)))
    width, height = max(left + side * len(names) + 30, 460), top + side * len(names) + 40
    shares = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1)
    title = f"Confusions of {result.name}"
    parts = [text(24, 34, title, 17, TEXT, weight=600)]
    parts.append(text(24, 55, f"rows: true class, columns: detected class, confidence {confidence:g}, overlap 0.5", 12, MUTED))
    for number, name in enumerate(names):
        middle = (number + 0.5) * side
        parts.append(text(left - 8, top + middle + 4, _short(name), 11, TEXT, "end"))
        parts.append(text(left + middle + 4, top - 8, _short(name), 11, TEXT, turned=-45))
    parts += _cells(cells, shares, left, top, side)
    return document(width, height, parts)


def _cells(cells: NDArray[np.int64], shares: NDArray[np.float64], left: float, top: float, side: float) -> list[str]:
    parts = []
    for (row, column), count in np.ndenumerate(cells):
        x, y, share = left + column * side, top + row * side, float(shares[row, column])
        is_last = row == column == len(cells) - 1
        if not is_last:
            fill = f'fill="{ACCENT}" fill-opacity="{0.04 + 0.96 * share if count else 0:.2f}" stroke="{GRID}"'
            parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{side}" height="{side}" {fill}/>')
        if count and side >= 26:
            words = f"{count}" if count < 10_000 else f"{count / 1000:.0f}k"
            parts.append(text(x + side / 2, y + side / 2 + 4, words, 10, "#ffffff" if share > 0.75 else TEXT, "middle"))
    return parts


def _lines(title: str, subtitle: str, below: str, beside: str, lines: Sequence[Line]) -> str:
    inner_width, inner_height = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    parts = [text(24, 32, title, 17, TEXT, weight=600), text(24, 52, subtitle, 12, MUTED)]
    for tick in range(6):
        value = tick / 5
        x, y = _LEFT + inner_width * value, HEIGHT - _BOTTOM - inner_height * value
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}" stroke="{GRID}"/>')
        parts.append(text(_LEFT - 10, y + 4, f"{value:.1f}", 12, MUTED, "end"))
        parts.append(text(x, HEIGHT - _BOTTOM + 20, f"{value:.1f}", 12, MUTED, "middle"))
    parts.append(text(_LEFT + inner_width / 2, HEIGHT - 14, below, 12, TEXT, "middle"))
    if beside:
        parts.append(text(20, _TOP + inner_height / 2, beside, 12, TEXT, "middle", turned=-90))
    left = float(_LEFT)
    for name, colour, xs, ys, dashed in lines:
        points = " ".join(f"{_LEFT + inner_width * x:.1f},{HEIGHT - _BOTTOM - inner_height * y:.1f}" for x, y in zip(xs, ys, strict=True))
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        parts.append(f'<line x1="{left:.0f}" y1="68" x2="{left + 22:.0f}" y2="68" stroke="{colour}" stroke-width="2"{dash}/>')
        parts.append(text(left + 28, 72, _short(name), 12, TEXT))
        left += 50 + 6.6 * len(_short(name))
    return document(WIDTH, HEIGHT, parts)


def _short(name: str) -> str:
    return name if len(name) <= 22 else f"{name[:21]}…"
