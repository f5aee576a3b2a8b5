"""Takes pictures of the window's screens: ``python screens.py FOLDER LANGUAGE THEME… [whole]``; QT_SCALE_FACTOR sets the scale.

FOLDER needs ``street.mp4`` and ``stored.sqlite``, its results. The pictures are ``FOLDER/screens/SCREEN.THEME.png``, small ones as in
tests/goldens/pictures, or whole ones. Fonts, devices, dates and folders are the same on every machine.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import closing
from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from framefleet.app.window import actions
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.settings import choices, folders
from framefleet.app.window.widgets import translation
from framefleet.app.window.widgets.appearance import Theme, apply_theme, current_theme
from framefleet.engine.devices.discovery import DeviceDescription
from tests.support.desktop.settling import settle
from tests.support.desktop.small_pictures import small
from tests.support.desktop.states import all_screens
from tests.support.running import fork_server
from tests.support.window import CPU

FONTS = Path(__file__).parents[1] / "fonts"
DEVICES = (DeviceDescription(CPU, "Some Processor", "OpenVINO 2026.4", ("fp32", "bf16")),)
OWN_FOLDERS = {name: Path(f"/home/user/framefleet/{name.lower()}") for name in ("Sessions", "Models", "Cache", "Logs")}


def rename_folder(widget: QWidget, folder: Path) -> None:
    """Show another folder than that of this run."""
    for _ in range(2):  # a change of one field may change another
        for field in widget.findChildren(QLineEdit):
            if str(folder) in field.text():
                field.setText(field.text().replace(str(folder), "/videos"))
                field.setCursorPosition(0)
        settle()


def take(application: QApplication, folder: Path, theme: Theme, whole: bool) -> None:
    """Take the pictures of a new window in one theme."""
    Path("session.sqlite").unlink(missing_ok=True)  # a state changes it
    shutil.copy("stored.sqlite", "session.sqlite")
    store = QSettings(str(folder / f"settings.{theme}.ini"), QSettings.Format.IniFormat)
    store.setValue("window/exports", "/videos/results")
    window = MainWindow(store, Path(theme) / "stored")
    window.show()
    if theme is not current_theme():
        apply_theme(application, theme)  # the window takes the colours of another theme while it is shown
    with closing(all_screens(window)) as screens:
        for name, widget in screens:
            settle()
            rename_folder(widget, folder)
            picture = widget.grab().toImage()
            target = f"screens/{name}.{theme}"
            saved = picture.save(f"{target}.jpg", quality=90) if whole else small(picture, picture.devicePixelRatio()).save(f"{target}.png")
            assert saved, f"{target}: the picture is empty"
    window.quitting.ask = False
    window.close()


def main(folder: Path, language: str, themes: list[Theme], whole: bool) -> None:
    """Take all pictures in these themes."""
    os.chdir(folder)
    for name in ("screens", "sessions"):
        (folder / name).mkdir(exist_ok=True)
    fork_server.install()
    application = QApplication(["framefleet"])
    for path in sorted(FONTS.glob("*.ttf")):
        QFontDatabase.addApplicationFont(str(path))
    font = QFont("DejaVu Sans", 10)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    application.setFont(font)
    application.setCursorFlashTime(0)
    application.setQuitOnLastWindowClosed(False)
    translation.install(application, language)
    apply_theme(application, Theme.DARK)
    choices.discover = lambda: DEVICES
    folders.own_folders = lambda: OWN_FOLDERS
    actions.user_log_path = lambda *_, **__: OWN_FOLDERS["Logs"]
    actions.version = lambda _: "1.0"
    for theme in themes:
        take(application, folder, theme, whole)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2], [Theme(name) for name in sys.argv[3:] if name != "whole"], "whole" in sys.argv[3:])
