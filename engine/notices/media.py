"""The texts of what ``engine/media`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
