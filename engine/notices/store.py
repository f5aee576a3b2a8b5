"""The texts of what ``engine/store`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
