"""Messages at the top of the window."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from framefleet.app.window.widgets import formats, painting, theme
from framefleet.app.window.widgets.build import column, label, push_button, row, say, tool_button
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.notices import Notice

MAX_BANNERS = 3
"""The largest number of visible banners: those with the highest severity, and of these the newest. A line counts the others, which wait.
Of good news, only the newest waits."""
Action: TypeAlias = tuple[str, Callable[[], object]]
"""A button's title, and what a click calls."""


class Severity(StrEnum):
    """How serious a message is, in ascending order; also the name of its icon."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_RANKS = list(Severity)
_COLOURS = {
    Severity.INFO: ("ACCENT", "INFO_GROUND"),
    Severity.WARNING: ("WARNING", "WARNING_GROUND"),
    Severity.ERROR: ("DANGER", "DANGER_GROUND"),
}


class Message(QFrame):
    """An icon, one bold line, the details, and a button for each action; every error and notice looks like this.

    narrow: the buttons stand below the text. ``button``: of the first action, None without any.
    """

    def __init__(self, severity: Severity, actions: Sequence[Action] = (), narrow: bool = False) -> None:
        super().__init__()
        self.severity = severity
        self.symbol = symbol = painting.Symbol(severity.value, 18, _COLOURS[severity][0])
        self.title, self.text = label("strong", wrap=True), label("small", wrap=True)
        for line in (self.title, self.text):
            line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        buttons = [push_button(title, act, role="link" if narrow else "") for title, act in actions]
        self.button = buttons[0] if buttons else None
        words = column(self.title, self.text, spacing=2)
        if narrow:
            head = row((symbol, 0, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=8)
            pairs = [row(*buttons[first : first + 2], None, spacing=2) for first in range(0, len(buttons), 2)]
            column(head, *pairs, spacing=2, margins=(10, 8, 8, 6), of=self)
        else:
            self._row = row(symbol, (words, 1), *buttons, spacing=10, margins=(12, 7, 8, 7), of=self)

    def show_text(self, title: str, text: str = "", longest: int = 50) -> None:
        """Show a bold line and its details. longest: longer names are cut in the middle."""
        self.message = f"{title}: {text}" if text else title
        shown = formats.shortened(title, longest), formats.shortened(text, longest)
        for line, part in zip((self.title, self.text), shown, strict=True):
            say(line, part)
        self.setToolTip("" if shown == (title, text) else f"{title}: {text}" if text else title)
        self.setAccessibleName(f"{self.severity.value}: {self.message}")


class Banner(Message):
    """A message across the window, with a button to dismiss it."""

    def __init__(self, severity: Severity, actions: Sequence[Action]) -> None:
        super().__init__(severity, actions)
        colour, ground = _COLOURS[severity]
        self.setObjectName("banner")
        self.setStyleSheet(
            f"#banner {{ background: {theme.colour(ground)}; border: none; border-left: 3px solid {theme.colour(colour)}; }}"
        )
        self.dismiss = tool_button("close", translate("widgets", "Dismiss"))
        self._row.addWidget(self.dismiss)


class BannerArea(QWidget):
    """Shows at most one banner for each subject, the newest first. A banner stays until it is replaced, removed or dismissed."""

    def __init__(self) -> None:
        super().__init__()
        self._banners: dict[str, Banner] = {}
        self._waiting = label("small")
        self._waiting.setContentsMargins(43, 2, 8, 2)  # below the texts
        self._column = column(self._waiting, spacing=1, of=self)
        self.hide()

    @property
    def subjects(self) -> list[str]:
        """What the current messages are about, the oldest first."""
        return list(self._banners)

    @property
    def texts(self) -> list[str]:
        """The current messages, the oldest first."""
        return [banner.message for banner in self._banners.values()]

    def show_banner(self, subject: str, severity: Severity, title: str, *actions: Action, details: Notice | str = "") -> Banner:
        """Show a message; it replaces the one about the same subject.

        Parameters
        ----------
        subject : str
            What the message is about, for example one device.
        severity : Severity
            How serious it is.
        title : str
            What happened, in bold.
        *actions : Action
            A button for each.
        details : Notice or str, optional
            Why, or what to do.
        """
        self.remove(subject)
        banner = Banner(severity, actions)
        banner.show_text(title, of_engine(details, capital=True) if isinstance(details, Notice) else details)
        banner.dismiss.clicked.connect(lambda: self.remove(subject))
        self._banners[subject] = banner
        self._column.insertWidget(0, banner)
        older = [each for each, shown in self._banners.items() if shown.severity is Severity.INFO and each != subject]
        for each in older[: max(0, len(self._banners) - MAX_BANNERS)]:
            self.remove(each)
        self._arrange()
        return banner

    def update_text(self, subject: str, title: str, details: str = "") -> None:
        """Change the message about a subject, unless the user has dismissed it."""
        if (banner := self._banners.get(subject)) is not None:
            banner.show_text(title, details)

    def remove(self, subject: str) -> None:
        """Remove the message about a subject, if there is one."""
        banner = self._banners.pop(subject, None)
        if banner is not None:
            self._column.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
        self._arrange()

    def _arrange(self) -> None:
        """Show the most important banners, and how many others there are."""
        newest = list(reversed(self._banners))
        ordered = sorted(newest, key=lambda subject: _RANKS.index(self._banners[subject].severity), reverse=True)
        for place, subject in enumerate(ordered):
            self._banners[subject].setVisible(place < MAX_BANNERS)
        waiting = len(ordered[MAX_BANNERS:])
        say(self._waiting, translate("widgets", "%Ln more messages", None, waiting) if waiting else "")
        self.setVisible(bool(self._banners))
