"""What the driver (the machine of the user) and the agents (one on each node) send each other.

On the driver, a process of its own is connected to the cluster. The second half of this file is what the program of the user and this
process send each other.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self, TypeAlias

from framefleet.engine.cluster.files import Content
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.notices import FramefleetError, Notice
from framefleet.engine.pool.hosts import WorkerMain
from framefleet.engine.pool.protocol import Detect, Probe, Setup
from framefleet.engine.types import DeviceId

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Versions:
    """framefleet: its version. code: a digest of its code, which also differs between two states of one version. python: its version."""

    framefleet: str
    code: str
    python: str

    def differences(self, other: Self) -> tuple[Notice, ...]:
        """What differs. other: of the other machine."""
        what = {"framefleet": "Framefleet", "code": Notice("cluster.code"), "python": "Python"}
        pairs = [(name, vars(other)[name], mine) for name, mine in vars(self).items()]
        return tuple(
            Notice("cluster.difference", what=what[name], theirs=theirs, ours=ours) for name, theirs, ours in pairs if theirs != ours
        )


@cache
def own_versions() -> Versions:
    """The versions of this machine."""
    try:
        framefleet = version("framefleet")
    except PackageNotFoundError:  # it runs from a folder
        framefleet = "unknown"
    digest = blake2b(digest_size=6)
    for part in ("engine", "plugins"):
        for path in sorted((ROOT / part).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return Versions(framefleet, digest.hexdigest(), platform.python_version())


@dataclass(frozen=True)
class Hello:
    """An agent's first answer. devices: the node's best ones. cores: that its processes may use. problem: why it has no device."""

    versions: Versions
    devices: tuple[DeviceId, ...]
    cores: int
    problem: Notice | None = None


@dataclass(frozen=True)
class Start:
    """Start a worker. worker: its number, for all further messages. model: contents of the model's files."""

    worker: int
    setup: Setup
    worker_main: WorkerMain
    model: tuple[Content, ...]


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
    """The end of a worker's process. The driver asks for it. An agent announces it as the worker's last message."""

    worker: int


@dataclass(frozen=True)
class Wanted:
    """The node does not have this content: send it."""

    content: Content


@dataclass(frozen=True)
class Measure:
    """Take telemetry of the node's devices, or stop. The driver sends it only while they are shown."""

    wanted: bool


@dataclass(frozen=True)
class Measured:
    """Telemetry of a node. devices: without the node's name. rx, tx: bytes/s of its network cards, None = unknown."""

    devices: tuple[Telemetry, ...]
    rx: float | None
    tx: float | None


ToAgent: TypeAlias = Start | Task | Message | End | Measure
FromAgent: TypeAlias = Message | End | Wanted | Measured


@dataclass(frozen=True)
class Admit:
    """Start a worker; the handle of its pipe follows."""

    setup: Setup
    worker_main: WorkerMain


@dataclass(frozen=True)
class Ask:
    """Ask each node. what: a method of ``Agent``. number: of the question, for ``Answer``."""

    number: int
    what: str


@dataclass(frozen=True)
class Leave:
    """End all agents, leave the cluster and end."""


@dataclass(frozen=True)
class Answer:
    """The answer of each node, by its name, or why there is none."""

    number: int
    values: Mapping[str, Any]
    error: FramefleetError | None = None


@dataclass(frozen=True)
class Say:
    """Something to tell the user."""

    said: Notice


@dataclass(frozen=True)
class Joined:
    """Nodes that take part from now on, by name."""

    nodes: Mapping[str, Hello]


@dataclass(frozen=True)
class Refused:
    """The process cannot connect, and ends."""

    error: FramefleetError


@dataclass(frozen=True)
class NodeState:
    """One node at one moment.

    time: monotonic, seconds. sent, received: bytes until then, of files and of results. lost: whether it does not answer.
    """

    time: float
    name: str
    address: str
    lost: bool
    sent: int
    received: int
    measured: Measured | None


@dataclass(frozen=True)
class States:
    """All nodes, about once a second."""

    nodes: tuple[NodeState, ...]


ToConnection: TypeAlias = Admit | Ask | Leave | Measure
FromConnection: TypeAlias = Answer | Say | Joined | Refused | States
