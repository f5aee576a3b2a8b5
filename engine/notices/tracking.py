"""The texts of what ``engine/tracking`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    "tracking.too_fast": (
        "{share:.0%} of the objects' steps from one analysed frame to the next are longer than their boxes ({rate:.3g} frames/s): such"
        " objects get several numbers or none, and their crossings are missed. Analyse more frames a second (a smaller {option})"
    ),
}
