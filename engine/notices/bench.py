"""The texts of what ``engine/bench`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    "bench.tunes": "the process that tunes engines",
    "bench.no_video": "no video to measure with: {problem}",
    "bench.not_repeated": "{path} cannot be repeated: {problem}; give an H.264 or HEVC file",
    "bench.no_pictures": "{path} has no pictures",
    "bench.no_times": "{path} has no frames with times",
    "bench.device_failed": "{device} failed during the measurement: {problem}",
    "bench.source_failed": "source {number} cannot be measured: {problem}",
    "bench.too_short": "the sources are too short to measure: they end during the warm-up, their first tenth",
    "bench.wrong_counts": "counts {counts}: give growing numbers of devices, beginning with 1, such as 1,2,4",
    "bench.too_few_devices": (
        "{wanted} devices are to be measured, and there is {count}: {devices}",
        "{wanted} devices are to be measured, and there are {count}: {devices}",
    ),
    "bench.other_devices": "no device benchmarks for {devices}: give CPU or CUDA devices, such as cuda:0,cuda:1",
    "bench.no_devices": "no device to measure: give CPU or CUDA devices, such as cuda:0,cuda:1",
    "bench.too_few_repetitions": "a variance needs at least 2 repetitions, not {repetitions}",
}
