"""What depth-wise sharing is whatever the library: which devices can, where the network is cut, and how that is told."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict

from engine.model.balance import Balance, StageTime
from engine.model.network import Network
from engine.settings import check_depth
from engine.types import DeviceId
from plugins.cache import FileCache


def depth_members(device: DeviceId) -> tuple[DeviceId, ...]:
    """The devices of a group, one for each stage.

    Raises:
        UsageError: see ``check_depth``.
    """
    check_depth(device.members)
    return device.members


def joined_names(names: Sequence[str]) -> str:
    """What the devices are called together: "2 × NVIDIA H200"."""
    return " + ".join(f"{count} × {name}" if count > 1 else name for name, count in Counter(names).items())


def remembered_balance(key: str, find: Callable[[], Balance]) -> Balance:
    """Cuts are found once. key: all that they depend on."""
    known = json.loads(FileCache().get(f"{key}\nstages", lambda: json.dumps(asdict(find())).encode()))
    return Balance(tuple(known["cuts"]), tuple(StageTime(**time) for time in known["times"]))


def describe_balance(balance: Balance, network: Network, how: str) -> str:
    """In words: the cuts, how even they are, and how values move."""
    times = " + ".join(f"{time.computing:.3g}" for time in balance.times)
    return (
        f"{len(balance.times)} stages, cut before layer{_listed(balance.cuts)} of {len(network.layers)}: "
        f"{times} ms a batch, {balance.evenness:.0%} even, values move {how}"
    )


def _listed(numbers: tuple[int, ...]) -> str:
    *first, last = map(str, numbers)
    return f"s {', '.join(first)} and {last}" if first else f" {last}"
