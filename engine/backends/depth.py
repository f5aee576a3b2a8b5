"""What all libraries share for stages: a check of the devices, a cache for the cuts, and their description."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict

from framefleet.engine.model.network import Network
from framefleet.engine.model.split import Balance, StageTime
from framefleet.engine.notices import Notice
from framefleet.engine.settings import check_depth
from framefleet.engine.types import DeviceId
from framefleet.plugins.cache import FileCache


def depth_members(device: DeviceId) -> tuple[DeviceId, ...]:
    """The devices of a group, one for each stage. Raises UsageError: see ``check_depth``."""
    check_depth(device.members)
    return device.members


def joined_names(names: Sequence[str]) -> str:
    """The devices' names as one: "2 × NVIDIA H200"."""
    return " + ".join(f"{count} × {name}" if count > 1 else name for name, count in Counter(names).items())


def remembered_balance(key: str, find: Callable[[], Balance]) -> Balance:
    """Read the cuts from the cache, or find and store them. key: everything that they depend on."""
    known = FileCache().remember(f"{key}\nstages", lambda: asdict(find()))
    return Balance(tuple(known["cuts"]), tuple(StageTime(**time) for time in known["times"]))


def describe_balance(balance: Balance, network: Network, how: Notice) -> Notice:
    """Describe the cuts, the evenness of the stages, and how values move between them."""
    return Notice(
        "backends.stages",
        stages=len(balance.times),
        count=len(balance.cuts),
        cuts=balance.cuts,
        layers=len(network.layers),
        times=" + ".join(f"{time.computing:.3g}" for time in balance.times),
        evenness=balance.evenness,
        how=how,
    )
