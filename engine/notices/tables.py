"""All texts of what the engine tells a person. A part of the engine with many texts has a file of its own in this folder."""

from framefleet.engine.notices import Text, backends, cluster, devices, evaluation, live, media, model, pool, settings, store, zones

GENERAL: dict[str, Text] = {
    "general.several": "{parts}",
    "general.missing": "{path} does not exist: check the name and the folder",
    "general.unreadable": "{path} cannot be read: {detail}",
    "general.not_written": "{path} cannot be written: {error}",
    "general.no_file": "{path} is not a file",
    "general.not_utf8": "{path} is not UTF-8 text at byte {byte}: save it as UTF-8",
    "general.opening": "opening {path}",
    # what a library or the operating system says, or a client, in its own words
    "general.detail": "{detail}",
    # what went wrong with one device; a client that shows the device beside it takes the field ``problem``
    "general.of_device": "{device}: {problem}",
    # an error that nobody expected, with the name of its class
    "general.unexpected": "{kind}: {detail}",
    "general.install": "{command} '{what}'",
    "general.install_wheel": "{command} 'framefleet-VERSION.whl[{extra}]', with the wheel that you installed",
}

PROCESSES: dict[str, Text] = {
    "processes.memory_limited": "its memory is limited to {limit:,} MB, which may be the cause: raise the limit (ulimit -v)",
    "processes.no_memory_left": "no memory is left: a process may use {limit:,} MB here; raise the limit (ulimit -v), or remove it",
    "processes.no_memory": "no memory is left on this machine: end other programs, or use fewer devices",
    "processes.no_descriptors": "no more files can be opened: a process may have {limit:,} open here; raise the limit (ulimit -n)",
    "processes.file_limit": "a file may have {limit:,} KiB here: raise the limit (ulimit -f), or write less",
    "processes.no_threads": "no more threads can be started: raise the limit of processes (ulimit -u) or of memory (ulimit -v)",
    "processes.worker": "the worker",
    # how a child process ended: {name} is the process in words
    "processes.not_ended": "{name} did not end",
    "processes.status": "{name} ended unexpectedly with status {exit_code}",
    "processes.killed": "{name} was killed (SIGKILL), by a user or by the system because memory ran out",
    "processes.terminated": "{name} was terminated ({signal})",
    "processes.crashed": "{name} crashed ({signal})",
    "processes.crashed_with_limit": "{crash}; {advice}",
    "processes.no_sign_of_life": "{name} gave no sign of life for {seconds} s",
    "processes.too_slow": "{what} did not come to an end within {limit:.0f} s",
    # how a program ended that prints JSON
    "processes.no_answer": "it gave no answer within {timeout:g} s",
    "processes.not_started": "it cannot be started: {error}",
    "processes.program_crashed": "it crashed (signal {signal})",
    "processes.program_status": "it ended with status {status}",
    "processes.last_line": "{problem}: {line}",
    # the holder of a lock
    "processes.holder": "process {pid} ({command})",
    "processes.other_holder": "another process",
}

TRACKING: dict[str, Text] = {
    "tracking.too_fast": (
        "{share:.0%} of the objects' steps from one analysed frame to the next are longer than their boxes ({rate:.3g} frames/s): such"
        " objects get several numbers or none, and their crossings are missed. Analyse more frames a second (a smaller {option})"
    ),
}

CUDA: dict[str, Text] = {
    "cuda.no_driver": "no NVIDIA driver answers ({problem}); 'framefleet doctor' says what is missing",
    "cuda.no_gpu": "no NVIDIA GPU or driver here; use cpu:0",
    "cuda.no_such_device": (
        "there is {count} CUDA device; 'framefleet devices' lists yours",
        "there are {count} CUDA devices; 'framefleet devices' lists yours",
    ),
    # what failed: ``doing`` of the last two
    "cuda.open_device": "open the device",
    "cuda.hold_frames": "hold decoded frames",
    "cuda.out_of_memory": "not enough memory to {doing}: close other programs that use the GPU",
    "cuda.failed": "CUDA failed to {doing}: {text}",
}

DETECTION: dict[str, Text] = {
    "detection.not_finite": "the network's outputs are not finite: check the weights, or try {option}",
    "detection.no_probability": (
        "the network found confidences above 1, so its outputs mean something else: choose another reading with {option}, or export the "
        "model with one of the supported exporters"
    ),
    "detection.no_such_class": "the network found a class that has no label: choose the labels of this model with {option}",
    "detection.too_many_boxes": "more than {most:,} boxes reach the confidence threshold: check the weights, or raise {option}",
}

PLUGINS: dict[str, Text] = {
    "plugins.not_compiled": "NVRTC cannot compile the CUDA layers for {arch}: {problem}",
    "plugins.no_cuda_python": "the CUDA layers need cuda-python ({problem}): {advice}",
    "plugins.no_nvrtc": "NVRTC, CUDA's run-time compiler, cannot be loaded ({problem}): pip install nvidia-cuda-nvrtc",
    "plugins.no_headers": (
        "CUDA's headers (cuda_fp16.h) are not found: pip install nvidia-cuda-runtime, or let CUDA_HOME name the folder of a CUDA toolkit"
    ),
    # why the cache of engines is not used
    "plugins.cache_unusable": "{folder} cannot be used: {error}",
    "plugins.cache_is_link": "{folder} is a symbolic link: remove the link",
    "plugins.cache_of_other": "{folder} belongs to {owner}: remove it, or give it to {user}",
    "plugins.cache_writable": "others may write to {folder}, so its files may not be yours: remove it",
    "plugins.parent_of_other": "{folder} belongs to {owner}, who can replace what it holds or refers to",
    "plugins.parent_writable": "others may write to {folder} and replace the folders in it: chmod go-w '{folder}'",
}

RUN: dict[str, Text] = {
    "run.sources_kept": (
        "{count} source finished by an earlier run: the results stay",
        "{count} sources finished by an earlier run: the results stay",
    ),
    "run.more_pictures": "{path} has more pictures than in an earlier run: it goes on at picture {picture}",
    "run.source_has_changed": "{path} has changed since an earlier run: it is detected again",
    "run.crashed_frames": (
        "{path}: {count} frame on which a worker crashed is detected again, with those behind it",
        "{path}: {count} frames on which a worker crashed are detected again, with those behind the first one",
    ),
    "run.goes_on": "{path} goes on at frame {frame}, where an earlier run stopped",
    "run.changed_while_read": (
        "{path} changed while it was read, so its results may mix two contents: run again when nothing writes to it"
    ),
    "run.earlier_results_back": "no device could be used: {path} holds the earlier results again",
    "run.onnx_no_stages": "an ONNX model cannot be cut into stages: use {option}",
    "run.onnx_on_cpu": "the model has {operators}, which NVIDIA GPUs lack here: {devices} is not used",
    "run.tracks_stay": "{path}: its tracks were joined or split by hand and stay: 'framefleet track {option}' tracks again",
}

BENCH: dict[str, Text] = {
    "bench.tries_readings": "the process that tries readings",
    "bench.no_frame": "{path} has no frame to try readings on: choose another file",
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

PARTS = {
    "general": GENERAL,
    "settings": settings.TEXTS,
    "processes": PROCESSES,
    "model": model.TEXTS,
    "tracking": TRACKING,
    "zones": zones.TEXTS,
    "cuda": CUDA,
    "detection": DETECTION,
    "devices": devices.TEXTS,
    "media": media.TEXTS,
    "live": live.TEXTS,
    "plugins": PLUGINS,
    "backends": backends.TEXTS,
    "pool": pool.TEXTS,
    "store": store.TEXTS,
    "evaluation": evaluation.TEXTS,
    "run": RUN,
    "bench": BENCH,
    "cluster": cluster.TEXTS,
}
"""The texts of each part, whose codes begin with its name."""

TEXTS = {code: text for part in PARTS.values() for code, text in part.items()}
