"""The texts of what ``engine/processes`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
