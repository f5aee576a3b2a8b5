"""The texts of what ``engine/cuda`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
