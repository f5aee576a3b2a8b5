"""The texts of what ``engine/run``, the detection run, tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {}
