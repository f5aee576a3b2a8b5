"""The texts of what ``plugins`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
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
