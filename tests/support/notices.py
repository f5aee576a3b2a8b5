"""Made-up messages for tests."""

from framefleet.engine.notices import Notice


def words(text: str) -> Notice:
    """A notice whose English text is this text, as for what a library says."""
    return Notice("general.detail", detail=text)
