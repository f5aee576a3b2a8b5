"""Line icons, 20×20, drawn for Framefleet, as SVG files with ``currentColor`` as their colour."""

from importlib.resources import files
from pathlib import Path


def icon_svg(name: str, colour: str) -> bytes:
    """Return the content of ``NAME.svg`` with ``currentColor`` replaced by a colour (``#rrggbb``).

    Raises
    ------
    FileNotFoundError
        There is no such icon.
    """
    return files(__name__).joinpath(f"{name}.svg").read_text("utf-8").replace("currentColor", colour).encode()


def icon_path(name: str) -> Path:
    """Return the path of ``NAME.svg``, for style sheets, which accept only files."""
    return Path(__file__).with_name(f"{name}.svg")
