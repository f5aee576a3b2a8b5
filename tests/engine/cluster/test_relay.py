"""What a node may ask the driver for."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from framefleet.engine.cluster.files import Content, Contents, content_of
from framefleet.engine.cluster.messages import Wanted
from framefleet.engine.cluster.relay import Relay


class Node:
    """A node whose agent asks for contents, in place of Ray's handle of an agent."""

    def __init__(self, *wanted: Content) -> None:
        self._wanted = [Wanted(content) for content in wanted]
        self.received: dict[Path, bytes] = {}
        self.finished = threading.Event()
        self.ended = threading.Event()

    def call(self, method: str, *arguments: Any, **_: Any) -> tuple[str, tuple[Any, ...]]:
        return method, arguments

    def result(self, call: tuple[str, tuple[Any, ...]], _: float) -> Any:
        method, arguments = call
        if method == "receive":
            if self._wanted:
                return [self._wanted.pop(0)]
            self.ended.wait(30)
            return []
        if method == "write_file":
            content, _, _, data = arguments
            self.received[content.path] = self.received.get(content.path, b"") + data
        if method == "finish_file":
            self.finished.set()
        return None

    def kill(self) -> None:
        self.ended.set()


def test_a_node_gets_only_contents_of_the_run(tmp_path: Path) -> None:
    video, secret = tmp_path / "video.mp4", tmp_path / "secret.txt"
    video.write_bytes(b"frames")
    secret.write_bytes(b"a password")
    contents = Contents()
    node = Node(contents.source(video))
    relay = Relay("node-a", node, 30.0, contents, lambda: True)  # type: ignore[arg-type]
    assert node.finished.wait(30)
    assert node.received == {video: b"frames"}
    node.ended.set()
    relay.close()

    for asked in (content_of(secret), content_of(video, whole=True)):
        node = Node(asked)
        relay = Relay("node-a", node, 30.0, contents, lambda: True)  # type: ignore[arg-type]
        assert node.ended.wait(30), "the driver is done with this node"
        relay.close()
        assert node.received == {}
        assert relay.lost
        assert not relay.returns
