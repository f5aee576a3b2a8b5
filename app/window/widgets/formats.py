"""Formats numbers, times and long names for display, in the language of the window."""

import re

from PySide6.QtCore import QLocale

from framefleet.app.window.widgets.translation import translate
from framefleet.engine.model.load import ModelSummary

DASH = "\N{EN DASH}"
COUNTED = {
    "byte": "%Ln bytes",
    "class": "%Ln classes",
    "detection": "%Ln detections",
    "device": "%Ln devices",
    "file": "%Ln files",
    "frame": "%Ln frames",
    "item": "%Ln items",
    "line": "%Ln lines",
    "link": "%Ln links",
    "NVLink": "%Ln NVLinks",
    "object": "%Ln objects",
    "picture": "%Ln pictures",
    "zone": "%Ln zones",
}
"""What ``plural`` counts. The translations have the singular, the English one too."""


def clock(seconds: float, decimals: int = 0) -> str:
    """A position in a video: ``0:07``, ``12:05``, ``1:02:09``; with one decimal ``0:07.4``. It is rounded down, as on a clock."""
    whole, rest = divmod(int(max(seconds, 0.0) * 10**decimals + 1e-6), 10**decimals)
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    text = f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
    return f"{text}{QLocale().decimalPoint()}{rest:0{decimals}}" if decimals else text


def remaining(seconds: float) -> str:
    """The remaining time, rounded: ``8 s``, ``4 min``, ``2 h 05 min``."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    minutes = round(whole / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def rate(frames_per_second: float) -> str:
    """Throughput with a precision that depends on its size: ``0.42``, ``9.7``, ``128``, ``1,234``."""
    return decimal(frames_per_second, 2 if frames_per_second < 0.995 else 1 if frames_per_second < 99.95 else 0)


def milliseconds(value: float | None) -> str:
    """A latency without its unit: ``0.84``, ``12.3``, ``640``; a dash for None."""
    return DASH if value is None else rate(value)


LONG_MS = 9999.5
"""The latency from which narrow places show seconds."""


def short_latency(value: float | None) -> str:
    """A latency in five places: ms without the unit up to ``9,999``, then with it ``16.2 s``, ``180 s``, ``47 min``; a dash for None."""
    if value is None or value < LONG_MS:
        return milliseconds(value)
    return f"{rate(value / 1000)} s" if value < 999_500 else f"{count(round(value / 60_000))} min"


def count(value: int) -> str:
    """A whole number with thousands separated: ``12,345``."""
    return QLocale().toString(value)


def decimal(value: float, decimals: int = 1) -> str:
    """A number with this many decimals: ``1,234.5``."""
    return QLocale().toString(float(value), "f", decimals)


def quantity(value: float, unit: str) -> str:
    """A whole number with its unit: ``1,980 MHz``."""
    return f"{count(round(value))} {unit}"


def plural(value: int, what: str) -> str:
    """A number of things: ``1 file``, ``3 files``, ``1,000 files``. what: a key of ``COUNTED``."""
    return translate("counts", COUNTED[what], None, value)


def percent(fraction: float) -> str:
    """``0 %`` to ``100 %``, rounded down: only finished work shows 100 %."""
    return f"{int(min(max(fraction, 0.0), 1.0) * 100 + 1e-9)} %"


def part(fraction: float) -> str:
    """A part of a whole: ``33 %``, and ``< 1 %`` for a small part, which is not 0."""
    return "< 1 %" if 0.0 < fraction < 0.005 else f"{100 * fraction:.0f} %"


def share(fraction: float) -> str:
    """A confidence or an accuracy with one decimal: ``25.0 %``."""
    return f"{decimal(100 * fraction)} %"


def gib(size: float) -> str:
    """Bytes of memory: ``15.9 GiB``."""
    return f"{decimal(size / (1 << 30))} GiB"


def size(nbytes: float) -> str:
    """The size of files: ``812 bytes``, ``4.2 MiB``, ``15.9 GiB``."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if nbytes >= factor:
            return f"{decimal(nbytes / factor)} {unit}"
    return plural(round(nbytes), "byte")


def shortened(text: str, most: int = 50) -> str:
    """Text with long names cut in the middle to ``most`` characters. Lines do not break in names, so they would widen the window."""
    kept = (most - 1) // 2
    return re.sub(rf"[^\s/]{{{most + 1},}}", lambda name: f"{name[0][:kept]}…{name[0][-kept:]}", text)


def verbatim(text: str) -> str:
    """Text for a button or a menu, in which Qt takes a single ampersand as the mark of a key."""
    return text.replace("&", "&&")


def model_line(summary: ModelSummary) -> str:
    """A model in one line: ``320 × 320 pixels, 80 classes, 0.36 million parameters, 0.25 GFLOP a picture``."""
    return translate(
        "window", "{width} × {height} pixels, {classes} classes, {parameters} million parameters, {gflops} GFLOP a picture"
    ).format(
        width=summary.width,
        height=summary.height,
        classes=summary.classes,
        parameters=rate(summary.parameters / 1e6),
        gflops=DASH if summary.gflops is None else rate(summary.gflops),
    )
