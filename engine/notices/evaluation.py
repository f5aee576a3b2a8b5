"""The texts of what ``engine/evaluation`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
