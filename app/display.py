"""Whether a window can be shown here."""

from __future__ import annotations

import os
import sys


def has_display() -> bool:
    """Whether there is a screen, or something that stands for one; elsewhere than on Linux there always is."""
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
