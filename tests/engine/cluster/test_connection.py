"""Which devices of a cluster take part."""

from __future__ import annotations

from typing import Any

import pytest

from framefleet.engine.cluster.connection import ClusterConnection, choose, devices_of
from framefleet.engine.cluster.messages import Hello, Say, own_versions
from framefleet.engine.notices import ClusterError, Notice, UsageError
from framefleet.engine.types import DeviceId
from tests.support.notices import words


def node(name: str, *devices: str, problem: str | None = None) -> Hello:
    return Hello(own_versions(), tuple(DeviceId.parse(f"{name}/{device}") for device in devices), 4, problem and words(problem))


NODES = {"b": node("b", "cpu:0"), "a": node("a", "cuda:0", "cuda:1"), "c": node("c", "openvino:GPU.0")}


def names(*asked: str, nodes: dict[str, Hello] = NODES) -> list[str]:
    return [str(device) for device in choose([DeviceId.parse(each) for each in asked], nodes)]


def test_the_best_kind_in_the_cluster_is_used_on_all_nodes() -> None:
    assert names() == ["a/cuda:0", "a/cuda:1"]
    assert names(nodes={name: NODES[name] for name in "bc"}) == ["c/openvino:GPU.0"]
    assert names(nodes={"b": NODES["b"]}) == ["b/cpu:0"]


def test_a_device_is_asked_for_on_one_node_or_on_each() -> None:
    assert names("cpu:0") == ["a/cpu:0", "b/cpu:0", "c/cpu:0"]
    assert names("b/cpu:1", "cpu:1", "a/cuda:1") == ["a/cpu:1", "a/cuda:1", "b/cpu:1", "c/cpu:1"]
    with pytest.raises(UsageError, match="d/cpu:0: the cluster has no node d; its nodes are a, b, c"):
        names("d/cpu:0")


def test_a_node_that_joins_adds_its_devices_by_the_same_rule() -> None:
    both = {**NODES, "e": node("e", "cuda:0")}
    assert devices_of("e", (), both) == [DeviceId("cuda", "0", "e")]
    assert devices_of("b", (), both) == [], "the run uses GPUs"
    assert devices_of("e", (DeviceId("cuda", "0", "a"),), both) == [], "the user named the devices"


def test_without_a_device_each_node_says_why() -> None:
    with pytest.raises(
        ClusterError, match=r"no node of the cluster has a device that can be used \(node a: no driver; node b: no OpenVINO\)"
    ):
        names(nodes={"b": node("b", problem="no OpenVINO"), "a": node("a", problem="no driver")})


def says_something(connection: Any, *_: Any) -> None:
    """The process of a connection, which waits for the user's program after its first message."""
    connection.send(Say(Notice("cluster.joined", name="a")))
    connection.recv()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_no_thread_waits_for_a_reader_that_failed() -> None:
    def fail(said: Notice) -> None:
        raise ValueError(said)

    with pytest.raises(ClusterError, match="the connection to the cluster has ended"):
        ClusterConnection("nowhere:1", fail, main=says_something)
