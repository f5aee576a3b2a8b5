"""The texts of what ``engine/pool`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    "pool.waiting_for_engine": "waiting for the earlier engine to end",
}
