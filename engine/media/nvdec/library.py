"""Loads PyNvVideoCodec, and says what is missing."""

from typing import Any

from framefleet.engine.errors import DeviceError
from framefleet.engine.media.nvdec.limits import question
from framefleet.engine.media.nvdec.messages import messages


def load_library() -> Any:
    """The module ``PyNvVideoCodec``. Raises DeviceError if it, or the driver, is missing."""
    try:
        import PyNvVideoCodec

        question()
    except Exception as problem:  # without a driver the import raises various errors
        first = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
        raise DeviceError(
            f"NVDEC needs PyNvVideoCodec and an NVIDIA driver with its video libraries ({first}): "
            "install 'framefleet[cuda]', in a container allow the driver's 'video' capability, or use --decode cpu"
        ) from problem
    try:
        messages()
    except OSError as problem:
        raise DeviceError(f"NVDEC's error messages cannot be read on this system ({problem}): use --decode cpu") from problem
    return PyNvVideoCodec
