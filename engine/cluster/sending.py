"""The driver's side of sending contents to a node."""

import errno
from collections import deque
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from framefleet.engine.cluster.files.cache import CHUNK
from framefleet.engine.cluster.files.content import Content
from framefleet.engine.cluster.library import AgentHandle
from framefleet.engine.errors import SourceError, notice_of
from framefleet.engine.notices import Notice

ATTEMPTS = 2
"""How often a file is sent that does not arrive as it was sent."""

UNDER_WAY = 2
"""Chunks sent before the first one is confirmed."""


def send_content(agent: AgentHandle, content: Content, patience: float) -> int:
    """Send a content, or say why it cannot be sent. patience: seconds for one chunk. Returns the number of bytes sent.

    Raises ClusterError if the agent has ended.
    """

    def ask(method: str, *arguments: Any, **named: Any) -> None:
        agent.result(agent.call(method, content, *arguments, lane="files", **named), patience)

    try:
        files = [(path, path.stat().st_size) for path in content.files()]
    except (OSError, SourceError) as error:
        ask("abandon_file", Notice("cluster.unreadable", path=content.path, problem=_reason(error)), here=False)
        return 0
    for attempt in range(ATTEMPTS):
        try:
            ask("begin_file", [size for _, size in files])
            digests = [
                (name := "" if path == content.path else path.name, *_send_file(agent, content, path, name, patience)) for path, _ in files
            ]
            ask("finish_file", digests)
            break
        except SourceError as error:
            ask("abandon_file", error.notice, here=False)
            return 0
        except OSError as error:
            if error.errno != errno.EIO or attempt + 1 == ATTEMPTS:
                ask("abandon_file", Notice("cluster.not_stored", path=content.path, problem=_reason(error)), here=True)
                return 0
    return sum(size for _, size, _ in digests)


def _send_file(agent: AgentHandle, content: Content, path: Path, name: str, patience: float) -> tuple[int, str]:
    """Send one file in chunks. Returns its size in bytes and its digest."""
    digest, offset = blake2b(), 0
    under_way: deque[Any] = deque()
    for data in _chunks(path):
        digest.update(data)
        under_way.append(agent.call("write_file", content, name, offset, data, lane="files"))
        offset += len(data)
        if len(under_way) == UNDER_WAY:
            agent.result(under_way.popleft(), patience)
    for call in under_way:
        agent.result(call, patience)
    return offset, digest.hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in parts of ``CHUNK`` bytes. Raises SourceError."""
    try:
        with path.open("rb") as file:
            while data := file.read(CHUNK):
                yield data
    except OSError as error:
        raise SourceError(Notice("cluster.unreadable", path=path, problem=_reason(error))) from error


def _reason(error: Exception) -> Notice | str:
    return error.strerror if isinstance(error, OSError) and error.strerror else notice_of(error)
