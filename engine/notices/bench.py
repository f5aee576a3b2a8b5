"""The texts of what ``engine/bench`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
