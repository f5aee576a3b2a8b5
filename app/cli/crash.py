"""Prints an error in one line. For an error inside Framefleet, the line names a log file with the details."""

import errno
import platform
import sys
import traceback
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version

from platformdirs import user_log_path

from framefleet.app.terminal import print_line
from framefleet.engine.media.live.address import hide
from framefleet.engine.notices import FramefleetError
from framefleet.engine.processes.outcome import lack_of_resources

_PATHS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP)
"""Errors of paths, which the user can correct. Even a question whether a file exists raises them."""


def report(error: Exception, arguments: Sequence[str], debug: bool) -> None:
    """Print an error on standard error. An internal error's traceback goes to a log file, or with ``debug`` to standard error."""
    if isinstance(error, FramefleetError):
        if debug:
            traceback.print_exception(error)
        print_line(f"framefleet: {error}", sys.stderr)
        return
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        print_line(f"framefleet: {error.filename or 'standard output'} cannot be written: the disk is full: free some space", sys.stderr)
        return
    if isinstance(error, OSError) and error.errno in _PATHS and error.filename is not None:
        if debug:
            traceback.print_exception(error)
        print_line(f"framefleet: {error.filename} cannot be used: {error.strerror}; check the name and the permissions", sys.stderr)
        return
    if (lack := lack_of_resources(error)) is not None:
        print_line(f"framefleet: {lack}", sys.stderr)
        return
    now = datetime.now().astimezone()
    machine = f"framefleet {version('framefleet')}, Python {platform.python_version()}, {platform.platform()}"
    trace = "".join(traceback.format_exception(error))
    shown = [hide(argument) for argument in arguments]
    for argument, harmless in zip(arguments, shown, strict=True):
        trace = trace.replace(argument, harmless) if argument != harmless else trace
    details = f"{now.isoformat()}\n{machine}\n{shown}\n\n{trace}"
    summary = f"{type(error).__name__}: {error}".splitlines()[0]
    where = f"the details:\n{details}"
    if not debug:
        try:
            path = user_log_path("framefleet", appauthor=False, ensure_exists=True) / f"crash-{now:%Y%m%d-%H%M%S}.log"
            path.write_text(details, encoding="utf-8")
            where = f"the details are in {path}"
        except OSError:
            pass  # then the line contains them
    print(f"framefleet: an error inside Framefleet ({summary}). Please report it; {where}", file=sys.stderr)
