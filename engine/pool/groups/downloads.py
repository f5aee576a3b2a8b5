"""Copies decoded frames from the GPU that decoded them into a group's shared memory, a batch at a time."""

from collections.abc import Callable, Iterator, Sequence

from cuda.core import Device

from framefleet.engine.cuda.graph import copy_all
from framefleet.engine.detection.frame_format import HostImage, Planes
from framefleet.engine.media.types import DeviceFrame
from framefleet.engine.pool.groups.shared_pictures import SharedPictures


class Downloads:
    """Downloads into ``pictures`` from the CUDA device of this index, which must have been opened. Not thread-safe.

    idle: says whether no member of the group has work. Then waiting for room would have no end, if decode threads hold all memory and wait
    until this batch is submitted.

    A batch needs one call of CUDA for its copies and one wait, instead of both for each frame: each of them hands over the interpreter's
    lock, for which the decode threads compete.
    """

    def __init__(self, index: int, pictures: SharedPictures, idle: Callable[[], bool]) -> None:
        self._device, self._pictures, self._idle = Device(index), pictures, idle
        self._device.set_current()
        self._stream = self._device.create_stream()

    def parts(self, images: Sequence[HostImage | DeviceFrame]) -> Iterator[list[HostImage]]:
        """The pictures of a batch in host memory, in order. Waits until there is room in the shared memory.

        Frames that need more than half of it come in several parts, so that the members can infer one part and make room for the next
        one. The caller releases the frames.
        """
        largest = max((image.format.nbytes for image in images if isinstance(image, DeviceFrame)), default=1)
        count = max(1, self._pictures.limit // (2 * largest))
        for first in range(0, len(images), count):
            yield self._download(images[first : first + count])

    def _download(self, images: Sequence[HostImage | DeviceFrame]) -> list[HostImage]:
        frames = [image for image in images if isinstance(image, DeviceFrame)]
        blocks = [self._pictures.take(frame.format.nbytes, self._idle) for frame in frames]
        if frames:
            self._device.set_current()
            for stream in {id(frame.written_on): frame.written_on for frame in frames}.values():
                self._stream.wait(stream)
            copy_all(
                [block.ctypes.data for block in blocks],
                [frame.address for frame in frames],
                [frame.format.nbytes for frame in frames],
                self._stream,
            )
            self._stream.sync()
        planes = iter([Planes.of(frame.format, block) for frame, block in zip(frames, blocks, strict=True)])
        return [next(planes) if isinstance(image, DeviceFrame) else image for image in images]
