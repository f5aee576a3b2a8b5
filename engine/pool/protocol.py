"""The messages between the pool and its workers. All are frozen and picklable. ``groups.protocol`` has those to and from members.

To a worker: ``Probe``, ``Detect``, ``Drop``, ``Revoke``, ``Stop``. To the pool: the rest. Within one task, a worker's messages come in
this order: ``Began``, ``Frames`` (in careful mode each after a ``Trying``), ``Done``. ``Failed`` or ``Stopped`` is a worker's last
message; the pool then closes the connection. ``Failed`` with ``retry`` ends the worker's process, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.media.sampling import Sampling
from framefleet.engine.media.types import Segment, SourceInfo
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import DeviceFailed, DeviceReady, DeviceStarting, EngineBuilding
from framefleet.engine.pool.groups.protocol import Infer, InferenceFailed, Inferred, SharedMemory
from framefleet.engine.pool.results import Frames as Frames
from framefleet.engine.processes.outcome import Failed as Failed
from framefleet.engine.settings import EngineSettings, Isolation, ModelFiles, Parallel, Tiles
from framefleet.engine.types import DeviceId, FrameRef


@dataclass(frozen=True)
class Setup:
    """Start parameters of a worker. stall_seconds: the watchdogs on both sides end a worker that hangs for this long.

    parallel, isolation, tiles: how the devices work together, if the device is a group. inferring: the worker belongs to a member of a
    group. It decodes nothing and receives batches of pictures in shared memory (``SharedMemory``, ``Infer``). sampling: which frames
    of each source are wanted, None: all. examples: sources whose frames a precision is tried on.
    """

    device: DeviceId
    model: ModelFiles
    engine: EngineSettings
    stall_seconds: float = 60.0
    parallel: Parallel = Parallel.SEGMENTS
    isolation: Isolation = Isolation.PROCESS
    tiles: Tiles = Tiles()  # noqa: RUF009
    inferring: bool = False
    sampling: Sampling | None = None
    examples: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Unreachable(Failed):
    """The last message on behalf of a worker on another machine that cannot be reached. The worker's tasks are not to blame."""


@dataclass(frozen=True)
class Probe:
    """Probe a source. The answer is ``Probed`` or ``ProbeFailed``."""

    source: int
    path: Path


@dataclass(frozen=True)
class Detect:
    """Detect in one segment. skip: number of frames to leave out at its start. limit: most frames after them, None = to its end.

    info: the source's, without the list of segments, which grows with the video. careful: announce each frame, and send its result
    before decoding the next one, so that a crash shows its frame.
    """

    source: int
    info: SourceInfo
    segment: Segment
    skip: int = 0
    limit: int | None = None
    careful: bool = False


@dataclass(frozen=True)
class Drop:
    """Stop working on a source. Its tasks still end with ``Done``."""

    source: int


@dataclass(frozen=True)
class Revoke:
    """End the task of a segment with ``Done`` after the decoded frames; another device continues. Harmless after the task's end."""

    source: int
    segment: int


@dataclass(frozen=True)
class Stop:
    """Finish the pictures in the engine, send the last statistics and end. The answer is ``Stopped``."""


@dataclass(frozen=True)
class Listening:
    """The first message of a worker: its process runs, and it can probe sources."""


@dataclass(frozen=True)
class Stopped:
    """The answer to ``Stop``: the worker has ended. Other workers can do its unfinished work."""


@dataclass(frozen=True)
class Began:
    """The worker begins a task: a ``Detect``, or a ``Probe`` if segment is None."""

    source: int
    segment: int | None


@dataclass(frozen=True)
class Trying:
    """In careful mode: this frame is decoded and enters the engine next. position: in its segment. width, height: as in ``FrameResult``."""

    ref: FrameRef
    segment: int
    position: int
    width: int
    height: int


@dataclass(frozen=True)
class Need:
    """Request one ``Detect``: a decode thread needs work."""


@dataclass(frozen=True)
class Probed:
    """The answer to ``Probe``."""

    source: int
    info: SourceInfo


@dataclass(frozen=True)
class ProbeFailed:
    """The negative answer to ``Probe``: why the source cannot be opened."""

    source: int
    error: Notice


@dataclass(frozen=True)
class Done:
    """The end of a ``Detect``. frames: number of frames of the segment up to here, including skipped ones.

    complete: whether the segment has no more frames; if not, the task reached its limit, was revoked, or its source was dropped.
    error: why the segment could not be read to its end. The missing frames then count as failed. decoder: what decoded this task's frames.
    """

    source: int
    segment: int
    frames: int
    complete: bool
    error: Notice | None = None
    decoder: DecoderUse = DecoderUse()  # noqa: RUF009


@dataclass(frozen=True, eq=False)
class Stats:
    """Statistics of a device since the last message of this type. seconds: the time between the two.

    latencies: float32 (n,), ms from decoded to detections available for each inferred frame. stages: ms per stage, summed over these
    frames. busy: ms per stage of the device (see ``Backend.timings``). feeding: seconds per stage of the thread that feeds the engine
    (see ``Inference``). worth: if several devices share each frame, this device's part of the work, in frames.
    """

    device: DeviceId
    seconds: float
    latencies: NDArray[np.float32]
    stages: Mapping[str, float]
    busy: Mapping[str, float] = field(default_factory=dict)
    feeding: Mapping[str, float] = field(default_factory=dict)
    worth: float | None = None


DeviceEvent: TypeAlias = DeviceStarting | EngineBuilding | DeviceReady | DeviceFailed | Stats
"""About the worker's device, or about a member of its group: then a failed member leaves the group, which goes on without it."""

Task: TypeAlias = Probe | Detect
ToWorker: TypeAlias = Task | Drop | Revoke | Stop | SharedMemory | Infer
FromWorker: TypeAlias = (
    Listening | DeviceEvent | Failed | Stopped | Need | Began | Trying | Probed | ProbeFailed | Frames | Done | Inferred | InferenceFailed
)
