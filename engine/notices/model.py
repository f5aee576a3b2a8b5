"""The texts of what ``engine/model`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
