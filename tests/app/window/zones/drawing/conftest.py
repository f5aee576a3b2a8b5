"""A layer of lines and zones over a picture with one object."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage

from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.zones.drawing.editor import ZoneEditor
from framefleet.app.window.zones.drawing.layer import ZoneLayer
from framefleet.engine.types import Detections, FrameRef, FrameResult
from framefleet.engine.zones.shapes import ZoneSet
from tests.support.window import CPU

SIZE = (640, 320)


@pytest.fixture
def layer(qtbot):
    """The picture has 640×320 pixels and fills a canvas of the same size."""
    canvas = VideoCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(*SIZE)
    canvas.set_filter(ViewFilter(0.25))
    editor = ZoneEditor()
    editor.load(ZoneSet(SIZE))
    layer = ZoneLayer(canvas, editor)
    canvas.show()
    image = QImage(*SIZE, QImage.Format.Format_RGB32)
    image.fill(QColor(90, 90, 90))
    canvas.show_picture(image, SIZE, tracked_frame())
    layer.set_editing(True)
    canvas.grab()
    layer.canvas, layer.editor = canvas, editor
    yield layer
    editor.undo.clear()  # at the end of the program, PySide would delete the commands before their stack


def tracked_frame():
    arrays = np.array([0.9], np.float32), np.array([2], np.int32), np.array([1], np.int32)
    return FrameResult(FrameRef(0, 10, 1.0), CPU, *SIZE, Detections(np.array([[300, 200, 320, 240]], np.float32), *arrays))
