"""Errors of NVDEC. The decoder catches them and lets FFmpeg decode instead."""


class UnsupportedError(Exception):
    """NVDEC cannot decode this stream, or its frames differ from FFmpeg's. The message says why."""


class DamagedError(Exception):
    """NVDEC cannot decode the next frame in the same way as FFmpeg. The message says why."""


class UncertainEndError(DamagedError):
    """The last packet may be incomplete: the container does not store where it ends."""
