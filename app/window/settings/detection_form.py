"""How a device detects: precision, decoding, thresholds."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.window.settings.preferences import Preferences
from app.window.widgets.fields import choice, count, share
from app.window.widgets.form_grid import form_grid
from app.window.widgets.indicators import wrapped
from engine.settings import Decode, Precision, Resize

_PRECISIONS = {
    Precision.AUTO: "Automatic: the fastest whose detections match FP32",
    Precision.FP32: "FP32",
    Precision.MIXED: "Mixed: FP32, the last layers BF16",
    Precision.BF16: "BF16",
    Precision.FP16: "FP16",
}
_RESIZES = {
    Resize.AUTO: "As the model says",
    Resize.STRETCH: "Stretch to the network's shape",
    Resize.LETTERBOX: "Letterbox: keep the aspect ratio",
}
_DECODES = {
    Decode.AUTO: "Automatic: NVDEC on GPUs, for what it can decode",
    Decode.CPU: "CPU",
    Decode.NVDEC: "NVDEC: what it cannot decode fails",
}


class DetectionForm(QWidget):
    """changed: precision or decoding is another one now."""

    changed = Signal()

    def __init__(self, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.precision = choice("Precision", _PRECISIONS, preferences.precision)
        self.precision_problem = wrapped("error")
        self.resize_mode = choice("Resize", _RESIZES, preferences.resize)
        self.decode = choice("Decoding", _DECODES, preferences.decode)
        self.decode_problem = wrapped("error")
        self.batch = count("Batch", preferences.batch, 1024)
        self.confidence = share("Confidence", preferences.confidence)
        self.iou = share("Overlap (IoU)", preferences.iou)
        for combo in (self.precision, self.decode):
            combo.currentIndexChanged.connect(self.changed)
        self.setLayout(
            form_grid(
                (
                    ("Precision", self.precision),
                    ("", self.precision_problem),
                    ("Decoding", self.decode),
                    ("", self.decode_problem),
                    ("Resize", self.resize_mode),
                    ("Batch", self.batch, "frames per inference"),
                    ("Confidence", self.confidence, "for a start; the slider beside the video changes it"),
                    ("IoU", self.iou, "overlap above which the weaker of two boxes goes"),
                )
            )
        )
