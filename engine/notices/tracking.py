"""The texts of what ``engine/tracking`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
