"""Which devices of a cluster take part in a run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from framefleet.engine.cluster.messages import Hello
from framefleet.engine.errors import ClusterError, UsageError
from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId


def choose(asked: Sequence[DeviceId], nodes: Mapping[str, Hello]) -> tuple[DeviceId, ...]:
    """The devices to use. asked: as for ``ClusterConnection.devices``. nodes: their first answers, by name.

    Raises:
        UsageError: a device's node is not in the cluster.
        ClusterError: no node has a device.
    """
    if unknown := [device for device in asked if device.node and device.node not in nodes]:
        device = unknown[0]
        raise UsageError(Notice("cluster.no_such_node", device=str(device), node=device.node, nodes=tuple(sorted(nodes))))
    chosen = [device for name in sorted(nodes) for device in devices_of(name, asked, nodes)]
    if not chosen:
        problems = tuple(Notice("cluster.node", name=name, problem=hello.problem) for name, hello in sorted(nodes.items()))
        raise ClusterError(Notice("cluster.no_device", problems=problems))
    return tuple(dict.fromkeys(chosen))


def devices_of(name: str, asked: Sequence[DeviceId], nodes: Mapping[str, Hello]) -> list[DeviceId]:
    """The devices of one node that take part."""
    if asked:
        return [replace(device, node=name) for device in asked if device.node in ("", name)]
    kinds = {device.kind for hello in nodes.values() for device in hello.devices}
    best = next((kind for kind in ("cuda", "openvino", "cpu") if kind in kinds), "")
    return [device for device in nodes[name].devices if device.kind == best]
