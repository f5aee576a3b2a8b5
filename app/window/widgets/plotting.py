"""Imports pyqtgraph without its use of CUDA, and makes plots."""

import sys
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy

from framefleet.app.window.widgets import theme

# Hides CUDA from pyqtgraph, which would load the driver's library for a widget that is not used here.
_loaded = sys.modules.get("cuda.bindings")
sys.modules["cuda.bindings"] = None  # type: ignore[assignment]
try:
    import pyqtgraph as pg
finally:
    del sys.modules["cuda.bindings"]
    if _loaded is not None:
        sys.modules["cuda.bindings"] = _loaded

__all__ = ["colour_plot", "pg", "still_plot"]


def still_plot() -> Any:
    """A ``pg.PlotWidget`` with axes that the mouse does not move."""
    plot = pg.PlotWidget(enableMenu=False)
    plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
    item = plot.getPlotItem()
    item.hideButtons()
    item.setMouseEnabled(False, False)
    item.showGrid(y=True, alpha=0.18)
    for side in ("left", "bottom"):
        item.getAxis(side).setStyle(tickFont=theme.font(-2))
        item.getAxis(side).enableAutoSIPrefix(False)
    return plot


def colour_plot(plot: Any, background: str) -> None:
    """Give a plot the colours of the current theme. background: a colour."""
    plot.setBackground(background)
    for side in ("left", "bottom"):
        axis = plot.getPlotItem().getAxis(side)
        axis.setPen(pg.mkPen(theme.MUTED))
        axis.setTextPen(pg.mkPen(theme.MUTED))
