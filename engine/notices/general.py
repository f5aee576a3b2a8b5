"""The texts that several parts of the engine use."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    "general.several": "{parts}",
    # what a library or the operating system says, or a client, in its own words
    "general.detail": "{detail}",
    # what went wrong with one device; a client that shows the device beside it takes the field ``problem``
    "general.of_device": "{device}: {problem}",
    # an error that nobody expected, with the name of its class
    "general.unexpected": "{kind}: {detail}",
    "general.install": "{command} '{what}'",
    "general.install_wheel": "{command} 'framefleet-VERSION.whl[{extra}]', with the wheel that you installed",
}
