"""COCO's own category ids: 80 classes with ids from 1 to 90."""

from collections.abc import Sequence

from framefleet.engine.errors import UsageError
from framefleet.engine.model.files import coco_labels
from framefleet.engine.notices import Notice, Option

_UNUSED = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}
"""The ids of categories that COCO planned and then left out."""

COCO_IDS = tuple(number for number in range(1, 91) if number not in _UNUSED)
"""The category id of each class of a model with COCO's labels."""

_OTHER_NAMES = {
    "aeroplane": "airplane",
    "diningtable": "dining table",
    "motorbike": "motorcycle",
    "pottedplant": "potted plant",
    "sofa": "couch",
    "tvmonitor": "tv",
}
"""Labels of Darknet's ``coco.names`` that COCO spells differently."""


def has_coco_labels(labels: Sequence[str]) -> bool:
    """Whether these are COCO's labels in COCO's order, spelled as by COCO or by Darknet."""
    return tuple(_OTHER_NAMES.get(label, label) for label in labels) == coco_labels()


def check_coco_labels(labels: Sequence[str]) -> None:
    """Check that a model has COCO's labels in COCO's order. Raises UsageError if it has others; the message names the first one."""
    wanted = coco_labels()
    found = [_OTHER_NAMES.get(label, label) for label in labels]
    if len(found) != len(wanted):
        counts = {"number": len(wanted), "found": len(found)}
        raise UsageError(Notice("store.other_number_of_labels", option=Option("coco-ids"), **counts))
    for number, (label, name) in enumerate(zip(found, wanted, strict=True)):
        if label != name:
            raise UsageError(Notice("store.other_labels", option=Option("coco-ids"), number=number, label=label, name=name))
