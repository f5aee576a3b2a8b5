"""The texts of what ``engine/detection`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    "detection.not_finite": "the network's outputs are not finite: check the weights, or try {option}",
    "detection.too_many_boxes": "more than {most:,} boxes reach the confidence threshold: check the weights, or raise {option}",
}
