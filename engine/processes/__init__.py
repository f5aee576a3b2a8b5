"""Child processes: start, messages, heartbeat, watchdog, staged stop, outcome and restarts; and programs that print JSON.

No other package starts a process, except ``engine.bench.devices_run``, which reads the lines of a program as they come.
"""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from typing import Any

AnyConnection: TypeAlias = "Connection[Any, Any]"
"""A connection to another process, for messages of any type. Connections cannot be subscripted at run time."""
