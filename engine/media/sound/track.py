"""Decodes the sound of a file, starting at any time."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import av
import numpy as np
from av.audio.resampler import AudioResampler
from numpy.typing import NDArray

from framefleet.engine.errors import SourceError
from framefleet.engine.media.container.opening import check_readable, open_container
from framefleet.engine.types import Closing

RATE = 48_000
Samples: TypeAlias = NDArray[np.int16]
"""Samples of the left and the right channel, int16 (count, 2)."""


class SoundTrack(Closing):
    """The first sound track of a file, as stereo at ``RATE`` samples/s. Not thread-safe."""

    def __init__(self, path: Path) -> None:
        """Open the file. Raises SourceError if the file cannot be read, has no sound, or has sound that no decoder reads."""
        check_readable(path)
        self._container = open_container(path)
        streams = [stream for stream in self._container.streams.audio if stream.codec_context is not None]
        if not streams:
            self._container.close()
            raise SourceError(f"{path.name} has no sound")
        self._stream = streams[0]

    def samples(self, pts: float) -> Iterator[tuple[float, Samples]]:
        """Yield pts and samples from a time on, seconds. Skips packets that cannot be decoded."""
        base = self._stream.time_base
        assert base is not None
        with suppress(av.FFmpegError, OSError):
            self._container.seek(int(pts / base), stream=self._stream)
        resampler = AudioResampler("s16", "stereo", RATE)
        for packet in self._packets():
            with suppress(av.FFmpegError, ValueError):
                for frame in self._stream.decode(packet):
                    begin = float(frame.pts * base) if frame.pts is not None else None
                    if begin is None or begin + frame.samples / frame.sample_rate <= pts:
                        continue
                    frame.pts = None  # the resampler would fill gaps between times itself
                    parts = [np.asarray(part.to_ndarray(), np.int16).reshape(-1, 2) for part in resampler.resample(frame)]
                    first = max(round((pts - begin) * RATE), 0)
                    whole = np.concatenate([np.zeros((0, 2), np.int16), *parts])[first:]
                    if len(whole):
                        yield begin + first / RATE, whole

    def _packets(self) -> Iterator[Any]:
        with suppress(av.FFmpegError, OSError, IndexError):
            yield from self._container.demux(self._stream)

    def close(self) -> None:
        """Close the file. Repeated calls have no effect."""
        self._container.close()
