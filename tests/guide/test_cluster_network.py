"""The advice of docs/guide/cluster.md about who can reach a node holds for Ray: its rules for nftables, and a network namespace.

Network namespaces stand for the node, another machine of the private network, and one outside of it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.clusters.ray import MEMORY, NEEDS_RAY
from tests.support.guide import GUIDE

NODE, PEER, OTHER = (f"ff{letter}{os.getpid()}" for letter in "npo")
OUTSIDE, PRIVATE = "10.203.77.2", "10.203.78.2"
"""The node's addresses in the network of all and in the private one."""
PORT = 6379
REACH = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 2).close()"
LISTENING = """
for name in ("tcp", "tcp6"):
    for line in open("/proc/net/" + name).readlines()[1:]:
        (address, port), state = line.split()[1].split(":"), line.split()[3]
        if state == "0A" and not int(address, 16):
            print(int(port, 16))
"""
"""Prints the ports on which a program listens at all addresses."""


def ip(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def may_make_namespaces() -> bool:
    if sys.platform != "linux" or os.geteuid() != 0 or not (shutil.which("ip") and shutil.which("nft")):
        return False
    if subprocess.run(["ip", "netns", "add", f"{NODE}x"], capture_output=True, check=False).returncode:
        return False
    ip("netns", "del", f"{NODE}x")
    return True


pytestmark = [
    NEEDS_RAY,
    pytest.mark.skipif(not may_make_namespaces(), reason="needs ip, nft and the right to make network namespaces"),
    pytest.mark.timeout(240),
    pytest.mark.slow,  # of Ray and of the page, not of Framefleet
]


def reachable(address: str, port: int, namespace: str | None = None) -> bool:
    """Whether a program connects. namespace: it runs in, None = this machine's network."""
    inside = [] if namespace is None else ["ip", "netns", "exec", namespace]
    return not subprocess.run([*inside, sys.executable, "-c", REACH, address, str(port)], capture_output=True, check=False).returncode


@pytest.fixture
def node() -> Iterator[list[int]]:
    """A head whose ``--node-ip-address`` is the private one. Yields the ports on which it listens at all addresses."""
    with ExitStack() as stack:
        for name in (NODE, PEER, OTHER):
            ip("netns", "add", name)
            stack.callback(ip, "netns", "del", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("link", "add", f"{NODE}o", "type", "veth", "peer", "name", "outside", "netns", NODE)
        ip("link", "add", f"{NODE}p", "type", "veth", "peer", "name", "private", "netns", NODE)
        ip("link", "set", f"{NODE}p", "netns", PEER)
        ip("link", "set", f"{NODE}o", "netns", OTHER)
        for place, link, address in (
            (("-n", NODE), "outside", f"{OUTSIDE}/24"),
            (("-n", NODE), "private", f"{PRIVATE}/24"),
            (("-n", PEER), f"{NODE}p", "10.203.78.1/24"),
            (("-n", OTHER), f"{NODE}o", "10.203.77.1/24"),
        ):
            ip(*place, "addr", "add", address, "dev", link)
            ip(*place, "link", "set", link, "up")
        folder = tempfile.mkdtemp(prefix="ff", dir="/tmp")  # short: sockets lie in it
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(lambda: [os.kill(int(number), 9) for number in ip("netns", "pids", NODE).stdout.split()])
        words = ["--head", "--node-ip-address", PRIVATE, "--num-cpus=1", f"--object-store-memory={MEMORY}", "--disable-usage-stats"]
        ray = [str(Path(sys.executable).with_name("ray")), "start", *words, "--include-dashboard=false", f"--temp-dir={folder}"]
        started = subprocess.run(["ip", "netns", "exec", NODE, *ray], capture_output=True, text=True, timeout=120, check=False)
        assert started.returncode == 0, started.stdout + started.stderr
        listening = subprocess.run(
            ["ip", "netns", "exec", NODE, sys.executable, "-c", LISTENING], capture_output=True, text=True, check=True
        )
        yield [*map(int, listening.stdout.split())]


def test_only_the_private_network_reaches_a_node(node: list[int]) -> None:
    assert PORT in node
    assert len(node) >= 3
    assert all(reachable(OUTSIDE, port, OTHER) for port in node), "the address that Ray is given restricts nothing"
    (rules,) = re.findall(r"^  ```nft\n(.*?)^  ```", (GUIDE / "cluster.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    subprocess.run(["ip", "netns", "exec", NODE, "nft", "-f", "-"], input=textwrap.dedent(rules), text=True, check=True)
    assert not any(reachable(OUTSIDE, port, OTHER) for port in node)
    assert all(reachable(PRIVATE, port, PEER) for port in node)
    assert reachable(PRIVATE, PORT, NODE), "the machine itself"

    subprocess.run(["ip", "netns", "exec", NODE, "nft", "flush", "ruleset"], check=True)
    assert reachable(OUTSIDE, PORT, OTHER)
    ip("-n", NODE, "link", "del", "outside")
    assert all(reachable(PRIVATE, port, PEER) for port in node)
    assert not reachable(OUTSIDE, PORT, OTHER)
    assert not reachable("127.0.0.1", PORT), "another program of the same machine"
