"""Whether a window can be shown: a display, and the system libraries that Qt needs and its wheel does not contain.

``python -m framefleet.app.display`` prints the Debian and Ubuntu packages that are missing, one a line. The script ``run`` of a checkout
uses it.
"""

import ctypes
import os
import sys
from collections.abc import Iterable


def has_display() -> bool:
    """Whether there is a display. On Linux the environment names it; other systems always have one."""
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}


def missing_libraries() -> list[str]:
    """The libraries among PACKAGES that cannot be loaded."""

    def loads(name: str) -> bool:
        try:
            ctypes.CDLL(name)
        except OSError:
            return False
        return True

    return [name for name in PACKAGES if not loads(name)]


def install_command(libraries: Iterable[str]) -> str:
    """The command that installs these system libraries on Debian and Ubuntu."""
    return f"sudo apt-get install -y {' '.join(sorted({PACKAGES[name] for name in libraries}))}"


if __name__ == "__main__":
    for library in missing_libraries():
        print(PACKAGES[library])
