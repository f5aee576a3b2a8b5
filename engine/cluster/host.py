"""The pool's side of a device of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection

from framefleet.engine.notices import Notice
from framefleet.engine.pool.protocol import FromWorker, Setup, ToWorker, Unreachable
from framefleet.engine.processes.outcome import Outcome


class ClusterHost:
    """A ``WorkerHost``. admit: starts a worker. problem: says why the connection to the cluster has ended, None while it lives."""

    def __init__(self, admit: Callable[[Setup], Connection[ToWorker, FromWorker]], problem: Callable[[], Notice | None]) -> None:
        self._admit = admit
        self._problem = problem

    def admit(self, setup: Setup) -> Connection[ToWorker, FromWorker]:
        """See ``WorkerHost``."""
        return self._admit(setup)

    def dismiss(self) -> None:
        """See ``WorkerHost``. The pool closes the connection, and the agent then ends the process."""

    def release(self) -> None:
        """See ``WorkerHost`` and ``dismiss``."""

    def end(self) -> Outcome:
        """See ``WorkerHost``. Does not wait for the process: the agent ends it before it starts another one for the device.

        The worker's last message says how the process ended.
        """
        problem = self._problem()
        return Outcome(None, None if problem is None else Unreachable(problem, retry=False))
