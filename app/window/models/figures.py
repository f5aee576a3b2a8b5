"""The figures of a model, in columns that all cards share."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout

from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.build import label
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.model.check import ModelSummary
from framefleet.engine.model.registry.catalogue import ModelEntry

_WIDTH = 84


def of_entry(entry: ModelEntry) -> QGridLayout:
    """The figures of a model of the catalogue."""
    why = translate("models", "Average precision on COCO at IoU 0.50–0.95; {ap50} at IoU 0.50").format(ap50=formats.share(entry.ap50 / 100))
    accuracy = formats.share(entry.ap / 100), "COCO AP", why
    download = entry.download_bytes, translate("models", "download"), entry.weights_bytes
    return _columns((accuracy, *_common(entry.gflops, (entry.side, entry.side), entry.parameters, download)))


def of_summary(summary: ModelSummary) -> QGridLayout:
    """The figures of a model of the user's own, whose accuracy is not published."""
    labels = ", ".join(summary.labels[:20]) + (" …" if summary.classes > 20 else "")
    classes = formats.count(summary.classes), translate("models", "classes"), labels
    weights = summary.weights_bytes, translate("models", "weights"), summary.weights_bytes
    return _columns((classes, *_common(summary.gflops, (summary.width, summary.height), summary.parameters, weights)))


def _common(gflops: float, size: tuple[int, int], parameters: int, file: tuple[int, str, int]) -> Sequence[tuple[str, str, str]]:
    """The figures of all models. size: of the input, pixels. file: the bytes to show, what they are, and the exact number of bytes."""
    shown, what, exact = file
    return (
        (
            formats.rate(gflops),
            translate("models", "GFLOP / picture"),
            translate("models", "Computation for one picture: half as much takes about half the time"),
        ),
        ("{} × {}".format(*size), translate("models", "pixels"), translate("models", "The size of the network's input")),
        (
            translate("models", "{parameters} M").format(parameters=formats.decimal(parameters / 1e6)),
            translate("models", "parameters"),
            translate("models", "{parameters} parameters").format(parameters=formats.count(parameters)),
        ),
        (
            translate("models", "{megabytes} MB").format(megabytes=formats.count(round(shown / 1e6))),
            what,
            translate("models", "The weight file has exactly {weights_bytes} bytes").format(weights_bytes=formats.count(exact)),
        ),
    )


def _columns(figures: Sequence[tuple[str, str, str]]) -> QGridLayout:
    """figures: value, caption and tooltip of each column."""
    table = QGridLayout()
    table.setVerticalSpacing(1)
    table.setRowStretch(0, 1)
    table.setRowStretch(3, 1)
    table.setHorizontalSpacing(10)
    widest = label("section", "1280 × 1280")
    widest.ensurePolished()
    for number, (value, caption, tip) in enumerate(figures):
        table.addWidget(label("section", value, tip=tip), 1, number, Qt.AlignmentFlag.AlignRight)
        table.addWidget(label("small", caption, tip=tip), 2, number, Qt.AlignmentFlag.AlignRight)
        table.setColumnMinimumWidth(number, widest.sizeHint().width() if "×" in value else _WIDTH)
    return table
