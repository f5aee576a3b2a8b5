"""What is known about a device before anything is built for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from engine.types import DeviceId


@dataclass(frozen=True)
class DeviceDescription:
    """One device.

    backend: library and version that would run it. precisions: what it offers, fp32 first. cores: processors that may be
    used, or compute units (multiprocessors); memory: bytes; both None where unknown. problem: why it cannot be used, None = it
    can. Of NVIDIA's devices also: uuid, by which the driver knows it ("GPU-…", "MIG-…"); compute_capability ("9.0"); driver,
    its version; cuda, the newest CUDA that the driver speaks ("13.0"); pci, its place on the bus.
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
        """Whether it can be used."""
        return self.problem is None

    def __str__(self) -> str:
        state = ", ".join(self.precisions) if self.problem is None else f"not available: {self.problem}"
        return f"{self.id}  {self.name} ({self.backend}; {state})"

    def as_json(self) -> dict[str, Any]:
        """The same as a JSON object."""
        return {
            "id": str(self.id),
            "name": self.name,
            "backend": self.backend,
            "precisions": list(self.precisions),
            "cores": self.cores,
            "memory": self.memory,
            "available": self.available,
            "problem": self.problem,
            "uuid": self.uuid,
            "compute_capability": self.compute_capability,
            "driver": self.driver,
            "cuda": self.cuda,
            "pci": self.pci,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of ``as_json``."""
        return cls(
            DeviceId.parse(values["id"]),
            values["name"],
            values["backend"],
            tuple(values["precisions"]),
            values["cores"],
            values["memory"],
            values["problem"],
            values["uuid"],
            values["compute_capability"],
            values["driver"],
            values["cuda"],
            values["pci"],
        )
