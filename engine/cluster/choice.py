"""Which devices of a cluster take part in a run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from framefleet.engine.cluster.messages import Hello
from framefleet.engine.errors import ClusterError, UsageError
from framefleet.engine.types import DeviceId


def choose(asked: Sequence[DeviceId], nodes: Mapping[str, Hello]) -> tuple[DeviceId, ...]:
    """The devices to use. asked: as for ``ClusterConnection.devices``. nodes: their first answers, by name.

    Raises:
        UsageError: a device's node is not in the cluster.
        ClusterError: no node has a device.
    """
    if unknown := [device for device in asked if device.node and device.node not in nodes]:
        raise UsageError(f"{unknown[0]}: the cluster has no node {unknown[0].node}; its nodes are {', '.join(sorted(nodes))}")
    chosen = [device for name in sorted(nodes) for device in devices_of(name, asked, nodes)]
    if not chosen:
        problems = "; ".join(f"{name}: {hello.problem}" for name, hello in sorted(nodes.items()))
        raise ClusterError(f"no node of the cluster has a device that can be used ({problems})")
    return tuple(dict.fromkeys(chosen))


def devices_of(name: str, asked: Sequence[DeviceId], nodes: Mapping[str, Hello]) -> list[DeviceId]:
    """The devices of one node that take part."""
    if asked:
        return [replace(device, node=name) for device in asked if device.node in ("", name)]
    kinds = {device.kind for hello in nodes.values() for device in hello.devices}
    best = next((kind for kind in ("cuda", "openvino", "cpu") if kind in kinds), "")
    return [device for device in nodes[name].devices if device.kind == best]
