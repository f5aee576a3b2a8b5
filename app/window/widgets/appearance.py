"""The look of the window: the style sheet, and the theme - dark, light, or that of the system -, which can change at any time."""

import re
from enum import StrEnum

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from framefleet.app.window.widgets import theme
from framefleet.resources.icons import icon_path


def style_sheet() -> str:
    """The style sheet; widgets are addressed by the dynamic property ``role`` rather than by name."""
    base = theme.base_size()
    small = base - 1
    return f"""
* {{ outline: none; }}
QMainWindow, QDialog {{ background: {theme.BACKGROUND}; }}
QToolTip {{ background: {theme.RAISED}; color: {theme.TEXT}; border: 1px solid {theme.EDGE}; padding: 5px 7px; }}
QLabel {{ background: transparent; }}
QLabel[role="muted"] {{ color: {theme.MUTED}; }}
QLabel[role="small"] {{ color: {theme.MUTED}; font-size: {small}px; }}
QLabel[role="title"] {{ font-size: {base + 7}px; font-weight: 600; }}
QLabel[role="strong"] {{ font-weight: 600; }}
QLabel[role="section"] {{ font-size: {base + 1}px; font-weight: 600; }}
QLabel[role="heading"] {{ color: {theme.MUTED}; font-size: {small}px; font-weight: 600; }}
QLabel[role="figure"] {{ font-size: {base + 9}px; font-weight: 600; }}
QLabel[role="section"]:disabled, QLabel[role="small"]:disabled, QLabel[role="figure"]:disabled {{ color: {theme.DISABLED}; }}
QLabel[role="error"] {{ color: {theme.DANGER}; }}
QLabel[role="notice"] {{ color: {theme.WARNING}; font-size: {small}px; }}
QLabel[role="wordmark"] {{ font-size: {base + 2}px; font-weight: 600; }}

QWidget[role="panel"] {{ background: {theme.SURFACE}; }}
QWidget[role="bar"] {{ background: {theme.SURFACE}; }}
QWidget[role="clear"] {{ background: transparent; }}
QFrame[role="card"] {{ background: {theme.RAISED}; border: 1px solid {theme.BORDER}; border-radius: 8px; }}
QFrame[role="line"] {{ background: {theme.BORDER}; max-height: 1px; min-height: 1px; border: none; }}
QSplitter::handle {{ background: {theme.BACKGROUND}; }}
QSplitter::handle:hover {{ background: {theme.ACCENT}; }}

QPushButton, QToolButton {{ background: {theme.RAISED}; color: {theme.TEXT}; border: 1px solid {theme.BORDER}; border-radius: 6px;
    padding: 5px 12px; }}
QPushButton {{ min-height: {base + 5}px; }}
QPushButton:checked {{ background: {theme.ACCENT_QUIET}; color: {theme.ACCENT_HOVER}; border-color: {theme.ACCENT_QUIET}; }}
QPushButton[role="flat"] {{ background: transparent; border: 1px solid transparent; padding: 5px 8px; }}
QPushButton[role="flat"]:hover {{ background: {theme.HOVER}; }}
QPushButton[role="flat"]:checked {{ background: {theme.ACCENT_QUIET}; color: {theme.ACCENT_HOVER}; }}
QPushButton[role="flat"]:focus {{ border-color: {theme.ACCENT}; }}
QPushButton[role="flat"]:disabled {{ color: {theme.DISABLED}; background: transparent; }}
QPushButton:hover, QToolButton:hover {{ background: {theme.HOVER}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {theme.BORDER}; }}
QPushButton:focus, QToolButton:focus {{ border-color: {theme.ACCENT}; }}
QPushButton:disabled, QToolButton:disabled {{ color: {theme.DISABLED}; background: {theme.SURFACE}; }}
QPushButton[role="primary"], QPushButton:default {{ background: {theme.ACCENT}; color: {theme.ON_ACCENT}; border-color: {theme.ACCENT}; }}
QPushButton[role="primary"] {{ font-weight: 600; }}
QPushButton[role="primary"]:hover, QPushButton:default:hover {{ background: {theme.ACCENT_HOVER}; border-color: {theme.ACCENT_HOVER}; }}
QPushButton[role="primary"]:focus, QPushButton:default:focus {{ border-color: {theme.TEXT}; }}
QPushButton[role="primary"]:disabled, QPushButton:default:disabled {{ background: {theme.RAISED}; color: {theme.DISABLED};
    border-color: {theme.BORDER}; }}
QPushButton[role="fold"], QPushButton[role="fold"]:checked {{ background: transparent; color: {theme.TEXT}; border: none; padding: 2px 0;
    text-align: left; font-size: {base + 1}px; font-weight: 600; }}
QPushButton[role="fold"]:hover {{ color: {theme.ACCENT_HOVER}; }}
QPushButton[role="fold"]:focus {{ text-decoration: underline; }}
QPushButton[role="link"] {{ background: transparent; border: none; color: {theme.ACCENT}; padding: 2px 4px; }}
QPushButton[role="link"]:hover {{ color: {theme.ACCENT_HOVER}; }}
QPushButton[role="link"]:focus {{ color: {theme.ACCENT_HOVER}; text-decoration: underline; }}
QToolButton[role="flat"] {{ background: transparent; border: 1px solid transparent; padding: 5px; }}
QToolButton[role="small-flat"] {{ background: transparent; border: 1px solid transparent; padding: 1px; }}
QToolButton[role="small-flat"]:hover {{ background: {theme.HOVER}; }}
QToolButton[role="small-flat"]:focus {{ border-color: {theme.ACCENT}; }}
QToolButton[role="flat"]:hover {{ background: {theme.HOVER}; }}
QToolButton[role="flat"]:focus {{ border-color: {theme.ACCENT}; }}
QToolButton[role="flat"]:checked {{ background: {theme.ACCENT_QUIET}; color: {theme.ACCENT_HOVER}; }}
QToolButton[role="flat"]:disabled {{ background: transparent; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QFileDialog QToolButton {{ padding: 4px; }}
QFileDialog QListView::item:selected {{ background: {theme.ACCENT_QUIET}; color: {theme.TEXT}; }}
QToolButton::menu-indicator {{ image: none; }}

QLineEdit, QAbstractSpinBox, QComboBox {{ background: {theme.RAISED}; border: 1px solid {theme.EDGE}; border-radius: 6px;
    min-height: {base + 5}px; selection-background-color: {theme.ACCENT}; selection-color: {theme.ON_ACCENT}; }}
QLineEdit, QComboBox {{ padding: 5px 8px; }}
QAbstractSpinBox {{ padding: 3px 0; }}
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus, QComboBox:on {{ border-color: {theme.ACCENT}; }}
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {{ color: {theme.DISABLED};
    border-color: {theme.BORDER}; }}
QComboBox::drop-down, QDateTimeEdit::drop-down {{ border: none; width: 24px; }}
QDateTimeEdit {{ padding: 3px 0 3px 6px; }}
QComboBox::down-arrow, QDateTimeEdit::down-arrow {{
    image: url({icon_path(f"sheet-down{theme.VARIANT}").as_posix()}); width: 14px; height: 14px; }}
QComboBox QAbstractItemView {{ background: {theme.RAISED}; border: 1px solid {theme.EDGE}; padding: 4px;
    selection-background-color: {theme.HOVER};
    selection-color: {theme.TEXT}; }}
QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{ border: none; border-radius: 0; padding: 0; min-height: 0; background: transparent; }}
QAbstractSpinBox::up-button {{ border: none; width: 20px; subcontrol-origin: border; subcontrol-position: top right; }}
QAbstractSpinBox::down-button {{ border: none; width: 20px; subcontrol-origin: border; subcontrol-position: bottom right; }}
QAbstractSpinBox::up-arrow {{ image: url({icon_path(f"sheet-up{theme.VARIANT}").as_posix()}); width: 12px; height: 12px; }}
QAbstractSpinBox::down-arrow {{ image: url({icon_path(f"sheet-down{theme.VARIANT}").as_posix()}); width: 12px; height: 12px; }}

QCheckBox {{ spacing: 8px; }}
QCheckBox::indicator, QAbstractItemView::indicator {{ width: 14px; height: 14px; border: 1px solid {theme.EDGE}; border-radius: 4px;
    background: {theme.RAISED}; }}
QCheckBox::indicator:hover, QAbstractItemView::indicator:hover {{ border-color: {theme.MUTED}; }}
QCheckBox::indicator:focus {{ border-color: {theme.ACCENT}; }}
QCheckBox:focus {{ color: {theme.ACCENT_HOVER}; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {{ background: {theme.ACCENT}; border-color: {theme.ACCENT};
    image: url({icon_path(f"sheet-check{theme.VARIANT}").as_posix()}); }}
QAbstractItemView::indicator:indeterminate {{ background: {theme.ACCENT}; border-color: {theme.ACCENT};
    image: url({icon_path(f"sheet-dash{theme.VARIANT}").as_posix()}); }}
QCheckBox::indicator:disabled {{ background: {theme.SURFACE}; border-color: {theme.BORDER}; }}
QCheckBox::indicator:checked:disabled {{ background: {theme.DISABLED}; border-color: {theme.DISABLED}; }}

QSlider::groove:horizontal {{ height: 4px; border-radius: 2px; background: {theme.EDGE}; }}
QSlider::sub-page:horizontal {{ height: 4px; border-radius: 2px; background: {theme.ACCENT}; }}
QSlider::add-page:horizontal {{ height: 4px; border-radius: 2px; background: {theme.EDGE}; }}
QSlider::handle:horizontal {{ width: 14px; height: 14px; margin: -5px 0; border-radius: 7px; background: {theme.TEXT}; }}
QSlider::handle:horizontal:hover, QSlider::handle:horizontal:focus {{ background: {theme.ACCENT_HOVER}; }}

QProgressBar {{ background: {theme.EDGE}; border: none; border-radius: 2px; }}
QProgressBar::chunk {{ background: {theme.ACCENT}; border-radius: 2px; }}

QListView, QScrollArea {{ background: transparent; border: none; }}
QScrollArea[role="pane"] {{ border: 1px solid transparent; border-radius: 6px; }}
QScrollArea[role="pane"]:focus {{ border-color: {theme.ACCENT}; }}
QListView::item {{ border-radius: 6px; }}
QTableView, QTreeView {{ background: {theme.SURFACE}; border: 1px solid {theme.BORDER}; border-radius: 6px;
    selection-background-color: {theme.SELECTED}; selection-color: {theme.TEXT}; }}
QTableView:focus, QTreeView:focus {{ border-color: {theme.ACCENT}; }}
QTreeView::item {{ padding: 4px 5px; }}
QTreeView::item:hover {{ background: {theme.HOVER}; }}
QTreeView::item:selected {{ background: {theme.SELECTED}; color: {theme.TEXT}; }}
QHeaderView, QHeaderView::section, QTableCornerButton::section {{ background: {theme.SURFACE}; color: {theme.MUTED}; border: none; }}
QHeaderView::section {{ padding: 4px 8px; }}
QTableView QHeaderView::section {{ padding: 3px; }}
QListView[role="classes"]::item, QListView[role="picks"]::item {{ padding: 4px 6px; }}
QListView[role="topics"] {{ padding: 10px 6px 10px 14px; border: 1px solid transparent; border-radius: 6px; }}
QListView[role="topics"]:focus {{ border-color: {theme.ACCENT}; }}
QListView[role="topics"]::item {{ padding: 6px 8px; color: {theme.MUTED}; }}
QListView[role="topics"]::item:selected {{ background: {theme.ACCENT_QUIET}; color: {theme.ACCENT_HOVER}; }}
QListView[role="picks"]::item:hover, QListView[role="picks"]::item:selected {{ color: {theme.TEXT}; background: {theme.HOVER}; }}
QListView[role="classes"]::item:hover, QListView[role="topics"]::item:hover:!selected {{ background: {theme.HOVER}; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar::handle:vertical {{ background: {theme.EDGE}; min-height: 28px; border-radius: 3px; margin: 2px; }}
QScrollBar::handle:vertical:hover {{ background: {theme.DISABLED}; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; }}
QScrollBar::handle:horizontal {{ background: {theme.EDGE}; min-width: 28px; border-radius: 3px; margin: 2px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}

QMenu {{ background: {theme.RAISED}; border: 1px solid {theme.EDGE}; padding: 5px; }}
QFrame[role="popup"] {{ background: {theme.RAISED}; border: 1px solid {theme.EDGE}; }}
QMenu::item {{ min-height: 16px; padding: 6px 26px 6px 10px; border-radius: 4px; }}
QMenu::icon {{ padding-left: 12px; }}
QMenu::indicator {{ width: 14px; height: 14px; margin-left: 6px; }}
QMenu::indicator:checked {{ image: url({icon_path(f"sheet-check{'' if theme.VARIANT else '-light'}").as_posix()}); }}
QMenu::item:selected {{ background: {theme.HOVER}; }}
QMenu::item:disabled {{ color: {theme.DISABLED}; }}
QMenu::separator {{ height: 1px; background: {theme.BORDER}; margin: 5px 8px; }}
"""


KEY = "window/theme"
"""The key of the stored theme."""
_ROLES = QPalette.ColorRole
_PALETTE = {
    _ROLES.Window: "SURFACE",
    _ROLES.WindowText: "TEXT",
    _ROLES.Base: "RAISED",
    _ROLES.AlternateBase: "SURFACE",
    _ROLES.Text: "TEXT",
    _ROLES.PlaceholderText: "MUTED",
    _ROLES.Button: "RAISED",
    _ROLES.ButtonText: "TEXT",
    _ROLES.BrightText: "TEXT",
    _ROLES.ToolTipBase: "RAISED",
    _ROLES.ToolTipText: "TEXT",
    _ROLES.Highlight: "ACCENT",
    _ROLES.HighlightedText: "ON_ACCENT",
    _ROLES.Accent: "ACCENT",
    _ROLES.Link: "ACCENT",
    _ROLES.Light: "HOVER",
    _ROLES.Mid: "BORDER",
    _ROLES.Dark: "BACKGROUND",
    _ROLES.Shadow: "BACKGROUND",
}
"""The colours that Qt's own style uses where the style sheet says nothing."""


class Theme(StrEnum):
    """What the user chose."""

    SYSTEM = "system"
    DARK = "dark"
    LIGHT = "light"


_SCHEMES = {Theme.SYSTEM: Qt.ColorScheme.Unknown, Theme.DARK: Qt.ColorScheme.Dark, Theme.LIGHT: Qt.ColorScheme.Light}


_choice = Theme.SYSTEM
"""The current choice."""


def stored_theme(text: object) -> Theme:
    """The theme that is stored as this text; that of the system if there is none."""
    return next((choice for choice in Theme if choice == text), Theme.SYSTEM)


def current_theme() -> Theme:
    """The user's choice."""
    return _choice


def apply_theme(application: QApplication, choice: Theme = Theme.SYSTEM) -> None:
    """Show the whole application in a theme, now and, with ``SYSTEM``, whenever the system's changes."""
    global _choice
    first, _choice = not application.property("themed"), choice
    hints = application.styleHints()
    if first:
        application.setProperty("themed", True)
        application.setStyle("Fusion")
        application.setFont(theme.font())
        hints.colorSchemeChanged.connect(lambda _: _show(application))
    hints.setColorScheme(_SCHEMES[choice])
    _show(application)


def system_scheme() -> Qt.ColorScheme:
    """The system's choice; many systems state none."""
    return QGuiApplication.styleHints().colorScheme()


def _show(application: QApplication) -> None:
    scheme = system_scheme() if _choice is Theme.SYSTEM else _SCHEMES[_choice]
    theme.use(dark=scheme is not Qt.ColorScheme.Light)
    application.setPalette(palette())
    application.setStyleSheet(style_sheet())
    for widget in application.allWidgets():
        sheet = widget.styleSheet()
        if sheet and (now := current(sheet)) != sheet:
            widget.setStyleSheet(now)
        if (use_theme := getattr(widget, "use_theme", None)) is not None:
            use_theme()  # colours that no style sheet has
        widget.update()


def current(sheet: str) -> str:
    """A style sheet with the colours of the current theme in place of another's."""

    def replaced(found: re.Match[str]) -> str:
        name = theme.name_of(found[0])
        return theme.colour(name) if name is not None else found[0]

    return re.sub(r"#[0-9a-f]{6}\b", replaced, sheet)


def palette() -> QPalette:
    """The palette of the current theme."""
    made = QPalette()
    for role, name in _PALETTE.items():
        made.setColor(role, QColor(theme.colour(name)))
    for role in (_ROLES.WindowText, _ROLES.Text, _ROLES.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(theme.DISABLED))
    return made
