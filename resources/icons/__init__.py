"""Line icons, 20×20, drawn for Framefleet; ``currentColor`` stands for the colour they are shown in."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def icon_svg(name: str, colour: str) -> bytes:
    """The SVG of ``NAME.svg`` here, in one colour (``#rrggbb``).

    Raises:
        FileNotFoundError: no such icon.
    """
    return files(__name__).joinpath(f"{name}.svg").read_text("utf-8").replace("currentColor", colour).encode()


def icon_path(name: str) -> Path:
    """Where ``NAME.svg`` lies: for style sheets, which take files only."""
    return Path(__file__).with_name(f"{name}.svg")
