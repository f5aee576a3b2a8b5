"""The texts that several parts of the engine use."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    "general.text": "{text}",
    # what a library or the operating system says, in its own words
    "general.detail": "{detail}",
}
