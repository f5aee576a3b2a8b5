"""The process that is connected to a cluster, for the program of the user: see ``connection``.

Ray and the messages of all nodes have this process and its processor for themselves. A crash of Ray's library ends only this process.
"""

import threading
from contextlib import suppress
from multiprocessing import reduction
from pathlib import Path

from framefleet.engine.cluster.cluster import Cluster
from framefleet.engine.cluster.messages import Admit, Answer, Ask, FromConnection, Joined, Leave, Measure, Refused, Say, States
from framefleet.engine.notices import ClusterError, FramefleetError, UsageError
from framefleet.engine.processes import AnyConnection

STATES_SECONDS = 1.0
"""Interval between two reports about the nodes."""


def main(connection: AnyConnection, address: str, cache: Path | None, patience: float) -> None:
    """Connect to a cluster and serve the user's program until it closes the connection. See ``Cluster``."""
    sending, over = threading.Lock(), threading.Event()

    def send(message: FromConnection) -> None:
        with sending, suppress(OSError):  # the user's program has ended; the loop below notices that
            connection.send(message)

    def report() -> None:
        while not over.wait(STATES_SECONDS):
            send(States(cluster.states))

    def answer(question: Ask) -> None:
        try:
            send(Answer(question.number, cluster.ask(question.what)))
        except FramefleetError as error:
            send(Answer(question.number, {}, error))

    try:
        cluster = Cluster(address, lambda said: send(Say(said)), lambda nodes: send(Joined(nodes)), cache, patience)
    except (ClusterError, UsageError) as error:
        send(Refused(error))
        return
    with cluster, suppress(EOFError, OSError):  # the user's program has ended
        send(Joined(cluster.hellos))
        reporter = threading.Thread(target=report, name="report nodes", daemon=True)
        reporter.start()
        try:
            while not isinstance(message := connection.recv(), Leave):
                match message:
                    case Admit(setup, worker_main):
                        cluster.admit(setup, worker_main, type(connection)(reduction.recv_handle(connection)))
                    case Ask(what=what):
                        threading.Thread(target=answer, args=(message,), name=what, daemon=True).start()
                    case Measure(wanted):
                        cluster.measure(wanted)
        finally:
            over.set()
            reporter.join()
