"""The process that is connected to a cluster, for the program of the user: see ``connection``.

Ray and the messages of all nodes have this process and its processor for themselves. A crash of Ray's library ends only this process.
"""

from __future__ import annotations

import threading
from multiprocessing import reduction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from engine.cluster.cluster import PATIENCE_SECONDS, Cluster
from engine.cluster.messages import Admit, Answer, Ask, FromConnection, Joined, Leave, Measure, Refused, Say, States, ToConnection
from engine.errors import ClusterError, FramefleetError, UsageError

STATES_SECONDS = 1.0
"""Interval between two reports about the nodes."""


class _Sender:
    """Sends messages from several threads."""

    def __init__(self, connection: Connection[FromConnection, ToConnection]) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def __call__(self, message: FromConnection) -> None:
        with self._lock:
            self._connection.send(message)


def main(
    connection: Connection[Any, Any],
    address: str,
    cache: Path | None = None,
    limit: int | None = None,
    patience: float = PATIENCE_SECONDS,
) -> None:
    """Connect to a cluster and serve the user's program until it closes the connection. See ``Cluster``."""
    send = _Sender(connection)
    over = threading.Event()
    try:
        cluster = Cluster(
            address,
            lambda text: send(Say(text)),
            lambda nodes: send(Joined(nodes)),
            cache=cache,
            limit=limit,
            patience=patience,
        )
    except (ClusterError, UsageError) as error:
        send(Refused(error))
        return
    with cluster:
        send(Joined(cluster.hellos))
        reporter = threading.Thread(target=_report, args=(cluster, send, over), name="report nodes", daemon=True)
        reporter.start()
        try:
            while not isinstance(message := connection.recv(), Leave):
                _serve(cluster, connection, message, send)
        except (EOFError, OSError):  # the user's program has ended
            pass
        finally:
            over.set()
            reporter.join()


def _report(cluster: Cluster, send: _Sender, over: threading.Event) -> None:
    while not over.wait(STATES_SECONDS):
        try:
            send(States(cluster.states))
        except OSError:
            return


def _serve(cluster: Cluster, connection: Connection[Any, Any], message: ToConnection, send: _Sender) -> None:
    match message:
        case Admit(setup, worker_main):
            cluster.admit(setup, worker_main, type(connection)(reduction.recv_handle(connection)))
        case Ask():
            threading.Thread(target=_answer, args=(cluster, message, send), name=message.what, daemon=True).start()
        case Measure(wanted):
            cluster.measure(wanted)


def _answer(cluster: Cluster, question: Ask, send: _Sender) -> None:
    try:
        answer = Answer(question.number, cluster.ask(question.what))
    except FramefleetError as error:
        answer = Answer(question.number, {}, error)
    try:
        send(answer)
    except OSError:  # the program of the user has ended
        return
