"""``framefleet [FILE…]``: opens the window."""

import difflib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from framefleet.app.cli import options
from framefleet.app.cli.options import make_parser
from framefleet.app.display import has_display, install_command, missing_libraries
from framefleet.app.main import COMMANDS
from framefleet.engine.devices.recording import Recording, read_recording
from framefleet.engine.media.sources import missing
from framefleet.engine.notices import UsageError, literal
from framefleet.engine.pool.prepared import prepared
from framefleet.engine.settings import ModelFiles, RunSettings
from framefleet.engine.settings.folders import Folder


def run(argv: Sequence[str]) -> int:
    """Open the window with these files queued. Raises UsageError if no file exists, or the recording cannot be read."""
    commands = "\n".join(f"  {name:15} {text}" for name, text in COMMANDS.items())
    parser = make_parser(
        "",
        "Detects objects in videos with YOLOv4 on every device of this machine. Without a command: the window.",
        usage="framefleet [FILE…] [OPTIONS]\n       framefleet COMMAND …",
        examples=("street.mp4", "--model yolov4-tiny pictures/", "demo", "detect street.mp4 --model yolov4-tiny"),
        epilog=f"commands:\n{commands}\n\n'framefleet COMMAND --help' explains one. A file named like a command: ./detect",
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="videos, pictures and folders to queue")
    parser.add_argument("--recording", type=Path, metavar="FILE", help="show the devices of a recorded machine")
    parser.add_argument("--new-window", action="store_true", help="open another window; without it, an open window takes the files")
    options.add_model_options(parser, size=False)
    arguments = parser.parse_args(argv)
    there = [path.exists() for path in arguments.files]
    for path, exists in zip(arguments.files, there, strict=True):
        if not exists and (not any(there) or _close_command(path)):
            raise UsageError(literal(_missing(path)))  # nothing to show, or a mistyped command; the window reports other missing files
    model = None if arguments.model is None else options.model_files(arguments)
    if model is None and (arguments.weights or arguments.labels):
        raise UsageError(literal("--weights and --labels belong to a model: give --model M.cfg too"))
    recording = None if arguments.recording is None else read_recording(arguments.recording)
    if arguments.files and model is None and recording is None and not arguments.new_window and _hand_over(arguments.files):
        return 0
    return open_window(arguments.files, model, recording=recording)


def _hand_over(files: Sequence[Path]) -> bool:
    """Let a window that is open already open these files; return whether there is one."""
    try:
        from framefleet.app.window.handover import hand_over
    except ImportError:
        return False  # ``open_window`` says what is missing
    return hand_over(files, Folder.SESSIONS.path)


def open_window(
    files: Sequence[Path], model: ModelFiles | None = None, demo: RunSettings | None = None, recording: Recording | None = None
) -> int:
    """Open the window with these files queued, or the demo, until it is closed. Returns the exit status.

    recording: a machine whose devices the window also shows.

    Raises UsageError if there is no display, or a library is missing.
    """
    _check_display()
    with prepared(again=True):
        try:
            from framefleet.app.window.main import run_window
        except ImportError as error:
            raise UsageError(literal(f"the window cannot be loaded ({error}): 'framefleet doctor' says what is missing")) from error
        return run_window(files, model, demo, recording)


def _check_display() -> None:
    """Check that there is a display, and that the libraries for an X server are installed: without them Qt ends the process.

    Raises UsageError if there is none, or if a library is missing; the message says how to install it.
    """
    if not has_display():
        raise UsageError(literal("there is no display for the window: use 'framefleet detect', or start it where there is one"))
    if sys.platform.startswith("linux") and os.environ.get("DISPLAY") and not os.environ.get("QT_QPA_PLATFORM"):
        missing = missing_libraries()
        if missing:
            raise UsageError(literal(f"the window needs {', '.join(missing)}: {install_command(missing)}"))


def _close_command(path: Path) -> list[str]:
    return difflib.get_close_matches(str(path), COMMANDS, 1)


def _missing(path: Path) -> str:
    name = str(path)
    if close := _close_command(path):
        return f"{name} does not exist; did you mean 'framefleet {close[0]} …'?"
    hint = "; 'framefleet --help' lists the commands" if name.isidentifier() else ""
    return f"{missing(path)}{hint}"
