"""The chart of the scaling report as SVG: speedups as bars, a group for each number of devices, the ideal as a line."""

from collections.abc import Sequence

from framefleet.app.cli.reports.svg import ACCENT, GREEN, GRID, MUTED, PAPER, TEXT, document, text
from framefleet.engine.bench.scaling import Mode, Point

WIDTH, HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 24, 92, 64
_COLOURS = {Mode.WEAK: ACCENT, Mode.STRONG: GREEN}
_NAMES = {Mode.WEAK: "weak: a stream per device", Mode.STRONG: "strong: one video"}
_BAR = 62
_GAP = 6
_WORDS = 42
"""Height of the two lines of text in a bar, pixels."""


def chart(points: Sequence[Point], title: str, subtitle: str) -> str:
    """An SVG document of WIDTH × HEIGHT. points: at least one."""
    modes = list(dict.fromkeys(point.mode for point in points))
    counts = sorted({point.count for point in points})
    top = max(*(point.ideal for point in points), *(point.speedup for point in points), 1.0)
    step = next(step for step in (0.25, 0.5, 1, 2, 4, 8, 16) if top / step <= 5)
    top = max(top * 1.12, top + 0.12 * step)
    inner = WIDTH - _LEFT - _RIGHT
    bar = min(_BAR, (inner / len(counts) - 40) / len(modes) - _GAP)

    def y(speedup: float) -> float:
        return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * speedup / top

    parts = [
        text(_LEFT - 32, 34, title, 17, TEXT, weight=600),
        text(_LEFT - 32, 55, subtitle, 12, MUTED),
        *_legend(modes),
    ]
    for number in range(int(top / step) + 1):
        at = y(number * step)
        parts.append(f'<line x1="{_LEFT}" y1="{at:.1f}" x2="{WIDTH - _RIGHT}" y2="{at:.1f}" stroke="{GRID}"/>')
        parts.append(text(_LEFT - 10, at + 4, f"{number * step:g}×", 12, MUTED, "end"))
    for place, count in enumerate(counts):
        middle = _LEFT + inner * (place + 0.5) / len(counts)
        group = [point for point in points if point.count == count]
        left = middle - (len(group) * (bar + _GAP) - _GAP) / 2
        for turn, point in enumerate(group):
            parts += _bar(point, left + turn * (bar + _GAP), bar, y)
        ideal = y(group[0].ideal)
        ends = left - 10, left + len(group) * (bar + _GAP) - _GAP + 10
        parts.append(
            f'<line x1="{ends[0]:.1f}" y1="{ideal:.1f}" x2="{ends[1]:.1f}" y2="{ideal:.1f}" stroke="{TEXT}" stroke-dasharray="5 4"/>'
        )
        parts.append(text(middle, HEIGHT - _BOTTOM + 22, f"{count} device{'s' if count > 1 else ''}", 13, TEXT, "middle", 600))
        rates = " · ".join(f"{point.rate:,.0f}" if point.rate >= 100 else f"{point.rate:.1f}" for point in group)
        parts.append(text(middle, HEIGHT - _BOTTOM + 41, f"{rates} frames/s", 12, MUTED, "middle"))
    return document(WIDTH, HEIGHT, parts)


def _bar(point: Point, left: float, width: float, y: object) -> list[str]:
    assert callable(y)
    top, bottom = y(point.speedup), y(0)
    middle = left + width / 2
    found = [f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{bottom - top:.1f}" rx="3" fill="{_COLOURS[point.mode]}"/>']
    ideal = y(point.ideal)
    begin = ideal if top < ideal < top + _WORDS else top  # so that the line of the ideal does not cross the text
    found.append(text(middle, begin + 19, f"{point.speedup:.2f}×", 13, PAPER, "middle", 600))
    if bottom - begin > _WORDS:
        found.append(text(middle, begin + 36, f"{point.efficiency:.0%}", 12, PAPER, "middle"))
    return found


def _legend(modes: Sequence[Mode]) -> list[str]:
    found, left = [], float(_LEFT - 32)
    for mode in modes:
        found.append(f'<rect x="{left:.0f}" y="66" width="12" height="12" rx="3" fill="{_COLOURS[mode]}"/>')
        found.append(text(left + 18, 76.5, _NAMES[mode], 12, TEXT))
        left += 40 + 6.4 * len(_NAMES[mode])
    found.append(f'<line x1="{left:.0f}" y1="72" x2="{left + 22:.0f}" y2="72" stroke="{TEXT}" stroke-dasharray="5 4"/>')
    found.append(text(left + 28, 76.5, "ideal", 12, TEXT))
    return found
