"""The button that names the chosen part of a source, with a menu of what to do with it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QToolButton

from framefleet.app.window.queue.item import Part
from framefleet.app.window.timeline.timeline import Timeline
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.types import SourceInfo


class PartButton(QToolButton):
    """Shown while a part is chosen. detection_requested: the Part in which to detect. save_requested: the Part to save as a clip."""

    detection_requested = Signal(object)
    save_requested = Signal(object)

    def __init__(self, timeline: Timeline) -> None:
        super().__init__()
        self._timeline = timeline
        self.setProperty("role", "flat")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(translate("timeline", "Chosen part"))
        self.setToolTip(translate("timeline", "The chosen part: drag its edges on the timeline, or press Shift+I and O (X: none)"))
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        menu.addAction(translate("timeline", "Detect only in this part"), lambda: self.detection_requested.emit(self._timeline.part))
        menu.addAction(translate("timeline", "Save this part…"), lambda: self.save_requested.emit(self._timeline.part))
        menu.addAction(translate("timeline", "Choose the whole video"), lambda: self._timeline.set_part(None))
        self.setMenu(menu)
        self.hide()
        timeline.part_chosen.connect(self._chosen)

    def mark(self, pts: float, end: bool, info: SourceInfo | None = None) -> None:
        """Let the part begin or end at a time. The other edge moves to the end of the source if it is on the wrong side.

        info: of the source. A part that ends at the last frame contains it, because no later frame can be chosen.
        """
        part, length = self._timeline.part, self._timeline.duration
        if end and info is not None and info.rate and pts + 1.01 / info.rate > length:
            pts = length
        if end:
            begin = part.begin if part is not None and part.begin < pts else 0.0
            self._timeline.set_part(Part(begin, pts))
        else:
            self._timeline.set_part(Part(pts, part.end if part is not None and part.end > pts else length))

    def _chosen(self, part: Part | None) -> None:
        if part is not None:
            self.setText(" – ".join(self._timeline.written(edge, decimals=2) for edge in (part.begin, part.end)))
        self.setVisible(part is not None)
