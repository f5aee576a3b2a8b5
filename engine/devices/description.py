"""The description of a device: its name, its backend, and whether it can be used."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId


@dataclass(frozen=True)
class DeviceDescription:
    """One device.

    backend: the library that runs it, with its version. precisions: the supported ones, fp32 first. cores: usable CPU cores, or
    multiprocessors. memory: bytes. problem: why the device cannot be used; None = it can. NVIDIA's devices only: uuid ("GPU-…",
    "MIG-…"), compute_capability ("9.0"), driver (its version), cuda (the newest version that the driver supports, "13.0"),
    pci (the PCI address). None = unknown.
    """

    id: DeviceId
    name: str
    backend: str
    precisions: tuple[str, ...]
    cores: int | None = None
    memory: int | None = None
    problem: Notice | None = None
    uuid: str | None = None
    compute_capability: str | None = None
    driver: str | None = None
    cuda: str | None = None
    pci: str | None = None

    @property
    def available(self) -> bool:
        """Whether the device can be used."""
        return self.problem is None

    def __str__(self) -> str:
        state = ", ".join(self.precisions) if self.problem is None else f"not available: {self.problem}"
        return f"{self.id}  {self.name} ({self.backend}; {state})"

    def as_json(self) -> dict[str, Any]:
        """The description as a JSON object for scripts: the problem is English text."""
        problem = None if self.problem is None else str(self.problem)
        shown = {"id": str(self.id), "precisions": list(self.precisions), "problem": problem, "available": self.available}
        return {**vars(self), **shown}

    def to_message(self) -> dict[str, Any]:
        """The description as a JSON object from which ``from_message`` restores it."""
        return {**self.as_json(), "problem": None if self.problem is None else self.problem.as_json()}

    @classmethod
    def from_message(cls, values: Mapping[str, Any]) -> Self:
        """Restore what ``to_message`` returned.

        Raises
        ------
        KeyError, TypeError, ValueError, UsageError
            The values do not describe a device.
        """
        fields = {name: values[name] for name in cls.__dataclass_fields__}
        problem = None if values["problem"] is None else Notice.from_json(values["problem"])
        restored = {"id": DeviceId.parse(values["id"]), "precisions": tuple(values["precisions"]), "problem": problem}
        return cls(**{**fields, **restored})
