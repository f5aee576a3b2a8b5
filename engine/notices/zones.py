"""The texts of what ``engine/zones`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
