"""The texts of what ``engine/devices`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
