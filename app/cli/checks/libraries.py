"""The doctor's checks of the libraries. Each is imported in another process, so that a crash is a finding."""

import os
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version

from framefleet.app.cli.checks.check import SECONDS, Check, Status, try_python
from framefleet.app.cli.checks.nvidia import check_nvidia
from framefleet.app.system_libraries import PACKAGES, missing_libraries
from framefleet.engine.devices.discovery import discover
from framefleet.engine.errors import DeviceError

REINSTALL = "install Framefleet again; in a checkout, delete the folder .venv first"
LIBRARIES = {
    "numpy": ("numpy", ""),
    "openvino": ("framefleet.engine.backends, openvino", ""),  # engine.backends turns off OpenVINO's telemetry
    "av": (
        "av",
        "missing = {'h264', 'hevc', 'vp9', 'av1', 'mjpeg'} - av.codecs_available; assert not missing, f'no decoder for {missing}'",
    ),
    "opencv-python-headless": ("cv2", ""),
    "lapx": ("lap", ""),
    "miniaudio": ("miniaudio", ""),
    "onnx": ("onnx", ""),
    "pillow": ("PIL.Image", ""),
    "platformdirs": ("platformdirs", ""),
    "requests": ("requests", ""),
    "tqdm": ("tqdm", ""),
}
WIDGETS = "import PySide6.QtWidgets, pyqtgraph; print(pyqtgraph.__version__)"
FONTS = "from PySide6.QtGui import QFontDatabase, QGuiApplication as A; a = A([]); print(len(QFontDatabase.families()))"
DISPLAY = "from PySide6.QtGui import QGuiApplication as A; a = A([]); print(a.platformName(), a.primaryScreen().size().toTuple())"


def check_libraries() -> Iterator[Check]:
    """Check all libraries, the devices and the window."""
    for distribution, (module, test) in LIBRARIES.items():
        yield _library(distribution, f"import {module}\n{test}")
    yield from check_nvidia()
    yield from _devices()
    yield from _window()


def install_command(libraries: Iterable[str]) -> str:
    """The command that installs these system libraries on Debian and Ubuntu."""
    return f"sudo apt-get install -y {' '.join(sorted({PACKAGES[name] for name in libraries}))}"


def _library(distribution: str, code: str) -> Check:
    try:
        found = version(distribution)
    except PackageNotFoundError:
        return Check(distribution, Status.PROBLEM, "not installed", REINSTALL)
    _, error = try_python(code)
    if error is not None:
        return Check(distribution, Status.PROBLEM, f"{found}: {error}", REINSTALL)
    return Check(distribution, Status.OK, found)


def _devices() -> Iterator[Check]:
    try:
        devices = discover(SECONDS)
    except DeviceError as error:
        yield Check("devices", Status.PROBLEM, str(error), "see the finding for openvino above")
        return
    for device in devices:
        if device.available:
            yield Check("device", Status.OK, str(device))
        else:
            remedy = "the line above says how to make it usable" if device.id.kind == "cuda" else "update its driver"
            yield Check("device", Status.WARNING, str(device), f"{remedy}; the other devices work without it")


def _window() -> Iterator[Check]:
    """Check what only the window needs. The worst finding is a warning."""
    try:
        found = version("PySide6-Essentials")
    except PackageNotFoundError:
        yield Check("PySide6", Status.WARNING, "not installed: the window cannot start", REINSTALL)
        return
    if found.startswith("6.12.0") and sys.version_info < (3, 12):
        yield Check("PySide6", Status.WARNING, f"{found} aborts on this Python", REINSTALL)
        return
    if sys.platform.startswith("linux"):
        missing = missing_libraries()
        if missing:
            detail = f"missing, the window cannot start: {', '.join(missing)}"
            yield Check("Qt's system libraries", Status.WARNING, detail, install_command(missing))
        else:
            yield Check("Qt's system libraries", Status.OK, f"all {len(PACKAGES)} found")
    graphs, error = try_python(WIDGETS, {"QT_QPA_PLATFORM": "offscreen"})
    if error is not None:
        yield Check("PySide6", Status.WARNING, f"{found}, the window cannot start: {error}", REINSTALL)
        return
    yield Check("PySide6", Status.OK, f"{found}, with pyqtgraph {graphs}")
    fonts, error = try_python(FONTS, {"QT_QPA_PLATFORM": "offscreen"})
    if error is not None or fonts == "0":
        yield Check("fonts", Status.WARNING, error or "none: the window shows no text", "sudo apt-get install -y fonts-dejavu-core")
    yield _display()


def _display() -> Check:
    name = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY") or os.environ.get("QT_QPA_PLATFORM")
    if sys.platform.startswith("linux") and not name:
        remedy = "detect, bench and devices work without a display; for the window use a desktop, ssh -X, or xvfb-run"
        return Check("display", Status.WARNING, "there is none", remedy)
    screen, error = try_python(DISPLAY)
    if error is not None:
        return Check(
            "display", Status.WARNING, f"{name} cannot be opened: {error}", "check DISPLAY, and that you may use that screen (xauth)"
        )
    return Check("display", Status.OK, f"{name or ''} {screen}".strip())
