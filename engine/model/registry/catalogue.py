"""The models that can be downloaded by name, read from ``resources/models.toml``."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files

from engine.errors import UsageError

MIRROR = "FRAMEFLEET_MODELS_URL"
"""Environment variable: the address of a folder with all files, for machines that cannot reach GitHub."""

_HEADER_BYTES = 20
_CFG_BYTES = 25_000
"""About the size of the largest cfg."""


class Purpose(StrEnum):
    """What a model is good for, by its accuracy and its work per picture."""

    FAST = "fast"
    BALANCED = "balanced"
    ACCURATE = "accurate"


@dataclass(frozen=True)
class RemoteFile:
    """A published file. sha256: hexadecimal, None where no trustworthy source publishes one."""

    address: str
    sha256: str | None = None

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.address.rpartition("/")[2]

    @property
    def source(self) -> str:
        """The address to download from: on the mirror that the environment names, else the published one."""
        mirror = os.environ.get(MIRROR, "").strip()
        return f"{mirror.rstrip('/')}/{self.name}" if mirror else self.address


@dataclass(frozen=True)
class ModelEntry:
    """A published model.

    side: width and height of the network's input, pixels. layers: as Darknet counts them. parameters: numbers in the weight
    file. gflops: 10⁹ floating-point operations per picture. ap, ap50: AP on COCO test-dev at IoU 0.50:0.95 and at 0.50, percent.
    """

    name: str
    title: str
    purpose: Purpose
    note: str
    side: int
    layers: int
    parameters: int
    gflops: float
    ap: float
    ap50: float
    cfg: RemoteFile
    weights: RemoteFile

    @property
    def weights_bytes(self) -> int:
        """Exact size of its weight file."""
        return _HEADER_BYTES + 4 * self.parameters

    @property
    def download_bytes(self) -> int:
        """Size of the download, within a few kilobytes."""
        return self.weights_bytes + _CFG_BYTES


def _read_entries() -> tuple[ModelEntry, ...]:
    tables = tomllib.loads(files("resources").joinpath("models.toml").read_text("utf-8"))["model"]
    return tuple(
        ModelEntry(**{**table, "purpose": Purpose(table["purpose"]), **{name: RemoteFile(**table[name]) for name in ("cfg", "weights")}})
        for table in tables
    )


FAMILY = _read_entries()
"""All of them, from the least work per picture to the most."""


def find_entry(name: str) -> ModelEntry | None:
    """The model of this name, upper or lower case; None if there is none."""
    return next((entry for entry in FAMILY if entry.name == name.lower()), None)


def entry_named(name: str) -> ModelEntry:
    """The model of this name, upper or lower case.

    Raises:
        UsageError: there is none.
    """
    entry = find_entry(name)
    if entry is None:
        raise UsageError(f"there is no model '{name}' to download; there are {', '.join(entry.name for entry in FAMILY)}")
    return entry
