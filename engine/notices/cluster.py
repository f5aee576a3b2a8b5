"""The texts of what ``engine/cluster`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
