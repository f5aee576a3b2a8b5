"""``framefleet install-desktop``: adds Framefleet to the menu of the desktop, with its icon and the files that it opens."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from framefleet.app.cli.options import make_parser
from framefleet.app.terminal import print_line
from framefleet.engine.notices import UsageError, literal
from framefleet.resources.icons import icon_svg

NAME = "framefleet"
ACCENT = "#6aa5ff"


def run(argv: Sequence[str]) -> int:
    """Write or remove the files. Exit status 0. Raises UsageError if this system has no such menu, or the files cannot be written."""
    description = "Add Framefleet to the desktop's menu, with its icon, and to 'Open with' of videos and pictures (Linux)."
    parser = make_parser("install-desktop", description, examples=("", "--remove"))
    parser.add_argument("--remove", action="store_true", help="remove what this command has written")
    arguments = parser.parse_args(argv)
    if not sys.platform.startswith("linux"):
        raise UsageError("install-desktop is for Linux: on other systems, pin the running window to the menu or the task bar")
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    written = {
        data / "applications" / f"{NAME}.desktop": entry(command()).encode(),
        data / "icons" / "hicolor" / "scalable" / "apps" / f"{NAME}.svg": icon_svg(NAME, ACCENT),
    }
    try:
        for path, content in written.items():
            if arguments.remove:
                path.unlink(missing_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            print_line(f"{'removed' if arguments.remove else 'wrote'} {path}")
    except OSError as error:
        raise UsageError(literal(f"{error.filename} cannot be changed: {error.strerror}; check the permissions of its folder")) from error
    if (update := shutil.which("update-desktop-database")) is not None:  # without it, desktops notice the file later
        subprocess.run([update, str(data / "applications")], check=False, capture_output=True)
    return 0


def command() -> list[str]:
    """The command that starts Framefleet: the script beside this Python, else this Python with the module."""
    script = Path(sys.executable).with_name(NAME)
    return [str(script)] if script.exists() else [sys.executable, "-m", "framefleet.app.main"]


def entry(start: Sequence[str]) -> str:
    """The desktop entry (freedesktop.org, Desktop Entry Specification 1.5) with the command ``start``, which stands before the files.

    "Open with" offers Framefleet for its types. Framefleet becomes the default for none of them.
    """
    words = " ".join(f'"{_quoted(word)}"' for word in start)
    return (
        files("framefleet.resources").joinpath("desktop/framefleet.desktop").read_text("utf-8").replace("Exec=framefleet", f"Exec={words}")
    )


def _quoted(word: str) -> str:
    """A word inside double quotes of the key ``Exec``: quoted once for the command line, and once for the file."""
    for letter in '\\"`$':
        word = word.replace(letter, f"\\{letter}")
    return word.replace("\\", "\\\\").replace("%", "%%")
