"""Child processes: start, messages, heartbeat, watchdog, staged stop, outcome and restarts. No other package starts any."""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from typing import Any

AnyConnection: TypeAlias = "Connection[Any, Any]"
"""A connection to another process, for messages of any type. Connections cannot be subscripted at run time."""
