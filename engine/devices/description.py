"""The description of a device: its name, its backend, and whether it can be used."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

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
    problem: str | None = None
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
        """The description as a JSON object."""
        return {**vars(self), "id": str(self.id), "precisions": list(self.precisions), "available": self.available}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of ``as_json``. Raises KeyError, TypeError or UsageError if the values do not describe a device."""
        fields = {name: values[name] for name in cls.__dataclass_fields__}
        return cls(**{**fields, "id": DeviceId.parse(values["id"]), "precisions": tuple(values["precisions"])})
