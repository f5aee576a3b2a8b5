"""The texts of what ``plugins`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
