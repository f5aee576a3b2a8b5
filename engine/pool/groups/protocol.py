"""The messages between a group's decoding worker and its members, in addition to those of all workers. All are frozen and picklable."""

from collections.abc import Mapping
from dataclasses import dataclass

from framefleet.engine.notices import Notice
from framefleet.engine.pool.groups.shared_pictures import Chunk, PictureLocation
from framefleet.engine.pool.results import PackedResults


@dataclass(frozen=True)
class SharedMemory:
    """To a member: the chunks that hold pictures from now on."""

    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class Infer:
    """To a member: detect in the pictures at these places. They stay valid until the answer, ``Inferred`` or ``InferenceFailed``."""

    number: int
    places: tuple[PictureLocation, ...]
    still: bool


@dataclass(frozen=True)
class Inferred:
    """The results for an ``Infer``. busy: see ``Backend.timings``."""

    number: int
    results: PackedResults
    busy: Mapping[str, float]


@dataclass(frozen=True)
class InferenceFailed:
    """The negative answer to ``Infer``: why these pictures have no detections. The engine may still work."""

    number: int
    message: Notice
