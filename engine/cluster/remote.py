"""A worker on a node, as the relay sees it."""

import itertools
import pickle
import threading
from contextlib import suppress

from framefleet.engine.pool.protocol import Unreachable
from framefleet.engine.processes import AnyConnection

_numbers = itertools.count()


class Remote:
    """A worker on the node. connection: the relay's end of its pipe.

    One thread reads the connection and closes it; any thread may write.
    """

    def __init__(self, connection: AnyConnection) -> None:
        self.number = next(_numbers)
        self.connection = connection
        self._writing = threading.Lock()

    def write(self, data: bytes) -> None:
        """Pass a message to the pool, unless the pool has closed its end."""
        with self._writing, suppress(OSError):
            self.connection.send_bytes(data)

    def lose(self, why: Unreachable) -> None:
        """Tell the pool that the worker cannot be reached."""
        self.write(pickle.dumps(why))

    def close(self) -> None:
        """Close the connection."""
        with self._writing:
            self.connection.close()
