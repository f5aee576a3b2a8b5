"""States of the window with tracked results: lines and zones, corrections, a chosen part, and full screen."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from PySide6.QtCore import QEvent, QPointF, Qt, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog, QMenu, QPushButton

from framefleet.app.window.corrections.corrector import Corrector
from framefleet.app.window.events.clips import ClipsDialog
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import Part
from framefleet.app.window.zones.drawing.layer import Scale
from framefleet.app.window.zones.panel import BY_TRACK, HEAT
from framefleet.app.window.zones.sets import FilesDialog
from framefleet.app.window.zones.shape_table import ClassesPopup
from framefleet.app.window.zones.workspace import Zones
from framefleet.engine.zones.shapes import Line, Point, Zone
from tests.support.desktop.settling import Screens, child, has_settled, settle, shown_dialog, shown_files, shown_menu
from tests.support.window import feature

SIZE = 640, 360
"""The size of the video's pictures, pixels."""
LANE = (580.0, 160.0), (590.0, 340.0)
JUNCTION = (490.0, 165.0), (572.0, 172.0), (572.0, 320.0), (490.0, 320.0)
PAVEMENT = (80.0, 190.0), (225.0, 190.0), (225.0, 350.0), (60.0, 350.0)
STREET, MOUSE = ((250.0, 215.0), (440.0, 205.0), (450.0, 330.0)), (240.0, 335.0)
"""The corners of a zone that is drawn, and where the mouse is."""
CAR = 510.0, 185.0
"""A point of a box in the shown frame."""
SET = "Main street"


def tracks(window: MainWindow) -> Screens:
    """Lines, zones and routes of tracks, trails, the heat map, and tracks on the timeline."""
    zones, shown = feature(window, Zones), feature(window, Zones).parts.actions
    window.context.actions.zones.setChecked(True)
    settle(lambda: zones.panel.track.isVisible())
    zones.panel.track.click()
    settle(lambda: zones.counting.tracks is not None and zones.counting.tracks.tracked)
    zones.set.create(SET)
    for kind, points in ((Line, LANE), (Zone, JUNCTION), (Zone, PAVEMENT)):
        _draw(window, kind, points)
        zones.editor.finish()
    zones.tabs.buttons.button(3).click()
    settle(lambda: zones.routes.model.rowCount() > 1 and window.context.viewer.canvas.visible_detections.tracks is not None)
    settle(lambda: has_settled(window.context.viewer))
    yield "routes", window
    zones.tabs.buttons.button(2).click()
    settle()
    yield "counts.places", zones.tabs
    zones.tabs.buttons.button(0).click()
    shown[HEAT].trigger()
    shown[BY_TRACK].trigger()
    settle(lambda: has_settled(window.context.viewer))
    yield "heat", window.context.viewer
    shown[HEAT].trigger()
    shown[BY_TRACK].trigger()
    yield from _zone_dialogs(window)
    _draw(window, Zone, STREET)
    mouse, none = _on_canvas(window, MOUSE), Qt.MouseButton.NoButton
    QApplication.sendEvent(zones.layer, QMouseEvent(QEvent.Type.MouseMove, mouse, mouse, none, none, Qt.KeyboardModifier.NoModifier))
    settle()
    yield "drawing", window.context.viewer
    zones.editor.cancel()


def _draw(window: MainWindow, kind: type[Line] | type[Zone], points: tuple[Point, ...]) -> None:
    feature(window, Zones).layer.draw(kind)
    for point in points:
        feature(window, Zones).editor.add_point(point)


def _on_canvas(window: MainWindow, point: Point) -> QPointF:
    placement = window.context.viewer.canvas.placement
    assert placement is not None
    return Scale(placement, SIZE).to_canvas(point)


def _zone_dialogs(window: MainWindow) -> Screens:
    """The menus and dialogs of a set of lines and zones, and the events in their own window."""
    panel, labels = (
        feature(window, Zones).panel,
        window.context.viewer.item.results.labels if window.context.viewer.item and window.context.viewer.item.results else (),
    )
    yield from shown_menu("menu.set", panel.menu, window)
    show = next(button.menu() for button in panel.findChildren(QPushButton) if button.menu() not in (None, panel.menu))
    yield from shown_menu("menu.show", cast("QMenu", show), window)
    panel.menu.actions()[0].trigger()
    yield from shown_dialog("set.name", child(window, QInputDialog))
    panel.menu.actions()[2].trigger()
    yield from shown_files("save", window, Path("videos"))
    uses = {0: SET, 1: SET, 2: None, 3: "Bridge"}
    files = {Path(f"/videos/{'north' if number < 2 else 'south'}/camera {number}.mp4"): name for number, name in uses.items()}
    yield from shown_dialog("set.files", FilesDialog(SET, files, window))
    popup = ClassesPopup(labels, ("car", "bus"), window)
    popup.adjustSize()
    popup.show()
    settle()
    yield "set.classes", popup
    popup.close()
    feature(window, Zones).list.detach.click()
    settle()
    yield "events.window", feature(window, Zones).list.window()
    feature(window, Zones).list.detach.click()


def corrections(window: MainWindow) -> Screens:
    """A selected object that can be corrected, a chosen part of the video, and the picture under the mouse on the timeline."""
    transport, canvas = window.context.viewer.transport, window.context.viewer.canvas
    window.context.actions.zones.setChecked(False)
    window.context.actions.correct.setChecked(True)
    settle(lambda: has_settled(window.context.viewer))
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=_on_canvas(window, CAR).toPoint())
    settle(lambda: feature(window, Corrector).bar.buttons["confirm"].isEnabled())
    yield "correcting", window.context.viewer
    window.context.actions.correct.setChecked(False)
    transport.timeline.set_part(Part(0.2, 0.64))
    settle(lambda: has_settled(window.context.viewer))
    yield "part", transport
    yield from shown_menu("menu.part", transport.part.menu(), window)
    yield from shown_menu("menu.speed", transport.speed.menu(), window)
    transport.part.menu().actions()[1].trigger()
    clips = cast("ClipsDialog", child(window, ClipsDialog))
    settle(clips.start.isEnabled)
    yield from shown_dialog("clips.part", clips)
    transport.timeline.set_part(None)
    card = window.context.viewer.hover_card
    transport.timeline.hovered.emit(0.6)
    settle(lambda: not card.picture.pixmap().isNull())
    yield "glimpse", card
    transport.timeline.hovered.emit(None)
    window.context.activity.show_progress("Exporting as CSV tables…", 0.4, lambda: None)
    settle()
    yield "exporting", window.status
    window.context.activity.hide()


def full_screen(window: MainWindow) -> Screens:
    """The picture on the whole screen, with its controls, and without them after a while."""
    window.toggle_fullscreen()
    settle(lambda: window.isFullScreen() and has_settled(window.context.viewer))
    yield "fullscreen", window
    controls = window.context.viewer.controls.findChild(QTimer)
    controls.timeout.emit()
    settle(lambda: window.context.viewer.transport.isHidden())
    yield "fullscreen.bare", window
    window.toggle_fullscreen()
    settle(lambda: not window.isFullScreen() and has_settled(window.context.viewer))
