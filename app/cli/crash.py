"""What a user sees of a mistake of ours: one line, and a file to send."""

from __future__ import annotations

import platform
import sys
import traceback
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version

from platformdirs import user_log_path


def report_crash(error: Exception, arguments: Sequence[str], debug: bool) -> None:
    """Say on standard error what happened, with the traceback there (debug) or in a log file."""
    now = datetime.now().astimezone()
    machine = f"framefleet {version('framefleet')}, Python {platform.python_version()}, {platform.platform()}"
    details = f"{now.isoformat()}\n{machine}\n{list(arguments)}\n\n{''.join(traceback.format_exception(error))}"
    summary = f"{type(error).__name__}: {error}".splitlines()[0]
    where = f"the details:\n{details}"
    if not debug:
        try:
            path = user_log_path("framefleet", appauthor=False, ensure_exists=True) / f"crash-{now:%Y%m%d-%H%M%S}.log"
            path.write_text(details, encoding="utf-8")
            where = f"the details are in {path}"
        except OSError:
            pass  # then they are printed
    print(f"framefleet: an error inside Framefleet ({summary}). Please report it; {where}", file=sys.stderr)
