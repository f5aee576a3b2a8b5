"""The form for how the window looks: its theme, which changes at once, and its language."""

from collections.abc import Mapping

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QComboBox, QWidget

from framefleet.app.window.widgets.appearance import KEY, Theme, apply_theme, current_theme, stored_theme
from framefleet.app.window.widgets.build import column
from framefleet.app.window.widgets.fields import combo_box, form_grid
from framefleet.app.window.widgets.translation import LANGUAGE, LANGUAGES, translate


class WindowForm(QWidget):
    """Fields for theme and language. The theme shows at once; ``keep`` stores both, ``restore`` takes the theme back."""

    def __init__(self, store: QSettings) -> None:
        super().__init__()
        self._store, self._before = store, current_theme()
        system = translate("settings", "As the system")
        themes = {Theme.SYSTEM: system, Theme.DARK: translate("settings", "Dark"), Theme.LIGHT: translate("settings", "Light")}
        self.theme = combo_box(translate("settings", "Theme"), themes)
        self.language = combo_box(translate("settings", "Language"), {"": system} | LANGUAGES)
        self.values = {"theme": str(self._before), "language": str(store.value(LANGUAGE) or "")}
        self._shown = self.values["language"]
        self.theme.currentIndexChanged.connect(lambda: _apply(stored_theme(self.theme.currentData())))
        rows = ((translate("settings", "Theme"), self.theme), (translate("settings", "Language"), self.language))
        column(form_grid(rows), spacing=6, of=self)

    @property
    def values(self) -> dict[str, str]:
        """The chosen theme and language, "" = the system's language."""
        return {"theme": str(self.theme.currentData()), "language": str(self.language.currentData())}

    @values.setter
    def values(self, values: Mapping[str, str]) -> None:
        _pick(self.theme, stored_theme(values.get("theme")))
        _pick(self.language, values.get("language", ""))

    @property
    def language_changed(self) -> bool:
        """Whether another language is chosen than the one that is shown."""
        return self.values["language"] != self._shown

    def keep(self) -> None:
        """Store both choices."""
        self._store.setValue(KEY, self.values["theme"])
        self._store.setValue(LANGUAGE, self.values["language"])

    def restore(self) -> None:
        """Show the theme of before."""
        _apply(self._before)


def _pick(combo: QComboBox, value: str) -> None:
    combo.setCurrentIndex(max(combo.findData(value), 0))


def _apply(choice: Theme) -> None:
    application = QApplication.instance()
    if isinstance(application, QApplication) and choice is not current_theme():
        apply_theme(application, choice)
