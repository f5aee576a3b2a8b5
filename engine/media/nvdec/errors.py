"""Why NVDEC does not decode a frame or a stream. The decoder catches these errors and lets FFmpeg decode instead."""


class UnsupportedError(Exception):
    """NVDEC cannot decode this stream, or not as FFmpeg would; the message says why."""


class DamagedError(Exception):
    """NVDEC cannot decode the next frame as FFmpeg would; the message says why."""


class UncertainEndError(DamagedError):
    """The last packet of a file that may be cut off: the container does not tell."""
