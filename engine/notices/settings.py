"""The texts of what ``engine/settings`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
