"""``framefleet [FILE…]``: the window."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from app.cli.options import make_parser
from app.main import COMMANDS
from engine.errors import UsageError

LATER = ("demo", "topology")


def run(argv: Sequence[str]) -> int:
    """Open the window with these files queued.

    Raises:
        UsageError: a file does not exist.
    """
    commands = "\n".join(f"  {name:9} {text}" for name, text in COMMANDS.items())
    parser = make_parser(
        "",
        "Detects objects in videos with YOLOv4 on every device of this machine. Without a command: the window.",
        usage="framefleet [FILE…]\n       framefleet COMMAND …",
        epilog=f"commands:\n{commands}\n\n'framefleet COMMAND --help' explains one. A file named like a command: ./detect",
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="videos, pictures and folders to queue")
    arguments = parser.parse_args(argv)
    for path in arguments.files:
        if not path.exists():
            raise UsageError(_missing(path))

    from app.window.main import run_window

    return run_window(arguments.files, arguments)


def _missing(path: Path) -> str:
    name = str(path)
    if name in LATER:
        return f"'{name}' comes in a later version; this one has {', '.join(COMMANDS)}"
    close = difflib.get_close_matches(name, COMMANDS, 1)
    return f"there is no file {name}" + (f"; did you mean 'framefleet {close[0]} …'?" if close else "")
