"""Decodes on an NVIDIA GPU (videos by NVDEC, through PyNvVideoCodec; pictures: see ``jpeg``) into the device's memory.

Each call of ``decode`` uses its own hardware session; FFmpeg reads the file. The frames and their times equal FFmpeg's. If the hardware
reports a damaged picture, or gives other frames than the packets announce, FFmpeg decodes the rest of the segment.

The hardware detects most damage: 33 of 34 H.264 files with damaged picture data in which FFmpeg marked frames as failed, and 75 of the 87
failures are the same. Frames of undamaged streams are equal bit by bit.
"""

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import TypeAlias

from cuda.core import Device

from framefleet.engine.detection.frame_format import FrameFormat
from framefleet.engine.devices.affinity import bound_to, share_of_gpu
from framefleet.engine.media.container.video_file import Identity, OpenFiles, VideoFile, VideoPacket, identity
from framefleet.engine.media.cpu_decoding import THREADS, decode_planes
from framefleet.engine.media.decoder import GPU_THREADS, Decoded, Decoder, release_all, singly
from framefleet.engine.media.nvdec.bitstream import Bitstream, DamagedError, UncertainEndError, UnsupportedError, Writable, said
from framefleet.engine.media.nvdec.format import AwaitedFrames, decoder_time, first_frame, leads
from framefleet.engine.media.nvdec.jpeg import DevicePictures, tested_engines
from framefleet.engine.media.nvdec.library import Session, SessionPool, check, hardware_decoders, load_library, session_streams
from framefleet.engine.media.nvdec.live import LiveNvdec
from framefleet.engine.media.nvdec.surfaces import Surface, SurfaceRing, device_surfaces
from framefleet.engine.media.segment import SegmentTable, is_reliable
from framefleet.engine.media.types import DecodedFrame, DeviceFrame, Segment, SourceInfo, SourceKind
from framefleet.engine.notices import DeviceError, Notice, Option
from framefleet.engine.types import UNNUMBERED, DeviceId, FrameRef, of_device

_MIN_SURFACES = 8
_SURFACE_BYTES = 4 * 2**30
"""The most memory for decoded frames."""

_PROCESSORS = 4
"""Processors for the decode threads, which mostly wait for the GPU or for the interpreter's lock.

On all processors of an H200's machine, they take longer and decode less (``benchmarks/results/gpu-host.md``).
"""

_GROUP = 8
"""Most packets of one call of the library."""

_GROUP_BYTES = 32 * 2**20
"""Most bytes of the frames of one call: each session keeps memory for them."""

Parts: TypeAlias = Iterable[tuple[Segment, Iterator[VideoPacket] | None]]
"""Frames to decode, and the packets for them; None: the packets of the segment."""

_LOG = logging.getLogger(__name__)


class NvdecDecoder(Decoder):
    """Decodes segments on the CUDA device of this index. surfaces: memory for the frames; ``close`` closes them, too.

    required: a video that NVDEC cannot decode is an error; otherwise the CPU decodes it.
    """

    def __init__(self, index: int, surfaces: SurfaceRing, threads: int = 1, required: bool = False) -> None:
        """Load the library. Raises DeviceError if it, or the driver, is missing."""
        super().__init__(threads)
        self._library = load_library()
        self._index, self._surfaces, self._required = index, surfaces, required
        self._streams = cycle(session_streams(index))
        self._sessions = SessionPool(self._open_session, surfaces.plenty)
        self._files = OpenFiles()
        self._formats: dict[tuple[Identity, bytes], FrameFormat | UnsupportedError] = {}
        self._verdicts: dict[Identity, Notice | None] = {}
        self._problems: dict[str, DamagedError | UnsupportedError] = {}
        self._lock = threading.Lock()
        self._examined = defaultdict[Identity, threading.Lock](threading.Lock)
        self._processors = share_of_gpu(Device(index).pci_bus_id, _PROCESSORS) if threads > _PROCESSORS else frozenset[int]()
        self._live: LiveNvdec | None = None
        self._pictures = DevicePictures(surfaces, partial(tested_engines, index, surfaces))

    def make_room(self, frames: int) -> None:
        """Let this many more frames be in use at once."""
        self._surfaces.grow(frames)

    def examine(self, info: SourceInfo) -> None:
        """Decode the first frame to find out whether NVDEC decodes the source. The session stays open for the first segment."""
        self.supports(info)

    def supports(self, info: SourceInfo) -> Notice | None:
        """Why NVDEC cannot decode this source, None if it can. Decodes one frame to find out, once for each source.

        Raises SourceError if the file cannot be opened any more.
        """
        if info.kind is not SourceKind.VIDEO:
            return Notice("media.pictures_by_cpu")
        Device(self._index).set_current()
        known = identity(Path(info.path))
        with self._lock:
            examined = self._examined[known]
        with examined:  # other files at the same time
            if known not in self._verdicts:
                verdict = None
                try:
                    self._examine(info, info.segments[0])
                except UnsupportedError as problem:
                    verdict = problem.notice
                except DamagedError:  # FFmpeg will decode this segment; the others may be undamaged
                    pass
                self._verdicts[known] = verdict
            return self._verdicts[known]

    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[Decoded]:
        """Yield the frames of a segment, and failures. Frames come in host memory where NVDEC cannot decode them reliably."""
        for group in self._groups(info, segment, skip, 1):
            frames = iter(group)
            try:
                yield from frames
            finally:
                release_all(frames)

    def groups(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[list[Decoded]]:
        """Yield the frames that are ready together: several packets go to NVDEC together, and several pictures to the JPEG engines."""
        if info.kind is SourceKind.IMAGES:
            Device(self._index).set_current()
            return self._pictures.groups(info, segment, skip)
        return self._groups(info, segment, skip, _GROUP if self.threads > 1 else 1)

    def _groups(self, info: SourceInfo, segment: Segment, skip: int, most: int) -> Iterator[list[Decoded]]:
        reason = self.supports(replace(info, segments=(segment,)))  # the pool sends a source without its other segments
        if reason is None:
            return self._decode(info, segment, skip, most)
        if self._required and info.kind is SourceKind.VIDEO:
            refused = Notice("media.nvdec_refuses", path=Path(info.path), problem=reason, option=Option("decode", "auto"))
            raise DeviceError(of_device(DeviceId("cuda", str(self._index)), refused))
        return singly(decode_planes(info, segment, skip, max(1, THREADS // self.threads)))

    def _decode(self, info: SourceInfo, segment: Segment, skip: int, most: int) -> Iterator[list[Decoded]]:
        Device(self._index).set_current()
        gone = 0
        try:
            with bound_to(self._processors), self._sessions.turn() as turn, self._files.use(Path(info.path), segment) as file:
                parts: Parts = ((segment, None),)
                indices: dict[int, int] | None = None
                if segment.wanted is not None:
                    parts, indices = _sampled(file, segment, skip)
                    gone = skip
                for found, layout, session in self._frames(file, info, parts, turn, most):
                    frames = found if indices is None else [frame for frame in found if frame[0] in indices]
                    if gone < skip:
                        left_out = min(skip - gone, len(frames))
                        frames, gone = frames[left_out:], gone + left_out
                    while frames:
                        taken = self._copied(session, layout.nbytes, [address for _, address in frames])
                        gone += len(taken)
                        yield [
                            DecodedFrame(
                                FrameRef(info.number, UNNUMBERED if indices is None else indices[pts], file.seconds(pts)),
                                DeviceFrame(layout, surface.address, session.stream, release),
                            )
                            for (pts, _), (surface, release) in zip(frames, taken, strict=False)
                        ]
                        frames = frames[len(taken) :]
        except (DamagedError, UnsupportedError) as problem:
            self._report(info.path, problem)
            # with several threads FFmpeg marks different frames of a damaged stream from run to run
            yield from singly(decode_planes(info, segment, max(skip, gone), threads=1))

    def _copied(self, session: Session, nbytes: int, addresses: list[int]) -> list[tuple[Surface, Callable[[], None]]]:
        """Copy the first frames, as many as there are free surfaces. Returns these, with functions that release them."""
        taken = self._surfaces.acquire_several(nbytes, len(addresses))
        try:
            session.copy_all(addresses[: len(taken)], [surface for surface, _ in taken], nbytes)
        except BaseException:
            for _, release in taken:
                release()
            raise
        return taken

    def _open_session(self, codec: str, on_begun: Callable[[], None]) -> Session:
        return Session(self._library, next(self._streams), codec, on_begun)

    def cpu_reason(self, info: SourceInfo) -> Notice | None:
        """Return why the device's decoder leaves this source to the CPU; None if it does not, or there is none."""
        if info.kind is not SourceKind.VIDEO:
            return self._pictures.reason
        found = self._problems.get(info.path)
        problem = self._verdicts.get(identity(Path(info.path))) or (None if found is None else found.notice)
        return None if problem is None else Notice("media.not_by_nvdec", problem=problem)

    def live(self) -> LiveNvdec:
        """Return what decodes live sources on the device; None: FFmpeg decodes them. Called by one thread."""
        if self._live is None:
            threads = min(self.threads, GPU_THREADS)  # a thread serves several streams
            self._live = LiveNvdec(self._library, self._index, self._streams, threads, self._processors, self._required)
        return self._live

    def stop(self) -> None:
        """Let ``decode`` raise an error in threads that wait for a session."""
        self._sessions.stop()

    def close(self) -> None:
        """Close the idle sessions and files (threads close those in use), wait until all surfaces are back, and free them."""
        self._sessions.close()
        self._files.close()
        self._surfaces.close()
        Device(self._index).set_current()
        self._pictures.close()
        if self._live is not None:
            self._live.close()

    def _frames(
        self, file: VideoFile, info: SourceInfo, parts: Parts, turn: object, most: int
    ) -> Iterator[tuple[list[tuple[int, int]], FrameFormat, Session]]:
        """Yield the next frames in display order: pts and addresses, format, session. Addresses are valid until the next ones.

        most: packets that the session gets at once.

        Raises
        ------
        DamagedError
            The next frame is damaged, or is not the expected one.
        UnsupportedError
            A part's format differs from that of the source's beginning, and is not supported.
        """
        bitstream = Bitstream(file.codec_name, file.codec.extradata)
        session: Session | None = None
        kind = b""
        with ExitStack() as stack:
            for part, chosen in parts:
                awaited = AwaitedFrames(file, part)
                packets = awaited.packets(chosen)
                first = next(packets, None)
                if first is None or first.pts is None:
                    raise DamagedError(said(file.error) or Notice("media.no_packets"))
                begin = bitstream.first(bytearray(first))
                layout = self._format(info, part, bitstream.format)
                if session is None:
                    session, kind = stack.enter_context(self._sessions.use(file.codec_name, bitstream.format, turn)), bitstream.format
                elif bitstream.format != kind:
                    raise DamagedError(Notice("media.format_changes"))
                awaited.feed(first.pts)
                for found in awaited.matched(session.decode(begin, decoder_time(first.pts)), session.damaged):
                    yield found, layout, session
                together = max(1, min(most, _GROUP_BYTES // layout.nbytes)) if bitstream.joinable else 1
                for data, time in _groups_of(_converted(packets, bitstream, awaited, part), awaited, together):
                    for found in awaited.matched(session.decode(data, decoder_time(time)), session.damaged):
                        yield found, layout, session
                for found in awaited.matched(session.finish(), session.damaged):
                    yield found, layout, session
                awaited.end()

    def _format(self, info: SourceInfo, segment: Segment, kind: bytes) -> FrameFormat:
        key = identity(Path(info.path)), kind
        with self._lock:
            examined = self._examined[key[0]]
        with examined:
            found = self._formats.get(key) or self._examine(info, segment)
        if isinstance(found, UnsupportedError):
            raise found
        return found

    def _examine(self, info: SourceInfo, segment: Segment) -> FrameFormat:
        """Decode a segment's first frame with FFmpeg and NVDEC, and compare."""
        with VideoFile(Path(info.path)) as file:
            codec = file.codec_name
            first = first_frame(file, segment)
        key = identity(Path(info.path)), first.bitstream.format
        try:
            check(codec, int(getattr(self._library.cudaVideoCodec, codec.upper())), first.format)
            if self._surfaces.room_for(first.format.nbytes) < _MIN_SURFACES:
                raise UnsupportedError(Notice("media.nvdec_memory", frames=_MIN_SURFACES, size=first.format.nbytes >> 20))
            with self._sessions.use(codec, first.bitstream.format) as session:
                first.compare(session)
        except UnsupportedError as problem:
            self._formats[key] = problem
            raise
        self._formats[key] = first.format
        return first.format

    def _report(self, path: str, problem: DamagedError | UnsupportedError) -> None:
        known = self._problems.get(path)
        if known is not None and not isinstance(known, UncertainEndError):
            return
        self._problems[path] = problem
        if not isinstance(problem, UncertainEndError):  # each MPEG-TS has one
            _LOG.warning("%s: NVDEC cannot decode parts of this video reliably, so the CPU decodes them: %s", path, problem)


def _converted(
    packets: Iterator[VideoPacket], bitstream: Bitstream, awaited: AwaitedFrames, part: Segment
) -> Iterator[tuple[Writable, int]]:
    """The packets that the session needs, with their pts. Raises DamagedError if the next one is damaged."""
    for packet in packets:
        data, time = bitstream.convert(memoryview(packet)), packet.pts or 0
        if leads(part, time) and bitstream.is_skippable_leading(data):
            continue
        awaited.feed(time)
        yield data, time


def _groups_of(packets: Iterator[tuple[Writable, int]], awaited: AwaitedFrames, most: int) -> Iterator[tuple[Writable, int]]:
    """Join up to ``most`` packets where their frames can be counted: each call of the session waits for Python's lock.

    Raises DamagedError as ``packets``, after all packets before.
    """
    problem: DamagedError | None = None
    memory = memoryview(bytearray())  # kept: new memory of this size costs as much as the rest
    while problem is None:
        group: list[Writable] = []
        time = 0
        awaited.counted |= most > 1 and awaited.countable
        try:
            for data, pts in islice(packets, most if awaited.counted else 1):
                group.append(data)
                time = pts
        except DamagedError as damage:
            problem = damage
        if len(group) == 1:
            yield group[0], time
            continue
        size = sum(map(len, group))
        if size > len(memory):
            memory = memoryview(bytearray(2 * size))
        end = 0
        for data in group:
            begin, end = end, end + len(data)
            memory[begin:end] = data
        if not group:
            break
        yield memory[:end], time
    if problem is not None:
        raise problem


def _sampled(file: VideoFile, segment: Segment, skip: int) -> tuple[Parts, dict[int, int]]:
    """The parts to decode for the wanted frames of a segment without the first ``skip``, and the frames' indices by pts.

    Raises DamagedError if the packets do not show which frames the segment has.
    """
    table = SegmentTable(file, segment)
    if not is_reliable(table, segment):
        raise DamagedError(said(file.error) or Notice("media.uncertain_frames"))
    positions, indices = (array[skip:] for array in table.wanted())
    runs = table.runs(positions)
    parts = zip((run.part for run in runs), table.packets(runs), strict=True)
    return parts, dict(zip(table.ordered[positions].tolist(), indices.tolist(), strict=True))


_THREADS_OF_ENGINE = 3
"""Decode threads for each NVDEC engine. An H100 and an H200 have seven engines (``benchmarks/results/gpu-host.md``)."""


def open_nvdec(index: int, threads: int, required: bool, more: bool = False) -> NvdecDecoder:
    """A decoder with memory for one frame of each thread. more: use more threads where the GPU has many NVDEC engines.

    Other parameters and errors: see ``NvdecDecoder``.
    """
    load_library()  # says what is missing, before CUDA is asked for anything
    if more:
        Device(index).set_current()
        with suppress(UnsupportedError):
            threads = max(threads, _THREADS_OF_ENGINE * hardware_decoders())
    return NvdecDecoder(index, device_surfaces(index, threads, _SURFACE_BYTES), threads, required)
