"""Connects the window with a cluster: dialog, panels and messages."""

from PySide6.QtCore import QObject, QSettings
from PySide6.QtWidgets import QWidget

from framefleet.app.window.cluster.dialog import ClusterDialog
from framefleet.app.window.cluster.link import ClusterLink
from framefleet.app.window.session.background import Background
from framefleet.app.window.session.controller import DetectionController
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.translation import translate


class ClusterControl(QObject):
    """Owns the link and the dialog."""

    def __init__(
        self, window: QWidget, store: QSettings, background: Background, controller: DetectionController, banners: BannerArea
    ) -> None:
        super().__init__(window)
        self._window, self._banners = window, banners
        self.link = ClusterLink(store, background, controller, self)
        self.dialog: ClusterDialog | None = None
        self.link.said.connect(self._say)
        self.link.lost.connect(self._lost)
        self.link.connecting.connect(lambda: banners.remove("cluster"))

    def open_dialog(self) -> None:
        """Ask for an address, or show the machines."""
        if self.dialog is None:
            self.dialog = ClusterDialog(self.link, self._window)
        self.dialog.open()
        self.dialog.raise_()

    def _say(self, text: str) -> None:
        self._banners.show_banner("cluster", Severity.INFO, f"{formats.capitalised(text)}.")

    def _lost(self, why: str) -> None:
        text = translate("cluster", "{why}. Detection continues with the devices of this machine.").format(why=formats.capitalised(why))
        self._banners.show_banner("cluster", Severity.ERROR, text, (translate("cluster", "Connect…"), self.open_dialog))
