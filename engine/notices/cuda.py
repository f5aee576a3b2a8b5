"""The texts of what ``engine/cuda`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
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
