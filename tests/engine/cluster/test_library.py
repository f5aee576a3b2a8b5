from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from framefleet.engine.cluster.library import Library, check_address
from framefleet.engine.cluster.messages import Versions, own_versions
from framefleet.engine.notices import ClusterError, UsageError
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.types import DeviceId
from tests.support.clusters.ray import Raylets
from tests.support.pool import tiny_settings


@pytest.mark.parametrize("address", ["", "host", "host:", ":6379", "host:port", "ray://host:10001"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match=f"'{address}'"):
        check_address(address)


def test_an_address_where_nothing_answers() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(
            ClusterError, match=rf"nothing answers at {address} \(Connection refused\): start a cluster with 'ray start --head'"
        ):
            check_address(address)


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError, match=r"pip install 'framefleet\[cluster\]', here and on every node"):
        Library("127.0.0.1:6379")


def test_an_unexpected_error_of_an_agent_names_itself(raylets: Raylets, tmp_path: Path) -> None:
    raylets.add("beta")
    library = Library(raylets.address)
    try:
        agent = library.start_agent(library.nodes()[0].id, tmp_path)
        with pytest.raises(ClusterError, match="the agent failed: AttributeError") as failed:
            agent.result(agent.call("send", ["no message"]), 60.0)
    finally:
        library.close()
    assert failed.value.notice.code == "cluster.agent_failed"


def test_a_node_of_a_cluster_needs_a_cluster() -> None:
    with pytest.raises(UsageError, match="node-a/cpu:0 is a device of a cluster: give --cluster ADDRESS"):
        EnginePool(tiny_settings(), [DeviceId.parse("node-a/cpu:0")])


def test_differences_are_in_words() -> None:
    mine = Versions("1.0", "aa", "3.12.1")
    assert mine.differences(mine) == ()
    assert [*map(str, mine.differences(Versions("1.1", "bb", "3.12.1")))] == [
        "Framefleet is 1.1 there and 1.0 here",
        "the code of Framefleet is bb there and aa here",
    ]
    assert len(own_versions().code) == 12
