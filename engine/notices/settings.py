"""The texts of what ``engine/settings`` tells a person."""

from framefleet.engine.notices import Text

_SEGMENTS = "({devices}): choose other devices or the strategy segments"

TEXTS: dict[str, Text] = {
    # how pictures are cut into tiles
    "settings.tiles": "{grid} that overlap by {overlap:.0%}",
    "settings.tiles_and_whole": "{grid} that overlap by {overlap:.0%}, and the whole picture",
    "settings.tiles_automatic": "tiles of about the network's size",
    "settings.tiles_grid": "{columns} × {rows} tiles",
    "settings.automatic": "automatic",
    # devices
    "settings.no_device": "'{text}' is not a device: write cpu:0, cuda:0 or openvino:GPU.0 ('framefleet devices' lists yours)",
    "settings.no_device_named": "'{text}' names no device: write auto, or cpu:0, cuda:0 … ('framefleet devices' lists yours)",
    "settings.devices_with_plus": "'{text}': write the devices with commas, {better}; {option} says how they work together",
    "settings.device_twice": "a device is named twice: {devices}",
    "settings.wrong_number_of_stages": f"the strategy depth needs 2 to {{most}} devices, one for each stage, not {{number}} {_SEGMENTS}",
    "settings.stage_twice": f"the strategy depth needs a device for each stage, and one is named twice {_SEGMENTS}",
    "settings.mixed_stages": f"the strategy depth needs CUDA devices only, or other devices only, not both {_SEGMENTS}",
    "settings.no_nvdec": "NVDEC is part of NVIDIA's GPUs, and none is among the devices ({devices}): choose one, or let the CPU decode",
    "settings.offers_only": "{device} offers {precisions} only",
    "settings.all_of": "{problems}",
    # values
    "settings.no_effect_with_batch": "It has no effect while the batch is set to {batch}.",
    "settings.empty_part": "the part from {begin} to {end} is empty: the end must come after the beginning",
    "settings.no_clock": "'{text}' is not a time: write name, metadata, or when the file began, such as \"2026-11-01 08:00\"",
    "settings.no_time_zone": "'{text}' is not a known time zone: write its name, such as UTC or Europe/Berlin",
    "settings.folder_not_writable": "{folder} cannot be written to: {error}; choose another folder",
    "settings.nothing_named": "'{text}' names nothing: give at least one, or leave the option out",
    "settings.no_moment": "'{text}' cannot be used: give a time such as 90s or 1:02.5, or a number of frames such as 2700",
    "settings.moment_zero": "'{text}' cannot be used: give a time or a number of frames above 0",
    "settings.no_whole_number": "'{text}' cannot be used: give a whole number from 0",
    "settings.unknown_choice": "'{text}' is unknown; choose from: {available}",
    "settings.no_such_number": "'{text}' cannot be used: give {wanted}",
    "settings.out_of_range": "{name} {value:g} cannot be used: give {wanted}",
    # numbers that may be given
    "settings.auto_or": "auto or {number}",
    "settings.number": "a number {limits}",
    "settings.whole_number": "a whole number {limits}",
    "settings.number_of_unit": "a number of {unit} {limits}",
    "settings.from_to": "from {least:g} to {most:g}",
    "settings.above_and_at_most": "above {least:g} and at most {most:g}",
}
