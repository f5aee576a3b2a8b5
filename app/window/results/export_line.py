"""The progress and outcome of exports, in the line at the bottom of the window."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.build import ElidedLabel, push_button, row, tool_button
from framefleet.app.window.widgets.translation import translate

BAR = 90
"""Width of the progress bar, logical pixels."""


class ExportLine(QWidget):
    """One line for what was done last. It is hidden at first, and never changes the height of its place.

    cancel: cancels what runs. reveal: opens the folder with what was written, or takes back what was done.
    """

    def __init__(self) -> None:
        super().__init__()
        self._act: Callable[[], object] = lambda: None
        self.text = ElidedLabel("small", Qt.TextElideMode.ElideMiddle)  # names may be long
        self.text.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.bar = QProgressBar(minimum=0, maximum=1000, textVisible=False)
        self.bar.setFixedSize(BAR, 6)
        self.bar.setAccessibleName(translate("results", "Progress of the export"))
        self.cancel = push_button(translate("results", "Cancel"), self._clicked, role="link")
        self.reveal = push_button(translate("results", "Show in folder"), self._clicked, role="link")
        self.dismiss = tool_button("close", translate("results", "Dismiss"), clicked=self.hide)
        for button in (self.cancel, self.reveal, self.dismiss):
            button.setStyleSheet(f"min-height: 0; padding: 0 4px; border: none; font-size: {theme.base_size() - 1}px;")
            button.setFixedHeight(self.text.sizeHint().height())
        self.dismiss.setIconSize(QSize(12, 12))
        # as far from the text before it as the other parts of the line at the bottom
        row(self.text, self.bar, self.cancel, self.reveal, self.dismiss, spacing=8, margins=(20, 0, 0, 0), of=self)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Ignored)
        self.hide()

    def show_progress(self, text: str, share: float, cancel: Callable[[], object]) -> None:
        """Show how far an export is. share: 0 to 1."""
        self._show(text, cancel, running=True)
        self.bar.setValue(round(1000 * share))

    def show_done(self, text: str | Sequence[str], act: Callable[[], object] | None = None, title: str = "") -> None:
        """Show what was done or cancelled, several lines in one. act: what a click does. title: of its button, "" = "Show in folder"."""
        self._show(text, act or (lambda: None), running=False)
        self.reveal.setText(title or translate("results", "Show in folder"))
        self.reveal.setVisible(act is not None)

    def forget(self, lines: Sequence[str]) -> None:
        """Hide the line if it shows these lines, which are no longer true."""
        if self.text.toolTip() == "\n".join(lines):
            self.hide()

    def _show(self, text: str | Sequence[str], act: Callable[[], object], running: bool) -> None:
        self._act = act
        lines = [text] if isinstance(text, str) else text
        self.text.setText(" · ".join(lines))
        self.text.setToolTip("\n".join(lines))
        self.bar.setVisible(running)
        self.cancel.setVisible(running)
        self.reveal.setVisible(not running)
        self.dismiss.setVisible(not running)
        self.show()

    def _clicked(self) -> None:
        self._act()
