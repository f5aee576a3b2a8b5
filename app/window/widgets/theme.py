"""The colours, fonts and style sheet of the whole window."""

from __future__ import annotations

from typing import Final

from PySide6.QtGui import QColor, QFont, QFontInfo, QPalette
from PySide6.QtWidgets import QApplication

from resources.icons import icon_path

BACKGROUND: Final = "#0e1014"
SURFACE: Final = "#14171c"
RAISED: Final = "#1c2027"
HOVER: Final = "#262b34"
BORDER: Final = "#272c35"
EDGE: Final = "#3a414d"  # the outline of controls
TEXT: Final = "#e7e9ee"
MUTED: Final = "#9ba3b0"
DISABLED: Final = "#646c79"
ACCENT: Final = "#6aa5ff"
ACCENT_HOVER: Final = "#8abaff"
ACCENT_QUIET: Final = "#1d2d47"  # the accent as a surface
ON_ACCENT: Final = "#0b1220"
GOOD: Final = "#56c596"
WARNING: Final = "#e8b75a"
DANGER: Final = "#f27f78"
SELECTED: Final = "#1f2a3d"

SPACE: Final = 8
"""The unit of distances in the window, logical pixels."""
MAX_BASE, MIN_BASE = 17, 12


def base_size() -> int:
    """Height of body text, logical pixels: that of the system, from ``MIN_BASE`` to ``MAX_BASE``."""
    return min(max(QFontInfo(QApplication.font()).pixelSize(), MIN_BASE), MAX_BASE)


def font(step: int = 0, *, bold: bool = False) -> QFont:
    """The system's font, ``step`` pixels larger than body text, with digits of equal width."""
    made = QFont(QApplication.font())
    made.setPixelSize(base_size() + step)
    made.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    made.setFeature(QFont.Tag("tnum"), 1)
    return made


def palette() -> QPalette:
    """The colours that Qt's own style uses where the style sheet says nothing."""
    made = QPalette()
    roles = {
        QPalette.ColorRole.Window: SURFACE,
        QPalette.ColorRole.WindowText: TEXT,
        QPalette.ColorRole.Base: RAISED,
        QPalette.ColorRole.AlternateBase: SURFACE,
        QPalette.ColorRole.Text: TEXT,
        QPalette.ColorRole.PlaceholderText: MUTED,
        QPalette.ColorRole.Button: RAISED,
        QPalette.ColorRole.ButtonText: TEXT,
        QPalette.ColorRole.BrightText: TEXT,
        QPalette.ColorRole.ToolTipBase: RAISED,
        QPalette.ColorRole.ToolTipText: TEXT,
        QPalette.ColorRole.Highlight: ACCENT,
        QPalette.ColorRole.HighlightedText: ON_ACCENT,
        QPalette.ColorRole.Accent: ACCENT,
        QPalette.ColorRole.Link: ACCENT,
        QPalette.ColorRole.Light: HOVER,
        QPalette.ColorRole.Mid: BORDER,
        QPalette.ColorRole.Dark: BACKGROUND,
        QPalette.ColorRole.Shadow: BACKGROUND,
    }
    for role, colour in roles.items():
        made.setColor(role, QColor(colour))
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(DISABLED))
    return made


def apply_theme(application: QApplication) -> None:
    """Apply the style to the whole application."""
    application.setStyle("Fusion")
    application.setPalette(palette())
    application.setFont(font())
    application.setStyleSheet(style_sheet())


def table_style() -> str:
    """The style sheet of a table of rows."""
    return f"""
QTreeWidget {{ background: {SURFACE}; border: 1px solid {BORDER}; border-radius: 6px; }}
QTreeWidget::item {{ padding: 4px 6px; }}
QTreeWidget::item:hover {{ background: {HOVER}; }}
QTreeWidget::item:selected {{ background: {ACCENT_QUIET}; color: {TEXT}; }}
QHeaderView, QHeaderView::section {{ background: {SURFACE}; color: {MUTED}; border: none; }}
QHeaderView::section {{ padding: 5px 6px; min-height: {base_size() + 4}px; }}
"""


def style_sheet() -> str:
    """The style sheet; widgets are addressed by the dynamic property ``role`` rather than by name."""
    base = base_size()
    small = base - 1
    return f"""
* {{ outline: none; }}
QMainWindow, QDialog {{ background: {BACKGROUND}; }}
QToolTip {{ background: {RAISED}; color: {TEXT}; border: 1px solid {EDGE}; padding: 5px 7px; }}
QLabel {{ background: transparent; }}
QLabel[role="muted"] {{ color: {MUTED}; }}
QLabel[role="small"] {{ color: {MUTED}; font-size: {small}px; }}
QLabel[role="title"] {{ font-size: {base + 7}px; font-weight: 600; }}
QLabel[role="section"] {{ font-size: {base + 1}px; font-weight: 600; }}
QLabel[role="heading"] {{ color: {MUTED}; font-size: {small}px; font-weight: 600; }}
QLabel[role="figure"] {{ font-size: {base + 9}px; font-weight: 600; }}
QLabel[role="section"]:disabled, QLabel[role="small"]:disabled, QLabel[role="figure"]:disabled {{ color: {DISABLED}; }}
QLabel[role="error"] {{ color: {DANGER}; }}
QLabel[role="notice"] {{ color: {WARNING}; font-size: {small}px; }}
QLabel[role="wordmark"] {{ font-size: {base + 2}px; font-weight: 600; }}

QWidget[role="panel"] {{ background: {SURFACE}; }}
QWidget[role="bar"] {{ background: {SURFACE}; }}
QFrame[role="card"] {{ background: {RAISED}; border: 1px solid {BORDER}; border-radius: 8px; }}
QFrame[role="line"] {{ background: {BORDER}; max-height: 1px; min-height: 1px; border: none; }}
QSplitter::handle {{ background: {BACKGROUND}; }}
QSplitter::handle:hover {{ background: {ACCENT}; }}

QPushButton, QToolButton {{ background: {RAISED}; color: {TEXT}; border: 1px solid {BORDER}; border-radius: 6px; padding: 5px 12px; }}
QPushButton {{ min-height: {base + 5}px; }}
QPushButton:checked {{ background: {ACCENT_QUIET}; color: {ACCENT_HOVER}; border-color: {ACCENT_QUIET}; }}
QPushButton[role="flat"] {{ background: transparent; border: 1px solid transparent; padding: 5px 8px; }}
QPushButton[role="flat"]:hover {{ background: {HOVER}; }}
QPushButton[role="flat"]:checked {{ background: {ACCENT_QUIET}; color: {ACCENT_HOVER}; }}
QPushButton[role="flat"]:focus {{ border-color: {ACCENT}; }}
QPushButton[role="flat"]:disabled {{ color: {DISABLED}; background: transparent; }}
QPushButton:hover, QToolButton:hover {{ background: {HOVER}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {BORDER}; }}
QPushButton:focus, QToolButton:focus {{ border-color: {ACCENT}; }}
QPushButton:disabled, QToolButton:disabled {{ color: {DISABLED}; background: {SURFACE}; }}
QPushButton[role="primary"], QPushButton:default {{ background: {ACCENT}; color: {ON_ACCENT}; border-color: {ACCENT}; font-weight: 600; }}
QPushButton[role="primary"]:hover, QPushButton:default:hover {{ background: {ACCENT_HOVER}; border-color: {ACCENT_HOVER}; }}
QPushButton[role="primary"]:focus, QPushButton:default:focus {{ border-color: {TEXT}; }}
QPushButton[role="primary"]:disabled, QPushButton:default:disabled {{ background: {RAISED}; color: {DISABLED}; border-color: {BORDER}; }}
QPushButton[role="fold"], QPushButton[role="fold"]:checked {{ background: transparent; color: {TEXT}; border: none; padding: 2px 0;
    text-align: left; font-size: {base + 1}px; font-weight: 600; }}
QPushButton[role="fold"]:hover {{ color: {ACCENT_HOVER}; }}
QPushButton[role="fold"]:focus {{ text-decoration: underline; }}
QPushButton[role="link"] {{ background: transparent; border: none; color: {ACCENT}; padding: 2px 4px; }}
QPushButton[role="link"]:hover {{ color: {ACCENT_HOVER}; }}
QPushButton[role="link"]:focus {{ color: {ACCENT_HOVER}; text-decoration: underline; }}
QToolButton[role="flat"] {{ background: transparent; border: 1px solid transparent; padding: 5px; }}
QToolButton[role="small-flat"] {{ background: transparent; border: 1px solid transparent; padding: 1px; }}
QToolButton[role="small-flat"]:hover {{ background: {HOVER}; }}
QToolButton[role="small-flat"]:focus {{ border-color: {ACCENT}; }}
QToolButton[role="flat"]:hover {{ background: {HOVER}; }}
QToolButton[role="flat"]:focus {{ border-color: {ACCENT}; }}
QToolButton[role="flat"]:checked {{ background: {ACCENT_QUIET}; color: {ACCENT_HOVER}; }}
QToolButton[role="flat"]:disabled {{ background: transparent; }}
QFileDialog QToolButton {{ padding: 4px; }}
QFileDialog QListView::item:selected {{ background: {ACCENT_QUIET}; color: {TEXT}; }}
QToolButton::menu-indicator {{ image: none; }}

QLineEdit, QAbstractSpinBox, QComboBox {{ background: {RAISED}; border: 1px solid {EDGE}; border-radius: 6px;
    min-height: {base + 5}px; selection-background-color: {ACCENT}; selection-color: {ON_ACCENT}; }}
QLineEdit, QComboBox {{ padding: 5px 8px; }}
QAbstractSpinBox {{ padding: 5px 0; }}
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus, QComboBox:on {{ border-color: {ACCENT}; }}
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {{ color: {DISABLED}; border-color: {BORDER}; }}
QComboBox::drop-down {{ border: none; width: 24px; }}
QComboBox::down-arrow {{ image: url({icon_path("sheet-down").as_posix()}); width: 14px; height: 14px; }}
QComboBox QAbstractItemView {{ background: {RAISED}; border: 1px solid {EDGE}; padding: 4px; selection-background-color: {HOVER};
    selection-color: {TEXT}; }}
QAbstractSpinBox QLineEdit {{ border: none; border-radius: 0; padding: 0; min-height: 0; background: transparent; }}
QAbstractSpinBox::up-button {{ border: none; width: 20px; subcontrol-origin: border; subcontrol-position: top right; }}
QAbstractSpinBox::down-button {{ border: none; width: 20px; subcontrol-origin: border; subcontrol-position: bottom right; }}
QAbstractSpinBox::up-arrow {{ image: url({icon_path("sheet-up").as_posix()}); width: 12px; height: 12px; }}
QAbstractSpinBox::down-arrow {{ image: url({icon_path("sheet-down").as_posix()}); width: 12px; height: 12px; }}

QCheckBox {{ spacing: 8px; }}
QCheckBox::indicator, QListView::indicator {{ width: 14px; height: 14px; border: 1px solid {EDGE}; border-radius: 4px;
    background: {RAISED}; }}
QCheckBox::indicator:hover, QListView::indicator:hover {{ border-color: {MUTED}; }}
QCheckBox::indicator:focus {{ border-color: {ACCENT}; }}
QCheckBox:focus {{ color: {ACCENT_HOVER}; }}
QCheckBox::indicator:checked, QListView::indicator:checked {{ background: {ACCENT}; border-color: {ACCENT};
    image: url({icon_path("sheet-check").as_posix()}); }}
QCheckBox::indicator:disabled {{ background: {SURFACE}; border-color: {BORDER}; }}

QSlider::groove:horizontal {{ height: 4px; border-radius: 2px; background: {HOVER}; }}
QSlider::sub-page:horizontal {{ height: 4px; border-radius: 2px; background: {HOVER}; }}
QSlider::add-page:horizontal {{ height: 4px; border-radius: 2px; background: {ACCENT}; }}
QSlider::handle:horizontal {{ width: 14px; height: 14px; margin: -5px 0; border-radius: 7px; background: {TEXT}; }}
QSlider::handle:horizontal:hover, QSlider::handle:horizontal:focus {{ background: {ACCENT_HOVER}; }}

QProgressBar {{ background: {HOVER}; border: none; border-radius: 2px; }}
QProgressBar::chunk {{ background: {ACCENT}; border-radius: 2px; }}

QListView, QScrollArea {{ background: transparent; border: none; }}
QScrollArea[role="pane"] {{ border: 1px solid transparent; border-radius: 6px; }}
QScrollArea[role="pane"]:focus {{ border-color: {ACCENT}; }}
QListView::item {{ border-radius: 6px; }}
QListView[role="classes"]::item {{ padding: 4px 6px; }}
QListView[role="classes"]::item:hover {{ background: {HOVER}; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar::handle:vertical {{ background: {EDGE}; min-height: 28px; border-radius: 3px; margin: 2px; }}
QScrollBar::handle:vertical:hover {{ background: {DISABLED}; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; }}
QScrollBar::handle:horizontal {{ background: {EDGE}; min-width: 28px; border-radius: 3px; margin: 2px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}

QMenu {{ background: {RAISED}; border: 1px solid {EDGE}; padding: 5px; }}
QMenu::item {{ padding: 6px 26px 6px 10px; border-radius: 4px; }}
QMenu::icon {{ padding-left: 12px; }}
QMenu::item:selected {{ background: {HOVER}; }}
QMenu::item:disabled {{ color: {DISABLED}; }}
QMenu::separator {{ height: 1px; background: {BORDER}; margin: 5px 8px; }}
"""
