"""The one file that imports Ray: connecting to a cluster, its nodes, and the agents on them. Raises ``ClusterError``."""

import logging
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framefleet.engine.cluster.agent import Agent
from framefleet.engine.notices import ClusterError, FramefleetError, Notice, UsageError, literal, unexpected

REACH_SECONDS = 5.0
"""How long the address may take to answer. Ray itself tries for minutes."""

LANES = {"send": 1, "receive": 1, "files": 2}
"""The threads of an agent, by what they do. One more does everything else."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class NodeFacts:
    """A node that is alive. id: Ray's. name: the one given with ``ray start --node-name``, else the host's name. address: of its host."""

    id: str
    name: str
    address: str


class AgentHandle:
    """Calls the methods of an agent on a node."""

    def __init__(self, actor: Any, ray: Any) -> None:
        self._actor = actor
        self._ray = ray

    def call(self, method: str, *arguments: Any, lane: str | None = None, **named: Any) -> Any:
        """Begin a call. lane: of ``LANES``. Returns what ``result`` takes. Raises ClusterError if the cluster cannot be reached."""
        bound = getattr(self._actor, method)
        try:
            return (bound.options(concurrency_group=lane) if lane else bound).remote(*arguments, **named)
        except Exception as error:  # the connection to the cluster has ended, or the arguments cannot be sent
            raise ClusterError(Notice("general.unexpected", kind=type(error).__name__, detail=_explained(str(error)))) from error

    def result(self, call: Any, seconds: float) -> Any:
        """Wait for the result of a call.

        Raises
        ------
        ClusterError
            There is none within ``seconds``, or the agent or its node has ended.
        FramefleetError, OSError
            The method raised it.
        """
        errors = self._ray.exceptions
        try:
            return self._ray.get(call, timeout=seconds)
        except errors.GetTimeoutError:
            raise ClusterError(Notice("cluster.no_answer_within", seconds=seconds)) from None
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, OSError | FramefleetError):
                raise cause from None
            raise ClusterError(Notice("cluster.agent_failed", problem=unexpected(cause))) from None
        except errors.RayActorError as error:
            raise ClusterError(_end(str(error))) from None
        except Exception as error:  # Ray raises many kinds while it shuts down
            raise ClusterError(unexpected(error)) from None

    def kill(self) -> None:
        """Kill the agent. Its workers end with it."""
        with suppress(Exception):
            self._ray.kill(self._actor)


class Library:
    """A connection to a Ray cluster. One process has one at a time.

    Raises
    ------
    ClusterError
        Ray is not installed, the cluster cannot be reached, or it refuses this machine.
    UsageError
        The address is not usable.
    """

    def __init__(self, address: str) -> None:
        self._ray = ray = _import_ray()
        check_address(address)
        try:
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False, namespace="framefleet")
        except Exception as error:
            raise ClusterError(Notice("cluster.not_usable", address=address, problem=_explained(str(error)))) from error
        self._head: str = ray.get_runtime_context().gcs_address
        # Ray would print the last log lines of a lost node to standard output, which belongs to the results
        ray._private.worker.print_to_stdstream = lambda data, **_: _log.info("%s", data)
        # no entry in Ray's own history for each of many small calls
        self._actors = ray.remote(num_cpus=0, max_restarts=0, enable_task_events=False, concurrency_groups=LANES)(Agent)

    def reachable(self) -> bool:
        """Whether the head of the cluster answers."""
        try:
            check_address(self._head)
        except ClusterError:
            return False
        return True

    def nodes(self) -> list[NodeFacts]:
        """The nodes that are alive and offer processors or GPUs. A machine that joined with ``--num-cpus=0`` takes no part."""
        try:
            nodes = self._ray.nodes()
        except Exception as error:
            raise ClusterError(Notice("cluster.no_answer", problem=_explained(str(error)))) from error
        return [
            NodeFacts(node["NodeID"], _name(node), node["NodeManagerAddress"])
            for node in nodes
            if node["Alive"] and (node["Resources"].get("CPU") or node["Resources"].get("GPU"))
        ]

    def start_agent(self, node: str, cache: Path | None) -> AgentHandle:
        """Start an agent on a node. node: its id. cache: see ``Cache``, None = the usual one. Does not wait."""
        strategy = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        return AgentHandle(self._actors.options(scheduling_strategy=strategy).remote(cache), self._ray)

    def close(self) -> None:
        """Leave the cluster, which ends the remaining agents."""
        with suppress(Exception):
            self._ray.shutdown()


def check_address(address: str) -> None:
    """Check that a cluster may be at an address, and that its host answers. "auto": the cluster that runs on this machine.

    Raises UsageError or ClusterError if not.
    """
    if address == "auto":
        return
    if address.startswith("ray://"):
        raise UsageError(Notice("cluster.ray_client", address=address))
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise UsageError(Notice("cluster.no_address", address=address))
    try:
        with socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS):
            pass
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ClusterError(Notice("cluster.nothing_answers", address=address, why=why)) from error


def _import_ray() -> Any:
    try:
        import ray
        import ray.util.scheduling_strategies
    except ImportError as error:
        raise ClusterError(Notice("cluster.needs_ray", error=str(error))) from error
    return ray


def _name(node: dict[str, Any]) -> str:
    name = node["NodeName"] if node["NodeName"] != node["NodeManagerAddress"] else node["NodeManagerHostname"]
    return re.sub(r"[^A-Za-z0-9._-]", "-", name) or "node"


def _end(text: str) -> Notice:
    """Why an agent ended or never began, from Ray's error."""
    if re.search(r"No module named '?framefleet", text):
        return Notice("cluster.not_installed")
    if "creation task" in text:
        return Notice("cluster.agent_does_not_start", line=text.strip().splitlines()[-1])
    if "unavailable" in text:
        return Notice("cluster.connection_lost")
    return Notice("cluster.node_has_ended" if re.search(r"node (has died|was terminated)", text) else "cluster.agent_has_ended")


def _explained(text: str) -> Notice:
    """What one of Ray's errors means, or its first sentences in one line."""
    if "Failed to connect to Ray" in text or "Unauthenticated" in text:
        return Notice("cluster.needs_token")
    if len(versions := re.findall(r"Ray: (\S+)\s+Python: (\S+)", text)) == 2:
        theirs, ours = (Notice("cluster.ray_version", ray=ray, python=python) for ray, python in versions)
        return Notice("cluster.other_ray", theirs=theirs, ours=ours)
    words = " ".join(text.split())[:300]
    return literal(words) if words else Notice("cluster.unknown_error")
