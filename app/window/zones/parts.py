"""What is drawn besides boxes: each part can be turned off, from the menu, the panel and by key."""

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from framefleet.app.window.widgets.translation import marked, translate

ZONES, TRAILS, NUMBERS, HEAT, BY_TRACK = "zones", "trails", "numbers", "heat", "by_track"
_PARTS = {
    ZONES: (marked("zones", "Lines and zones"), "Alt+L", True),
    TRAILS: (marked("zones", "Trails"), "Alt+T", True),
    NUMBERS: (marked("zones", "Numbers of tracks"), "Alt+N", True),
    HEAT: (marked("zones", "Heat map"), "Alt+H", False),
    BY_TRACK: (marked("zones", "Tracks on the timeline instead of classes"), "Alt+K", False),
}
"""Title, key, and whether it is drawn at first."""


class ShownParts(QObject):
    """The user's choice, kept in ``store``. window: its shortcuts turn parts on and off. Attributes: actions: by the name of the part."""

    changed = Signal()

    def __init__(self, store: QSettings, window: QWidget) -> None:
        super().__init__(window)
        self._store = store
        self.actions: dict[str, QAction] = {}
        for name, (title, key, first) in _PARTS.items():
            action = self.actions[name] = QAction(translate("zones", title), window, shortcut=QKeySequence(key), checkable=True)
            action.setToolTip(action.shortcut().toString(QKeySequence.SequenceFormat.NativeText))
            action.setChecked(store.value(f"picture/{name}", "yes" if first else "no") == "yes")
            action.toggled.connect(self._toggled)
        window.addActions(list(self.actions.values()))

    def __getitem__(self, name: str) -> bool:
        """Whether a part is drawn."""
        return self.actions[name].isChecked()

    def _toggled(self) -> None:
        for name, action in self.actions.items():
            self._store.setValue(f"picture/{name}", "yes" if action.isChecked() else "no")
        self.changed.emit()
