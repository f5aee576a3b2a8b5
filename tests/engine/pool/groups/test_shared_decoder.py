"""What FFmpeg decodes arrives in shared memory. NVDEC's frames stay in the GPU's memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat
from framefleet.engine.media.decoder import Decoded, Decoder
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, DeviceFrame, Segment, SourceInfo, SourceKind
from framefleet.engine.pool.groups.group import SharedDecoder
from framefleet.engine.pool.groups.shared_pictures import SharedPictures
from framefleet.engine.types import UNNUMBERED, FrameRef
from tests.support.notices import words

LAYOUT = FrameFormat(PixelFormat.NV12, 8, 64, 48, 64, 48, (False, None), "bt709", False)
SEGMENT = Segment(0, None, None, 0)
INFO = SourceInfo("a.mp4", SourceKind.VIDEO, "h264", 64, 48, 8, None, None, (SEGMENT,))
PICTURE = np.full((48, 64, 3), 7, np.uint8)
FRAMES = (
    DecodedFrame(FrameRef(0, UNNUMBERED, 0.0), DeviceFrame(LAYOUT, 256, None, lambda: None)),
    DecodeFailure(FrameRef(0, UNNUMBERED, 1.0), 1, words("damaged")),
    DecodedFrame(FrameRef(0, UNNUMBERED, 2.0), PICTURE),
)


class Frames(Decoder):
    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[Decoded]:  # noqa: ARG002
        yield from FRAMES


def test_only_what_ffmpeg_decodes_is_copied() -> None:
    pictures = SharedPictures(1 << 20)
    decoder = SharedDecoder(1, pictures, lambda *_: iter(()), Frames(1))  # type: ignore[arg-type]
    *first, copied = decoder.decode(INFO, SEGMENT)
    assert tuple(first) == FRAMES[:2]
    assert isinstance(copied, DecodedFrame)
    assert copied.ref.pts == 2.0
    assert isinstance(copied.image, np.ndarray)
    np.testing.assert_array_equal(copied.image, PICTURE)
    assert pictures.locate(PICTURE) is None
    assert pictures.locate(copied.image) is not None
