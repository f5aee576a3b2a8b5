"""What the driver (the machine of the user) and the agents (one on each node) send each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from engine.cluster.files.content import Content
from engine.cluster.versions import Versions
from engine.pool.protocol import Detect, Probe, Setup
from engine.pool.supervision.host import WorkerMain
from engine.processes.outcome import Outcome
from engine.types import DeviceId


@dataclass(frozen=True)
class Hello:
    """An agent's first answer. devices: the node's best ones. cores: that its processes may use. problem: why it has no device."""

    versions: Versions
    devices: tuple[DeviceId, ...]
    cores: int
    problem: str = ""


@dataclass(frozen=True)
class Start:
    """Start a worker. worker: its number, for all further messages. model, example: the contents of the files that the setup names."""

    worker: int
    setup: Setup
    worker_main: WorkerMain
    model: tuple[Content, ...]
    example: Content | None = None


@dataclass(frozen=True)
class Task:
    """A task for a worker. content: of its source."""

    worker: int
    task: Probe | Detect
    content: Content


@dataclass(frozen=True)
class Message:
    """Any other message to or from a worker, pickled."""

    worker: int
    data: bytes


@dataclass(frozen=True)
class End:
    """End a worker's process."""

    worker: int


@dataclass(frozen=True)
class Ended:
    """A worker's process has ended. No message of it follows."""

    worker: int
    outcome: Outcome


@dataclass(frozen=True)
class Wanted:
    """The node does not have this content: send it."""

    content: Content


ToAgent: TypeAlias = Start | Task | Message | End
FromAgent: TypeAlias = Message | Ended | Wanted
