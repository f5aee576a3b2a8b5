"""Every message between a group's front and the process of one member. All frozen, all picklable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.pool.groups.shared_pictures import Chunk, Place
from engine.pool.protocol import Building, Failed, Ready, Stop
from engine.settings import EngineSettings, ModelFiles
from engine.types import Detections, DeviceId


@dataclass(frozen=True)
class MemberSetup:
    """What a member is started with."""

    device: DeviceId
    model: ModelFiles
    engine: EngineSettings


@dataclass(frozen=True)
class Memory:
    """Shared memory has come, or has gone: pictures lie in these chunks from now on."""

    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class Infer:
    """Detect in the pictures at these places; they stay as they are until this is answered, by ``Found`` or ``Problem``."""

    number: int
    places: tuple[Place, ...]
    still: bool


@dataclass(frozen=True, eq=False)
class Compute:
    """The network's raw outputs for these inputs, please: answered by ``Heads`` or ``Problem``."""

    number: int
    inputs: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Found:
    """Detections of a batch, column by column: an array costs as much to pickle as its whole batch.

    counts: int32 (n,), of each picture. boxes, scores, class_ids: of all, concatenated. busy: as ``Backend.timings``.
    """

    number: int
    counts: NDArray[np.int32]
    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    class_ids: NDArray[np.int32]
    busy: Mapping[str, float]

    @classmethod
    def pack(cls, number: int, found: Sequence[Detections], busy: Mapping[str, float]) -> Found:
        """One message of at least one picture."""
        return cls(
            number,
            np.array([len(each) for each in found], np.int32),
            np.concatenate([each.boxes for each in found]),
            np.concatenate([each.scores for each in found]),
            np.concatenate([each.class_ids for each in found]),
            busy,
        )

    def unpack(self) -> Iterator[Detections]:
        """Picture by picture, as views."""
        start = 0
        for end in np.cumsum(self.counts).tolist():
            yield Detections(self.boxes[start:end], self.scores[start:end], self.class_ids[start:end])
            start = end


@dataclass(frozen=True, eq=False)
class Heads:
    """The answer to ``Compute``."""

    number: int
    values: tuple[NDArray[np.float32], ...]


@dataclass(frozen=True)
class Problem:
    """These pictures failed; the engine still works."""

    number: int
    message: str


ToMember: TypeAlias = Memory | Infer | Compute | Stop
FromMember: TypeAlias = Building | Ready | Failed | Found | Heads | Problem
