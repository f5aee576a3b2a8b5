"""The texts of what ``engine/pool`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    # the strategy of a run
    "pool.as_settings_say": "as the settings say",
    "pool.tiles_as_settings_say": "as the settings say: {tiles}",
    "pool.only_device": "{device} is the only device and does every file from start to end",
    "pool.live_sources": "each live source stays on one device, the one with the least load",
    "pool.at_keyframes": "files are cut at keyframes, and all {devices} devices work on the oldest one",
    "pool.uncut_stay": "{together}; a video that cannot be cut stays on one device",
    "pool.devices_idle": (
        "{together}; but this video cannot be cut and stays on one device: {option} may be faster, it shares single frames among all"
        " devices",
        "{together}; but these {count} videos cannot be cut and stay on one device each: {option} may be faster, it shares single frames"
        " among all devices",
    ),
    # devices that join and leave
    "pool.no_device": "no device to run on: 'framefleet devices' lists yours",
    "pool.device_of_cluster": "{device} is a device of a cluster: give {option}, or choose one of 'framefleet devices'",
    "pool.group_cannot_join": "{device} is a group of devices: add each device separately",
    "pool.takes_part": "{device} takes part already",
    "pool.takes_no_part": "{device} does not take part: there is {devices}",
    "pool.no_devices": "no device",
    "pool.last_device": "{device} is the last device, and there is work left: add another device first, or cancel the work",
    "pool.not_elastic": "with the strategy {strategy} no device can join or leave a run: start another one",
    "pool.removed": "it was removed",
    "pool.no_device_left": "no device is left: {device}: {why}",
    # engines and workers
    "pool.waiting_for_engine": "waiting for the earlier engine to end",
    "pool.restarts_did_not_help": "{why}; {restarts} restarts within {seconds:.0f} s did not help",
    "pool.ended_by_neighbour": "the worker of {device} ended the process that both share",
    "pool.engine_stopped": "the engine stopped working: {problem}",
    "pool.members_failed": "{members}",
    # what may hang: the {what} of processes.too_slow
    "pool.decoding": "decoding {path}",
    "pool.inference": "an inference on {device}",
    "pool.building": "a step in building the engine for {device}",
    # sources
    "pool.opening_ended_worker": "{path}: opening it ended the worker twice: {why}",
    "pool.left_unfinished": "{path} stays unfinished, since {kills} workers in a row ended while they worked on the same part of it: {why}."
    " Close other programs or use fewer devices, and run again",
    "pool.cut_differently": "{path} is not cut as in the earlier run: use {option} to begin again",
    "pool.not_opened": "{path}: {problem}",
    # frames
    "pool.died_twice": "the worker died on this frame twice",
    "pool.wrong_number_of_results": "inference failed: the engine gave {found} results for {wanted} pictures",
    "pool.tiles_not_merged": "its tiles cannot be merged: {problem}",
    "pool.other_reasons": "other reasons",
}
