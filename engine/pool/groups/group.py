"""Several devices as one backend: their frames come from one worker, and the member pool infers.

With the strategy ``frames``, members that are alike decode the segments of files themselves. Other frames are decoded here: by FFmpeg into
shared host memory, or by NVDEC into the memory of one member's GPU. For the strategy ``tiles``, pictures are cut into overlapping tiles
for all devices, and their boxes are merged.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np

from framefleet.engine.backends import create_backend
from framefleet.engine.backends.base import Backend, Progress, reasons
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.detection.tiling import Tiling, merge, plan_tiles
from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.media.cpu_decoding import (  # not lazily: cv2 changes sys.path, which a process started meanwhile inherits
    decode,
    decode_planes,
)
from framefleet.engine.media.decoder import GPU_THREADS, Decoded, Decoder
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, DeviceFrame, Segment, SourceInfo
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.notices import DeviceError, Notice, unexpected
from framefleet.engine.pool.groups import member_pool, remote_backend, shared_pictures
from framefleet.engine.pool.protocol import DeviceEvent, Failed, Frames, Setup, Stats
from framefleet.engine.pool.worker.inference import SharedBatch
from framefleet.engine.pool.worker.message_buffer import ROOM_BYTES
from framefleet.engine.processes.watchdog import Watchdog
from framefleet.engine.settings import Decode, EngineSettings, Hint, Isolation
from framefleet.engine.types import Detections, DeviceId, EngineInfo, Found, Image, InferenceFailure

if TYPE_CHECKING:
    from framefleet.engine.media.nvdec.decoder import NvdecDecoder
    from framefleet.engine.pool.groups.downloads import Downloads


Read: TypeAlias = Callable[[SourceInfo, Segment, int, int], Iterator[DecodedFrame[HostImage] | DecodeFailure]]
"""Decodes a segment on the CPU. Parameters: as of ``decode``."""

THREADS = 16
"""Most decoder threads for a source that cannot be cut."""


class SharedDecoder(Decoder):
    """Decodes with FFmpeg into ``pictures``, shared memory of a group.

    read: ``decode`` or ``decode_planes``. nvdec: decodes what it can, instead of ``read``; closed with this decoder. Its frames stay in
    the GPU's memory. reason: why NVDEC is not used although the members have it.
    """

    def __init__(
        self, threads: int, pictures: shared_pictures.SharedPictures, read: Read, nvdec: NvdecDecoder | None, reason: Notice | None = None
    ) -> None:
        super().__init__(threads)
        self._pictures, self._read, self._nvdec, self._reason = pictures, read, nvdec, reason

    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[Decoded]:
        """Yield the frames of a segment in display order, and a failure in place of frames that cannot be decoded. Thread-safe."""
        for frame in self._decode(info, segment, skip):
            if isinstance(frame, DecodeFailure) or isinstance(frame.image, DeviceFrame):
                yield frame
            else:
                yield DecodedFrame(frame.ref, self._pictures.put(frame.image))

    def _decode(self, info: SourceInfo, segment: Segment, skip: int) -> Iterator[Decoded]:
        if self._nvdec is not None:
            return self._nvdec.decode(info, segment, skip)
        whole = segment.start is None and segment.end is None  # no other segment of this source can be decoded meanwhile
        threads = min(THREADS, usable_cores()) if whole else max(1, usable_cores() // self.threads)
        return self._read(info, segment, skip, threads)

    def cpu_reason(self, info: SourceInfo) -> Notice | None:
        """Return why the device's decoder leaves this source to the CPU; None if it does not, or there is none."""
        return self._reason if self._nvdec is None else self._nvdec.cpu_reason(info)

    def stop(self) -> None:
        """Let ``decode`` raise an error where a thread waits for another one. ``close`` follows when all threads have ended."""
        if self._nvdec is not None:
            self._nvdec.stop()

    def close(self) -> None:
        """Free the memory for frames once all frames are released. No thread may decode afterwards."""
        if self._nvdec is not None:
            self._nvdec.close()


MIN_BYTES = 8 * shared_pictures.CHUNK_BYTES
"""Least limit of the shared memory: five 8K pictures."""

DECODE_THREADS = 12
"""Most segments that FFmpeg decodes at once: on 64 cores, 12 threads reached 2,600 frames/s of 1080p, 32 threads 2,250."""


class Group(Backend):
    """Several devices as one backend: each picture goes to a device with a free slot. ``submit`` returns a ``SharedBatch``."""

    spread_evenly = False
    """Whether the pictures of a batch are needed together, so that one slow device would delay all of them."""

    takes_planes = True
    """Whether frames need not be converted to RGB on the host. A GPU may then decode them."""

    def __init__(
        self, setup: Setup, report: Callable[[DeviceEvent | Frames], None], die: Callable[[Failed], NoReturn], watchdog: Watchdog
    ) -> None:
        """report: takes frames of members, too. die, watchdog: see ``MemberPool``."""
        super().__init__(setup.device)
        self._setup = setup
        self._downloads: Downloads | None = None
        self._send = report
        self.forwarding = remote_backend.Forwarding()
        self._member_pool = member_pool.MemberPool(setup.device.members, self._make, report, die, watchdog, self.spread_evenly)

    @property
    def member_timings(self) -> dict[DeviceId, Callable[[], Mapping[str, float]]]:
        """For each member, the function that returns its ``timings``."""
        return {member: partial(self._member_pool.timings, member) for member in self.device.members}

    @property
    def member_stats(self) -> dict[DeviceId, Callable[[], list[Stats]]]:
        """For each member, the function that returns what it has measured in segments since the last call."""
        return {member: partial(self._member_pool.stats, member) for member in self.device.members}

    def decoder(self) -> SharedDecoder:
        """The decoder for all members. Call this after the engines are built.

        Raises DeviceError if the settings require NVDEC, and the library for it is missing.
        """
        required = self._setup.engine.decode is Decode.NVDEC
        nvdec, reason = None, None
        if self._may_use_nvdec(self._setup.engine):
            try:
                nvdec = self._open_nvdec(required)
            except DeviceError as error:
                if required:
                    raise
                reason = error.notice
        return SharedDecoder(self.info.decode_threads, self._pictures, self._read, nvdec, reason)

    @property
    def _members_decode(self) -> bool:
        """Whether members decode segments themselves: where they are alike, none of them has to decode for another."""
        alike = len({member.kind for member in self.device.members}) == 1
        return alike and self.takes_planes and self._setup.isolation is Isolation.PROCESS

    def _may_use_nvdec(self, settings: EngineSettings) -> bool:
        return self.takes_planes and settings.decode is not Decode.CPU and all(member.kind == "cuda" for member in self.device.members)

    def _open_nvdec(self, required: bool) -> NvdecDecoder:
        """Open NVDEC on one GPU, which decodes as fast as this process can distribute the frames. The GPU copies frames to the pictures."""
        from framefleet.engine.cuda.device import open_device
        from framefleet.engine.cuda.memory import PageLock
        from framefleet.engine.media.nvdec.decoder import open_nvdec
        from framefleet.engine.pool.groups.downloads import Downloads

        device, threads = self._member_pool.engines[0].device, self.info.decode_threads
        index = int(device.name)
        open_device(device)
        # the frames in the worker's buffer, one per decode thread, and those of the batch that is downloaded
        decoder = open_nvdec(index, threads, required)
        decoder.make_room(3 * self.info.batch + threads)
        self._pictures.page_lock = PageLock(index)
        self._downloads = Downloads(index, self._pictures, lambda: self._member_pool.idle)
        return decoder

    def _read(self, info: SourceInfo, segment: Segment, skip: int, threads: int) -> Iterator[DecodedFrame[HostImage] | DecodeFailure]:
        """Decode a segment for the members. GPUs convert planes to RGB faster than the decode threads do."""
        if not self.takes_planes:
            return decode(info, segment, skip, threads)
        gpus = any(member.kind == "cuda" for member in self.device.members)
        return decode_planes(info, segment, skip, threads, oblong_only=not gpus)

    def _activate_impl(self, network: Model, settings: EngineSettings, progress: Progress | None) -> EngineInfo:  # noqa: ARG002
        # the final limit depends on the engines, which get no picture before
        self._pictures = shared_pictures.SharedPictures(MIN_BYTES)
        self._member_pool.start(network, {member: self._settings_of(member, settings) for member in self.device.members})
        info = self._describe(self._member_pool.engines, settings)
        under_way = sum(engine.slots * engine.batch for engine in self._member_pool.engines)
        self._pictures.limit = max(MIN_BYTES, (2 * info.batch + info.decode_threads + under_way) * ROOM_BYTES)
        return info

    def _settings_of(self, member: DeviceId, settings: EngineSettings) -> EngineSettings:  # noqa: ARG002
        return settings

    def _describe(self, engines: Sequence[EngineInfo], settings: EngineSettings) -> EngineInfo:
        """The members' engines, described as one engine."""
        batch = max(engine.batch for engine in engines)
        # a member that is restarted later is assumed to be like the others
        pictures = sum(engine.slots * engine.batch for engine in engines) * self._member_pool.expected // len(engines)
        gpus = sum(engine.device.kind == "cuda" for engine in engines)
        default = max(1, min(DECODE_THREADS, DECODE_THREADS * gpus, usable_cores() // 2))
        decode_threads = settings.decode_threads or (GPU_THREADS if self._may_use_nvdec(settings) else default)
        if self._members_decode:  # each of their segments has a thread here that waits for it
            decode_threads = max(decode_threads, sum(engine.decode_threads for engine in engines))

        def all_of(values: Sequence[str]) -> str:
            return ", ".join(dict.fromkeys(values))

        return replace(
            engines[0],
            device=self.device,
            device_name=all_of([engine.device_name for engine in engines]),
            backend=all_of([engine.backend for engine in engines]),
            precision=all_of([engine.precision for engine in engines]),
            reason=reasons(*dict.fromkeys(engine.reason for engine in engines)),
            batch=batch,
            slots=-(-pictures // batch) + 1,  # one more waits, so that a member with a free slot finds work
            decode_threads=decode_threads,
        )

    def _make(self, device: DeviceId) -> Backend:
        if self._setup.isolation is Isolation.THREAD:
            return create_backend(device)
        return remote_backend.RemoteBackend(
            replace(self._setup, device=device, decodes=self._members_decode), self._pictures, self.forwarding, self._send
        )

    def _submit_impl(self, images: Sequence[HostImage | DeviceFrame], still: bool) -> Future[list[Found]]:
        parts: Iterable[Sequence[HostImage]] = [[image for image in images if not isinstance(image, DeviceFrame)]]
        if self._downloads is not None:
            parts = self._downloads.parts(images)
        shared, first = SharedBatch(len(images), self.device.members[0]), 0
        for part in parts:
            self._member_pool.put(part, still, shared, first)
            first += len(part)
        for image in images:
            if isinstance(image, DeviceFrame):
                image.release()
        return shared

    def _close_impl(self) -> None:
        self._member_pool.close()
        self._pictures.close()


GPU_BATCH = 8
"""Default batch of tiles on a GPU: enough to fill it, few enough to spread a picture's tiles evenly."""

PICTURES = 8
"""Most pictures cut at once with ``Hint.THROUGHPUT``: the tiles of one small picture would not fill the batches."""

SLOTS = 3
"""Batches of pictures under way: one is inferred, the next one waits, and the results of the previous one are delivered."""


class TilesBackend(Group):
    """A group whose devices work together on each picture."""

    spread_evenly = True
    takes_planes = False  # tiles are cut from pictures

    def __init__(
        self, setup: Setup, report: Callable[[DeviceEvent | Frames], None], die: Callable[[Failed], NoReturn], watchdog: Watchdog
    ) -> None:
        super().__init__(setup, report, die, watchdog)
        # merging the boxes of a picture takes some milliseconds, in which the thread that takes a member's results could not
        self._merging = ThreadPoolExecutor(1, "merge tiles")
        # a group of one device has the name of that device
        self._name = self.device if len(self.device.members) > 1 else self.device.members[0]

    def _settings_of(self, member: DeviceId, settings: EngineSettings) -> EngineSettings:
        # one picture is many batches, so that its latency depends on the throughput
        batch = GPU_BATCH if settings.batch is None and member.kind == "cuda" else settings.batch
        return replace(settings, batch=batch, hint=Hint.THROUGHPUT)

    def _describe(self, engines: Sequence[EngineInfo], settings: EngineSettings) -> EngineInfo:
        info = super()._describe(engines, settings)
        return replace(info, batch=settings.hint.batch or min(PICTURES, info.batch), slots=SLOTS)

    def _submit_impl(self, images: Sequence[HostImage | DeviceFrame], still: bool) -> Future[list[Found]]:
        cut = [(image, self._plan(image)) for image in images if isinstance(image, np.ndarray)]
        # the last tile, usually the whole picture, goes first: its upload takes longest and should not delay the end
        places = [(image, box) for image, tiling in cut for box in np.roll(tiling.boxes, 1, axis=0).tolist()]
        parts = [image[top:bottom, left:right] for image, (left, top, right, bottom) in places]
        shared = SharedBatch(len(images), self._name)
        tilings = [tiling for _, tiling in cut]

        def join(found: Future[list[Found]]) -> None:
            assert isinstance(found, SharedBatch)
            shared.shares = _shares(tilings, found.devices)
            start = 0
            for position, tiling in enumerate(tilings):
                first, *others = found.result()[start : start + len(tiling)]
                shared.put(position, self._name, self._merge(tiling, [*others, first]))
                start += len(tiling)

        self._member_pool.put(parts, still).add_done_callback(lambda found: self._merging.submit(join, found))
        return shared

    def _close_impl(self) -> None:
        super()._close_impl()
        self._merging.shutdown()

    def _merge(self, tiling: Tiling, tiles: Sequence[Found]) -> Found:
        """A picture's result from those of its tiles. If a tile failed, the picture fails."""
        for tile in tiles:
            if isinstance(tile, InferenceFailure):
                return tile
        try:
            return merge(tiling, [tile for tile in tiles if isinstance(tile, Detections)], self._setup.engine.iou)
        except Exception as problem:  # the executor would swallow it
            traceback.print_exception(problem)
            return InferenceFailure(Notice("pool.tiles_not_merged", problem=unexpected(problem)))

    def _plan(self, image: Image) -> Tiling:
        height, width = image.shape[:2]
        return plan_tiles(width, height, self.info.width, self.info.height, self._setup.tiles)


def _shares(tilings: Iterable[Tiling], devices: Sequence[DeviceId]) -> dict[DeviceId, float]:
    """Each device's part of the tiles, in pictures."""
    shares: dict[DeviceId, float] = {}
    start = 0
    for tiling in tilings:
        for device, count in Counter(devices[start : start + len(tiling)]).items():
            shares[device] = shares.get(device, 0.0) + count / len(tiling)
        start += len(tiling)
    return shares
