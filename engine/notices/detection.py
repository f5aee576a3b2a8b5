"""The texts of what ``engine/detection`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
