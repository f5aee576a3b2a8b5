"""The models that can be downloaded and used with a click."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.window.models.card import ModelCard
from app.window.models.downloads import ModelDownloads
from app.window.queue.file_drops import local_paths
from app.window.queue.intake import sort_paths
from app.window.widgets.screen_fit import within_screen
from engine.errors import FramefleetError
from engine.model.registry.catalogue import FAMILY, ModelEntry
from engine.model.registry.installed import files_of, remove_model


class ModelList(QDialog):
    """A card for each model. in_use: the cfg that is detected with. entries: all, unless given.

    chosen: ModelFiles to use. own_requested: the user has files of their own. dropped: Intake of model files.
    """

    chosen = Signal(object)
    own_requested = Signal()
    dropped = Signal(object)

    def __init__(
        self, downloads: ModelDownloads, in_use: Path | None, parent: QWidget | None = None, entries: Sequence[ModelEntry] | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Models")
        self.setModal(True)
        self.setAcceptDrops(True)
        self._downloads = downloads
        self._in_use = in_use
        self.cards = {entry.name: ModelCard(entry) for entry in entries or FAMILY}
        self._arrange()
        for card in self.cards.values():
            card.download_requested.connect(self._download)
            card.cancel_requested.connect(self._cancel)
            card.use_requested.connect(self._use)
            card.remove_requested.connect(self._remove)
        downloads.progressed.connect(self._refresh_some)
        downloads.ended.connect(self._refresh_one)
        self._refresh_some(tuple(self.cards))

    def _arrange(self) -> None:
        title = QLabel("Choose a model")
        title.setProperty("role", "title")
        about = QLabel("The official YOLOv4 family. All find the 80 classes of COCO: people, vehicles, animals, everyday things.")
        about.setProperty("role", "muted")
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(24, 2, 24, 16)
        column.setSpacing(8)
        for card in self.cards.values():
            column.addWidget(card)
        column.addStretch()
        scroll = QScrollArea()
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its buttons have it, and are scrolled to
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(inside)
        inside.setObjectName("inside")
        inside.setStyleSheet("#inside { background: transparent; }")
        self.own = QPushButton("Use files of my own…")
        self.own.setToolTip("Any Darknet .cfg and .weights; they can also be dropped here")
        self.own.clicked.connect(self.own_requested)
        self.open_folder = QPushButton("Show folder")
        self.open_folder.setToolTip(str(self._downloads.folder))
        self.open_folder.clicked.connect(self._show_folder)
        self.close_button = QPushButton("Close")
        self.close_button.clicked.connect(self.reject)
        for button in (self.own, self.open_folder, self.close_button):
            button.setAutoDefault(False)
        below = QHBoxLayout()
        below.setContentsMargins(24, 12, 24, 14)
        below.setSpacing(8)
        below.addWidget(self.own)
        below.addWidget(self.open_folder)
        below.addStretch()
        below.addWidget(self.close_button)
        head = QVBoxLayout()
        head.setContentsMargins(24, 18, 24, 12)
        head.setSpacing(4)
        head.addWidget(title)
        head.addWidget(about)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(head)
        outer.addWidget(scroll, 1)
        outer.addLayout(below)
        self.resize(within_screen(self, 1080, min(outer.sizeHint().height() + inside.sizeHint().height(), 780)))

    @Slot(object)
    def _download(self, entry: ModelEntry) -> None:
        self._downloads.start(entry)

    @Slot(object)
    def _cancel(self, entry: ModelEntry) -> None:
        self._downloads.cancel(entry.name)

    @Slot(object)
    def _use(self, entry: ModelEntry) -> None:
        self.chosen.emit(files_of(entry, self._downloads.folder))

    @Slot(object)
    def _remove(self, entry: ModelEntry) -> None:
        self._downloads.errors.pop(entry.name, None)
        try:
            remove_model(entry, self._downloads.folder)
        except FramefleetError as error:
            self._downloads.errors[entry.name] = str(error)
        self._refresh_one(entry.name)

    @Slot(object)
    def _refresh_some(self, names: Sequence[str]) -> None:
        for name in names:
            self._refresh_one(name)

    @Slot(str, object)
    def _refresh_one(self, name: str, _files: object = None) -> None:
        if (card := self.cards.get(name)) is not None:
            card.refresh(self._downloads, files_of(card.entry, self._downloads.folder).cfg == self._in_use)

    @Slot()
    def _show_folder(self) -> None:
        self._downloads.folder.mkdir(parents=True, exist_ok=True)
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._downloads.folder)))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Model files may be dropped anywhere on the dialog."""
        if sort_paths(local_paths(event)).has_model:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take them."""
        event.acceptProposedAction()
        self.dropped.emit(sort_paths(local_paths(event)))
