"""Asks the user: questions, choices of files and folders, and dialogs with a form above their buttons."""

from collections.abc import Callable
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QSettings, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QShowEvent

from framefleet.app.window.widgets import painting, theme
from framefleet.app.window.widgets.build import Item, column, show_inside, within_screen

Mode = QtWidgets.QFileDialog.FileMode
SIZE = 860, 540
"""The size of a file dialog, logical pixels: a file's name, size, kind and date can be read."""
_ICONS = {
    "backButton": "arrow-left",
    "forwardButton": "arrow-right",
    "toParentButton": "arrow-up",
    "newFolderButton": "add",
    "listModeButton": "grid",
    "detailModeButton": "list",
}
"""The icons of a file dialog's buttons. Qt's own ones are dark also on a dark ground."""


def ask(
    window: QtWidgets.QWidget,
    title: str,
    texts: tuple[str, str],
    answers: tuple[str, str],
    answered: Callable[[bool], object],
    harmless: bool = False,
) -> QtWidgets.QMessageBox:
    """Ask a question. texts: the question and its details. answers: yes and no; no is the answer of Esc.

    answered: gets whether the answer is yes. harmless: whether yes is the default.
    """
    box = QtWidgets.QMessageBox(QtWidgets.QMessageBox.Icon.Question, title, texts[0], parent=window)
    box.setInformativeText(texts[1])
    yes = box.addButton(
        answers[0], QtWidgets.QMessageBox.ButtonRole.AcceptRole if harmless else QtWidgets.QMessageBox.ButtonRole.DestructiveRole
    )
    no = box.addButton(answers[1], QtWidgets.QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(yes if harmless else no)
    box.setEscapeButton(no)
    box.finished.connect(lambda _: answered(box.clickedButton() is yes))
    box.finished.connect(box.deleteLater)
    box.open()
    return box


class _FileIcons(QtWidgets.QStyledItemDelegate):
    """Shows files with an icon that can be seen on each ground: Qt's own one is nearly white."""

    def initStyleOption(self, option: QtWidgets.QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        model = index.model()
        if index.column() == 0 and isinstance(model, QtWidgets.QFileSystemModel) and not model.isDir(index):
            option.icon = painting.icon("file", theme.MUTED)


def choose_path(
    window: QtWidgets.QWidget, title: str, chosen: Callable[[str], object], kinds: str = "", at: str = "", mode: Mode = Mode.ExistingFile
) -> QtWidgets.QFileDialog:
    """Let the user choose a path. kinds: filters of names. at: where the dialog begins; a new file's name for the mode ``AnyFile``."""
    dialog = file_dialog(window, title, "" if mode is Mode.AnyFile else at, kinds)
    dialog.setFileMode(mode)
    dialog.setOption(QtWidgets.QFileDialog.Option.ShowDirsOnly, mode is Mode.Directory)
    if mode is Mode.AnyFile:
        dialog.setAcceptMode(QtWidgets.QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(Path(at).suffix.removeprefix("."))
        dialog.selectFile(at)
    dialog.fileSelected.connect(chosen)
    dialog.open()
    return dialog


def file_dialog(window: QtWidgets.QWidget, title: str, at: str, kinds: str = "") -> QtWidgets.QFileDialog:
    """Make a file dialog that looks like the rest of the window and is deleted when it closes. at: where it begins, "" = home."""
    dialog = QtWidgets.QFileDialog(window, title, at or str(Path.home()), kinds)
    dialog.finished.connect(dialog.deleteLater)
    for button in dialog.findChildren(QtWidgets.QToolButton):  # none if the system shows a dialog of its own
        if (name := _ICONS.get(button.objectName())) is not None:
            button.setIcon(painting.icon(name))
    for name in ("treeView", "listView"):
        if (files := dialog.findChild(QtWidgets.QAbstractItemView, name)) is not None:
            files.setItemDelegate(_FileIcons(files))
    if (view := dialog.findChild(QtWidgets.QTreeView, "treeView")) is not None:
        dialog.resize(within_screen(window, *SIZE))
        modes, header = QtWidgets.QHeaderView.ResizeMode, view.header()
        for number in range(header.count()):
            header.setSectionResizeMode(number, modes.ResizeToContents if number else modes.Stretch)
    return dialog


def begin_in_last_folder(dialog: QtWidgets.QFileDialog, store: QSettings, key: str, first: Path) -> None:
    """Begin a dialog in the folder of its last choice, and keep the folder of this one. first: without an earlier choice."""
    last = Path(str(store.value(key, first)))
    dialog.setDirectory(str(last if last.is_dir() else first))
    dialog.filesSelected.connect(lambda names: store.setValue(key, str(Path(names[0]).parent)))


def show_folder(folder: Path) -> None:
    """Show a folder in the system's program for files."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


MIN_HEIGHT = 100
"""Least height of the visible part of a form, logical pixels."""


class FormDialog(QtWidgets.QDialog):
    """Is as high as its form needs. On a screen that is too low for this, the form scrolls and the buttons stay visible.

    width: least width, logical pixels. buttons: cancel, and those that a subclass adds.
    """

    def __init__(self, title: str, width: int, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._inside, self._area = QtWidgets.QWidget(), QtWidgets.QScrollArea()
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setMinimumHeight(MIN_HEIGHT)
        self._area.setAccessibleName(title)
        self.buttons = QtWidgets.QDialogButtonBox(QtWidgets.QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.buttons.setContentsMargins(24, 0, 24, 16)
        self.setMinimumWidth(width)

    def lay_out(self, *items: Item) -> None:
        """Place the parts of the form from top to bottom, and the buttons below them."""
        column(*items, None, spacing=14, margins=(24, 20, 24, 14), of=self._inside)
        show_inside(self._area, self._inside)
        column((self._area, 1), self.buttons, spacing=0, of=self)
        self._inside.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fit the height when the form has changed."""
        if event.type() is QEvent.Type.LayoutRequest:
            QTimer.singleShot(0, self, self._fit)
        return super().eventFilter(watched, event)

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the height now that the style, which sets the sizes of fonts, is known; Qt then places the dialog."""
        self._fit()
        super().showEvent(event)

    def _fit(self) -> None:
        """Take the height of the form and the buttons. ``adjustSize`` would take no more than two thirds of the screen's height."""
        form = self._inside.layout()
        assert form is not None
        form.activate()
        height = form.totalHeightForWidth(self.width()) + self.buttons.sizeHint().height()
        self.resize(within_screen(self, self.width(), height))
        below = self.frameGeometry().bottom() - self.screen().availableGeometry().bottom()
        if self.isVisible() and below > 0:
            self.move(self.x(), self.y() - below)
