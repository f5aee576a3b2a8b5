"""Takes pictures of the window's screens: ``python screens.py FOLDER LANGUAGE THEME…``; QT_SCALE_FACTOR sets the scale.

FOLDER needs ``street.mp4`` and ``session.sqlite``, its results. The pictures are ``FOLDER/pictures/SCREEN.THEME.jpg``. Fonts, devices,
dates and folders are the same on every machine.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from PySide6.QtCore import QSettings, QSize
from PySide6.QtGui import QFont, QFontDatabase, QScreen
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from app.window.main_window import MainWindow
from app.window.models import setup
from app.window.queue.item import ItemState
from app.window.queue.model import THUMBNAIL_ROLE
from app.window.sessions.dialog import SessionsDialog
from app.window.viewer.classes import COUNT_ROLE
from app.window.viewer.filter import ViewFilter
from app.window.viewer.viewer import Viewer
from app.window.widgets import translation
from app.window.widgets.appearance import Theme, apply_theme, current_theme
from app.window.widgets.banner import Severity
from engine.devices.description import DeviceDescription
from engine.devices.recording import Recording
from engine.devices.telemetry.snapshot import Telemetry
from engine.types import DeviceId
from tests.support.devices.topologies import eight
from tests.support.window import CPU, queue_item, write_results

FONTS = Path(__file__).parents[1] / "fonts"
DEVICES = (DeviceDescription(CPU, "Some Processor", "OpenVINO 2026.4", ("fp32", "bf16")),)
GIB = 1 << 30
SCREEN = QSize(1600, 1000)
MOMENT = 0.4
"""The frame that is shown, seconds."""
QUALITY = 90
"""Of JPEG files: PNG compression would take a fifth of the time. Each golden holds the means of squares, which do not notice it."""
PATIENCE = 60.0
"""Seconds until a screen that does not become ready is an error."""


def recorded_gpus() -> Recording:
    """A machine with eight GPUs under load."""
    gpus = [DeviceId("cuda", str(number)) for number in range(8)]
    described = tuple(
        DeviceDescription(gpu, "NVIDIA H200", "TensorRT", ("fp32", "fp16"), memory=150 * 10**9, driver="580.1", compute_capability="9.0")
        for gpu in gpus
    )
    telemetry = {
        gpu: Telemetry(
            gpu,
            utilization=20.0 + 10 * number,
            decoder=90.0 - 10 * number,
            memory_used=(10 + 12 * number) * GIB,
            memory_total=140 * GIB,
            power=300.0 + 50 * number,
            power_limit=700.0,
            temperature=40.0 + 6 * number,
            sm_clock=1980.0,
            sm_clock_limit=1980.0,
            pcie_generation=5,
            pcie_width=16,
            nvlinks=18,
        )
        for number, gpu in enumerate(gpus)
    }
    return Recording(described, telemetry, eight())


def screens(window: MainWindow) -> Iterator[tuple[str, QWidget]]:
    """Bring the window into one state after the other. Each state builds on the one before."""
    yield "empty", window
    window.setup.open_models()
    assert window.setup.library.dialog is not None
    yield "models", window.setup.library.dialog
    window.setup.library.dialog.reject()
    window.setup.open_dialog()
    dialog = window.setup.dialog
    assert dialog is not None
    settle(lambda: bool(dialog.devices.boxes))
    yield "settings", dialog
    dialog.pane.fold.setChecked(True)
    settle(lambda: dialog.advanced.isVisible())
    dialog.pane.ensureWidgetVisible(dialog.advanced)
    yield "settings.advanced", dialog
    dialog.reject()
    videos = [queue_item(Path(f"/videos/camera {number}.mp4"), key=100 + number, reason="Needs a model") for number in range(4)]
    window.items.extend(videos)
    settle(lambda: "of 4" in window.queue.heading.summary.accessibleName() or "von 4" in window.queue.heading.summary.accessibleName())
    settle(lambda: bool(window.status.queue.text()))
    yield "queue", window
    for item in videos:
        window.items.remove(item.key)
    window.open_paths([Path("session.sqlite")])
    canvas, player = window.viewer.canvas, window.viewer.player
    settle(lambda: player.info is not None and canvas.result is not None)
    player.pause()
    player.seek(MOMENT)
    settle(lambda: canvas.result is not None and abs(canvas.result.ref.pts - MOMENT) < 0.05)
    classes = window.filter.classes
    settle(lambda: any(classes.index(row, 0).data(COUNT_ROLE) == 502 for row in range(classes.rowCount())))
    settle(lambda: all(window.items.index(row).data(THUMBNAIL_ROLE) is not None for row in range(len(window.items))))
    yield "finished", window
    window.viewer.toggle_statistics()
    window.actions_.zones.setChecked(True)
    window.actions_.correct.setChecked(True)
    settle(lambda: statistics_agree(window.viewer) and window.zones.list.model.rowCount() > 0)
    yield "playing", window
    window.viewer.toggle_statistics()
    window.actions_.zones.setChecked(False)
    window.actions_.correct.setChecked(False)
    window.exports.ask(window.queue.current, ViewFilter())
    exporting = next(widget for widget in window.findChildren(QWidget) if type(widget).__name__ == "ExportDialog")
    yield "export", exporting
    exporting.close()
    for number in range(3):
        write_results(Path(f"sessions/2026-11-0{number + 1} 12-00-00.sqlite"), Path(f"/videos/camera {number}.mp4"), 100 * (number + 1))
        os.utime(f"sessions/2026-11-0{number + 1} 12-00-00.sqlite", (1_793_880_000 + 86_400 * number,) * 2)
    sessions = SessionsDialog(Path("sessions"), window.background, lambda: set(), window)
    sessions.open()
    settle(lambda: sessions.table.topLevelItemCount() >= 3)
    yield "sessions", sessions
    sessions.close()
    window.device_tabs.show_recording(recorded_gpus())
    cards = window.device_tabs.devices.cards
    settle(lambda: all(card.row.content.metrics for card in cards))  # the panel shows figures of visible cards twice a second
    yield "devices", window
    window.device_tabs.show_tab(1)
    yield "topology", window
    broken = queue_item(Path("/videos/broken.mp4"), ItemState.FAILED, key=200, reason="/videos/broken.mp4: it has no video stream")
    window.items.extend([broken])
    before = window.queue.heading.summary.accessibleName()
    window.queue.show_item(200)
    settle(lambda: window.queue.heading.summary.accessibleName() != before)
    window.banners.show_banner("one", Severity.INFO, "The model YOLOv4-tiny is downloaded.", ("Use it", lambda: None))
    window.banners.show_banner("two", Severity.WARNING, "cuda:1 is being restarted: its process ended.")
    window.banners.show_banner("three", Severity.ERROR, "Detection stopped: the disk is full.", ("Settings…", lambda: None))
    yield "errors", window


def statistics_agree(viewer: Viewer) -> bool:
    """Whether the picture has been scaled to its new place, and the statistics say so."""
    shown, placement, canvas = viewer.player.current, viewer.canvas.placement, viewer.canvas
    if shown is None or placement is None:
        return False
    width = shown.image.width()
    return abs(width - placement.width * canvas.devicePixelRatio()) < 2 and f"{width} × " in canvas.statistics


def settle(ready: Callable[[], bool] = lambda: True) -> None:
    """Process events until a condition holds and nothing is left to do."""
    deadline = time.monotonic() + PATIENCE
    while not ready():
        QApplication.processEvents()
        if time.monotonic() > deadline:
            raise TimeoutError("the screen does not become ready")
        time.sleep(0.01)
    for _ in range(5):
        QApplication.processEvents()


def rename_folder(widget: QWidget, folder: Path) -> None:
    """Show another folder than that of this run."""
    for _ in range(2):  # a change of one field may change another
        for field in widget.findChildren(QLineEdit):
            if str(folder) in field.text():
                field.setText(field.text().replace(str(folder), "/videos"))
                field.setCursorPosition(0)
        settle()


def main(folder: Path, language: str, themes: list[Theme]) -> None:
    """Take all pictures in these themes."""
    os.chdir(folder)
    for name in ("pictures", "sessions"):
        (folder / name).mkdir(exist_ok=True)
    application = QApplication(["framefleet"])
    for path in sorted(FONTS.glob("*.ttf")):
        QFontDatabase.addApplicationFont(str(path))
    font = QFont("DejaVu Sans", 10)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    application.setFont(font)
    application.setCursorFlashTime(0)
    translation.install(application, language)
    apply_theme(application, Theme.LIGHT if themes[0] is Theme.DARK else Theme.DARK)  # the first picture is taken after a change
    setup.discover = lambda: DEVICES
    QScreen.availableSize = lambda _screen: SCREEN  # type: ignore[method-assign]  # Qt's screen without a display has 800 × 800 pixels
    store = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    store.setValue("window/exports", "/videos/results")
    window = MainWindow(store, Path("stored"))
    window.show()
    with closing(screens(window)) as states:
        for name, widget in states:
            for theme in sorted(themes, key=lambda theme: theme is not current_theme()):
                if theme is not current_theme():  # it takes a while
                    apply_theme(application, theme)
                settle()
                rename_folder(widget, folder)
                widget.grab().save(f"pictures/{name}.{theme}.jpg", quality=QUALITY)
    window.quitting.ask = False
    window.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2], [Theme(name) for name in sys.argv[3:]])
