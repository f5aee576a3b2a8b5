"""Finds out whether a window can be shown."""

import os
import sys


def has_display() -> bool:
    """Whether there is a display. On Linux the environment names it; other systems always have one."""
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
