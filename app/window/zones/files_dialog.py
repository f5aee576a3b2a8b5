"""The dialog that asks which files of the queue use a set of lines and zones."""

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTreeWidget, QTreeWidgetItem, QWidget

from framefleet.app.window.widgets.build import column, label
from framefleet.app.window.widgets.translation import translate

_PATH = Qt.ItemDataRole.UserRole


class FilesDialog(QDialog):
    """Lists files by folder; a checked one uses the set. chosen: the paths of the checked files.

    name: of the set. files: absolute paths, and the name of the set that each file uses, None = none.
    """

    chosen = Signal(object)

    def __init__(self, name: str, files: Mapping[Path, str | None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(translate("zones", "Files with the set '{name}'").format(name=name))
        self.tree = QTreeWidget()
        self.tree.ensurePolished()  # rows that are shown before have not the height of the style
        self.tree.setHeaderLabels([translate("zones", "File"), translate("zones", "Present set")])
        self.tree.setAccessibleName(translate("zones", "Files of the queue"))
        folders: dict[Path, QTreeWidgetItem] = {}
        self._rows: list[QTreeWidgetItem] = []
        for path, used in files.items():
            if path.parent not in folders:
                folder = folders[path.parent] = QTreeWidgetItem(self.tree, [str(path.parent)])
                folder.setFlags(folder.flags() | Qt.ItemFlag.ItemIsAutoTristate | Qt.ItemFlag.ItemIsUserCheckable)
            row = QTreeWidgetItem(folders[path.parent], [path.name, used or "–"])
            self._rows.append(row)
            row.setData(0, _PATH, path)
            row.setCheckState(0, Qt.CheckState.Checked if used == name else Qt.CheckState.Unchecked)
        self.tree.expandAll()
        self.tree.setColumnWidth(0, 380)
        hint = translate("zones", "If all files of a folder are checked, files that you add from this folder later use the set, too.")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self.accepted.connect(lambda: self.chosen.emit(self.checked()))
        column((self.tree, 1), label("small", hint, wrap=True), buttons, spacing=10, margins=(16, 16, 16, 16), of=self)
        self.resize(560, 360)

    def checked(self) -> list[Path]:
        """The checked files."""
        return [row.data(0, _PATH) for row in self._rows if row.checkState(0) is Qt.CheckState.Checked]
