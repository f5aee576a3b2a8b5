"""Takes pictures of the window's screens: ``python screens.py FOLDER LANGUAGE THEME [SCREEN…]``, of all without a name.

``FONTCONFIG_FILE`` names a configuration with ``FONTS`` alone.

FOLDER needs ``street.mp4`` and ``stored.sqlite``, its results. The pictures are ``FOLDER/screens/SCREEN.png``.
Fonts, devices, dates and folders are the same on every machine.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from PySide6.QtCore import QAbstractAnimation, QPropertyAnimation, QSettings
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from framefleet.app.window import actions
from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.settings import choices, pages
from framefleet.app.window.widgets import translation
from framefleet.app.window.widgets.appearance import Theme, apply_theme
from framefleet.engine.devices.discovery import DeviceDescription
from tests.support.desktop.pictures import picture_of
from tests.support.desktop.settling import settle
from tests.support.desktop.states import all_screens
from tests.support.running import fork_server
from tests.support.window import CPU, feature

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


def fades(widget: QWidget) -> bool:
    """Whether a button inside a field is being faded in or out."""
    return any(each.state() is QAbstractAnimation.State.Running for each in widget.findChildren(QPropertyAnimation))


def take(folder: Path, wanted: Sequence[str]) -> None:
    """Take the pictures of a new window. wanted: the names of the screens, none = all."""
    shutil.copy("stored.sqlite", "session.sqlite")  # a state changes it
    store = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    store.setValue("window/exports", "/videos/results")
    window = MainWindow(store, Path("window") / "stored")
    window.show()
    with closing(all_screens(window)) as screens:
        for name, widget in screens:
            settle()
            if wanted and name not in wanted:
                continue
            rename_folder(widget, folder)
            settle(lambda widget=widget: not fades(widget))  # type: ignore[misc]
            feature(window, DevicePanel).refresh()  # else a part of it may be half a second older
            assert picture_of(widget).save(f"screens/{name}.png"), f"{name}: the picture is empty"
    window.quitting.ask = False
    window.close()


def main(folder: Path, language: str, theme: Theme, wanted: Sequence[str]) -> None:
    """Take the pictures."""
    os.chdir(folder)
    for name in ("screens", "sessions"):
        (folder / name).mkdir(exist_ok=True)
    fork_server.install()
    application = QApplication(["framefleet"])
    font = QFont("DejaVu Sans", 10)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    application.setFont(font)
    application.setCursorFlashTime(0)
    application.setQuitOnLastWindowClosed(False)
    translation.install(application, language)
    apply_theme(application, theme)
    choices.discover = lambda: DEVICES
    pages.own_folders = lambda: OWN_FOLDERS
    actions.user_log_path = lambda *_, **__: OWN_FOLDERS["Logs"]
    actions.version = lambda _: "1.0"
    take(folder, wanted)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2], Theme(sys.argv[3]), sys.argv[4:])
