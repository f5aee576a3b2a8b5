"""Shared by ``detect`` and ``devices``: the cluster that the user named."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framefleet.engine.cluster.connection import ClusterConnection

CLUSTER = "use the devices of a Ray cluster: HOST:PORT, or auto if it runs on this machine; --devices takes NODE/cuda:0, too"


@contextmanager
def connected(address: str | None, quiet: bool) -> Iterator[ClusterConnection | None]:
    """Connect to a cluster until the block ends, with messages on standard error. address: None = there is none, which yields None.

    Raises ClusterError or UsageError if it cannot be used.
    """
    if address is None:
        yield None
        return

    from framefleet.engine.cluster.connection import ClusterConnection  # few runs need it

    def say(message: str) -> None:
        print(f"framefleet: {message}", file=sys.stderr)

    if not quiet:
        say(f"connecting to the cluster at {address}")
    with ClusterConnection(address, say) as cluster:
        yield cluster
