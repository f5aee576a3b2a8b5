"""The one file that imports Ray: connecting to a cluster, its nodes, and the agents on them. Raises ``ClusterError``."""

import logging
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framefleet.engine.cluster.agent import Agent
from framefleet.engine.errors import ClusterError, FramefleetError, UsageError

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
            raise ClusterError(f"{type(error).__name__}: {_in_words(str(error))}") from error

    def result(self, call: Any, seconds: float) -> Any:
        """Wait for the result of a call.

        Raises:
            ClusterError: there is none within ``seconds``, or the agent or its node has ended.
            FramefleetError, OSError: the method raised it.
        """
        errors = self._ray.exceptions
        try:
            return self._ray.get(call, timeout=seconds)
        except errors.GetTimeoutError:
            raise ClusterError(f"no answer within {seconds:.0f} s") from None
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, OSError | FramefleetError):
                raise cause from None
            raise ClusterError(f"the agent failed: {type(cause).__name__}: {cause}") from None
        except errors.RayActorError as error:
            raise ClusterError(_end_in_words(str(error))) from None
        except Exception as error:  # Ray raises many kinds while it shuts down
            raise ClusterError(f"{type(error).__name__}: {error}") from None

    def kill(self) -> None:
        """Kill the agent. Its workers end with it."""
        with suppress(Exception):
            self._ray.kill(self._actor)


class Library:
    """A connection to a Ray cluster. One process has one at a time.

    Raises:
        ClusterError: Ray is not installed, the cluster cannot be reached, or it refuses this machine.
        UsageError: the address is not usable.
    """

    def __init__(self, address: str) -> None:
        self._ray = ray = _import_ray()
        check_address(address)
        try:
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False, namespace="framefleet")
        except Exception as error:
            raise ClusterError(f"the cluster at {address} cannot be used: {_in_words(str(error))}") from error
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
            raise ClusterError(f"the cluster does not answer: {_in_words(str(error))}") from error
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
        raise UsageError(
            f"'{address}': the Ray Client is not supported; let this machine join (ray start --address=HOST:6379 --num-cpus=0),"
            " and give HOST:6379"
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise UsageError(f"'{address}' is not the address of a cluster: write HOST:PORT, as 'ray start --head' prints it, or auto")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS):
            pass
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise ClusterError(
            f"nothing answers at {address} ({why}): start a cluster with 'ray start --head', or check the address"
        ) from error


def _import_ray() -> Any:
    try:
        import ray
        import ray.util.scheduling_strategies
    except ImportError as error:
        raise ClusterError(f"a cluster needs Ray ({error}): pip install 'framefleet[cluster]', here and on every node") from error
    return ray


def _name(node: dict[str, Any]) -> str:
    given = node["NodeName"] if node["NodeName"] != node["NodeManagerAddress"] else node["NodeManagerHostname"]
    return re.sub(r"[^A-Za-z0-9._-]", "-", given) or "node"


def _end_in_words(text: str) -> str:
    """Why an agent ended or never began, from Ray's error."""
    if re.search(r"No module named '?engine", text):
        return "Framefleet is not installed there"
    if "creation task" in text:
        return f"its agent does not start: {text.strip().splitlines()[-1]}"
    if "unavailable" in text:
        return "the connection was lost"
    return "the node has ended" if re.search(r"node (has died|was terminated)", text) else "its agent has ended"


def _in_words(text: str) -> str:
    """The first sentences of one of Ray's errors, in one line."""
    if "Failed to connect to Ray" in text or "Unauthenticated" in text:
        return "it refuses this machine: if it was started with a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH here, too"
    if len(versions := re.findall(r"Ray: (\S+)\s+Python: (\S+)", text)) == 2:
        theirs, ours = (f"Ray {ray} on Python {python}" for ray, python in versions)
        return f"it runs {theirs}, and this machine {ours}: install the same on both"
    return " ".join(text.split())[:300] or "unknown error"
