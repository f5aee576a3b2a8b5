"""The texts of what ``engine/backends`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
