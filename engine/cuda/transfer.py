"""Copies values from one GPU to another in stream order. Streams wait for the copies; threads do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from cuda.core import Device, Event, Stream

from framefleet.engine.cuda.graph import Mark, Step, copy


@dataclass(frozen=True, eq=False)
class Streams:
    """The streams of one device. compute: runs its stage. incoming, outgoing: copy at the same time as the stage."""

    device: Device
    compute: Stream
    incoming: Stream
    outgoing: Stream

    @classmethod
    def create(cls, device: Device) -> Streams:
        """Create the streams and make the device the current one."""
        device.set_current()
        return cls(device, device.create_stream(), device.create_stream(), device.create_stream())


@dataclass(frozen=True, eq=False)
class Move:
    """The copy of one value from address ``origin`` on the device of ``source`` to address ``target``.

    ready: the event after which the value is at ``origin``. host: address of pinned memory to copy through, None = copy directly.
    """

    source: Streams
    ready: Event
    origin: int
    target: int
    nbytes: int
    host: int | None = None


def connect(devices: Sequence[Device]) -> set[tuple[int, int]]:
    """Let the devices read each other's memory where possible. Returns the pairs (reader, owner), by ordinal."""
    pairs = {(reader.device_id, owner.device_id) for reader in devices for owner in devices if _can_read(reader, owner)}
    for owner in devices:
        readers = [reader.device_id for reader in devices if (reader.device_id, owner.device_id) in pairs]
        if readers:
            owner.memory_resource.peer_accessible_by = readers
    return pairs


def _can_read(reader: Device, owner: Device) -> bool:
    pooled = hasattr(type(owner.memory_resource), "peer_accessible_by")  # drivers without memory pools do not support such pairs
    return bool(reader.device_id != owner.device_id and pooled and reader.can_access_peer(owner))


class Arrival:
    """The transfer of all values that a stage needs. begun, done: marks around the copies. first: earlier steps, copies from the host."""

    def __init__(self, target: Streams, moves: Sequence[Move], begun: Mark, done: Mark, first: Sequence[Step]) -> None:
        self._first = first
        self._target, self._moves, self._begun, self._done = target, moves, begun, done
        self._arrived = target.device.create_event()
        by_source = groupby(sorted(moves, key=lambda move: move.source.device.device_id), key=lambda move: move.source.device.device_id)
        self._departures = [_Departure(list(group)) for _, group in by_source]

    def launch(self) -> None:
        """Put the copies on the streams. Later work on the target's compute stream finds the values."""
        self._target.device.set_current()
        for step in self._first:
            step.launch(self._target.incoming)
        for departure in self._departures:
            departure.launch(self._target.incoming)
        self._target.device.set_current()
        self._begun.launch(self._target.incoming)
        for move in self._moves:
            copy(move.target, move.origin if move.host is None else move.host, move.nbytes, self._target.incoming)
        self._done.launch(self._target.incoming)
        self._target.incoming.record(self._arrived)
        self._target.compute.wait(self._arrived)


class _Departure:
    """The values from one device. ``launch`` makes the receiving stream wait until they can be copied."""

    def __init__(self, moves: Sequence[Move]) -> None:
        self._source, self._ready = moves[0].source, moves[0].ready
        self._staged = [(move.host, move) for move in moves if move.host is not None]
        self._source.device.set_current()
        self._left = self._source.device.create_event()

    def launch(self, incoming: Stream) -> None:
        if not self._staged:
            incoming.wait(self._ready)
            return
        self._source.device.set_current()
        self._source.outgoing.wait(self._ready)
        for host, move in self._staged:
            copy(host, move.origin, move.nbytes, self._source.outgoing)
        self._source.outgoing.record(self._left)
        incoming.wait(self._left)
