"""Questions to the user that do not block the window: one with two answers, and one for a file or folder."""

from collections.abc import Callable

from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

Mode = QFileDialog.FileMode


def ask(
    window: QWidget,
    title: str,
    texts: tuple[str, str],
    answers: tuple[str, str],
    answered: Callable[[bool], object],
    harmless: bool = False,
) -> QMessageBox:
    """Ask a question. texts: the question and its details. answers: yes and no; no is the answer of Esc.

    answered: gets whether the answer is yes. harmless: whether yes is the default.
    """
    box = QMessageBox(QMessageBox.Icon.Question, title, texts[0], parent=window)
    box.setInformativeText(texts[1])
    yes = box.addButton(answers[0], QMessageBox.ButtonRole.AcceptRole if harmless else QMessageBox.ButtonRole.DestructiveRole)
    no = box.addButton(answers[1], QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(yes if harmless else no)
    box.setEscapeButton(no)
    box.finished.connect(lambda _: answered(box.clickedButton() is yes))
    box.finished.connect(box.deleteLater)
    box.open()
    return box


def choose_path(
    window: QWidget, title: str, chosen: Callable[[str], object], kinds: str = "", at: str = "", mode: Mode = Mode.ExistingFile
) -> QFileDialog:
    """Let the user choose a path. kinds: filters of names. at: where the dialog begins; a new file's name for the mode ``AnyFile``."""
    dialog = QFileDialog(window, title, "" if mode is Mode.AnyFile else at, kinds)
    dialog.setFileMode(mode)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, mode is Mode.Directory)
    if mode is Mode.AnyFile:
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(at)
    dialog.fileSelected.connect(chosen)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog
