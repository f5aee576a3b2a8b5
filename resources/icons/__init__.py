"""Line icons, 20×20, drawn for Framefleet. ``currentColor`` in a file is replaced by the colour to show."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def icon_svg(name: str, colour: str) -> bytes:
    """The content of ``NAME.svg`` in one colour (``#rrggbb``).

    Raises:
        FileNotFoundError: there is no such icon.
    """
    return files(__name__).joinpath(f"{name}.svg").read_text("utf-8").replace("currentColor", colour).encode()


def icon_path(name: str) -> Path:
    """The path of ``NAME.svg``: style sheets only accept files."""
    return Path(__file__).with_name(f"{name}.svg")
