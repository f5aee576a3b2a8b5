"""How several devices share the work."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.window.settings.preferences import Preferences
from app.window.widgets.fields import choice, count, share
from app.window.widgets.form_grid import form_grid
from app.window.widgets.indicators import wrapped
from engine.settings import Parallel, Tiles

_PARALLELS = {
    Parallel.AUTO: "Automatic: the best for the files and devices",
    Parallel.SEGMENTS: "Segments: all devices share each file",
    Parallel.STREAMS: "Streams: each file stays on one device",
    Parallel.FRAMES: "Frames: decoded once, dealt to devices by speed",
    Parallel.TILES: "Tiles: each frame cut into overlapping pieces",
    Parallel.DEPTH: "Depth: the network cut into stages, one per device",
}


class SharingForm(QWidget):
    """The strategy, and of tiles how frames are cut. changed: anything is."""

    changed = Signal()

    def __init__(self, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        tiles = preferences.tiles
        self.parallel = choice("Strategy", _PARALLELS, preferences.parallel)
        self.parallel.currentIndexChanged.connect(self._choose)
        self.problem = wrapped("error")
        self.columns = count("Columns of tiles", tiles.columns, 64)
        self.rows = count("Rows of tiles", tiles.rows, 64)
        self.overlap = share("Overlap of tiles", tiles.overlap, 0.0, 0.5)
        self.full_frame = QCheckBox("Also the whole frame at once, for large objects")
        self.full_frame.setChecked(tiles.full_frame)
        grid = QWidget()
        line = QHBoxLayout(grid)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(8)
        for widget in (self.columns, QLabel("×"), self.rows, QLabel("columns × rows")):
            line.addWidget(widget)
        widget.setProperty("role", "small")
        line.addStretch()
        self.tile_fields = QWidget()
        self.tile_fields.setLayout(
            form_grid((("Tiles", grid), ("Tile overlap", self.overlap, "of a tile's side"), ("Full frame", self.full_frame)))
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(form_grid((("Strategy", self.parallel), ("", self.problem))))
        column.addWidget(self.tile_fields)
        self._choose()

    @property
    def strategy(self) -> Parallel:
        """The chosen one."""
        return Parallel(self.parallel.currentData())  # Qt hands enumerations back as plain text

    @property
    def tiles(self) -> Tiles:
        """What the fields say, whether tiles are chosen or not."""
        overlap = round(self.overlap.value(), 2)
        return Tiles(self.columns.value() or None, self.rows.value() or None, overlap, self.full_frame.isChecked())

    @Slot()
    def _choose(self) -> None:
        self.tile_fields.setVisible(self.strategy is Parallel.TILES)
        self.changed.emit()
