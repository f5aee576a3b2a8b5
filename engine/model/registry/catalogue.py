"""The models that can be downloaded by name, read from ``resources/models.toml``."""

import os
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files

from framefleet.engine.errors import UsageError, similar
from framefleet.engine.notices import Notice

MIRROR = "FRAMEFLEET_MODELS_URL"
"""The environment variable with the URL of a folder that holds all files, for machines that cannot access GitHub."""

_HEADER_BYTES = 20
_CFG_BYTES = 25_000
"""Approximate size of the largest cfg."""


class Purpose(StrEnum):
    """The recommended use of a model, by its accuracy and its operations per picture."""

    FAST = "fast"
    BALANCED = "balanced"
    ACCURATE = "accurate"


@dataclass(frozen=True)
class RemoteFile:
    """A published file. address: URL. sha256: hexadecimal, None if no trustworthy source publishes it."""

    address: str
    sha256: str | None = None

    @property
    def name(self) -> str:
        """The file name: the last part of the address."""
        return self.address.rpartition("/")[2]

    @property
    def source(self) -> str:
        """The URL to download from: on the mirror if the environment variable ``MIRROR`` is set, else the published URL."""
        mirror = os.environ.get(MIRROR, "").strip()
        return f"{mirror.rstrip('/')}/{self.name}" if mirror else self.address


@dataclass(frozen=True)
class ModelEntry:
    """A published model.

    side: width and height of the network's input, pixels. layers: number of layers as in Darknet. parameters: number of values in the
    weight file. gflops: 10⁹ floating-point operations per picture. ap, ap50: AP on COCO test-dev at IoU 0.50:0.95 and at 0.50, percent.
    licence: of the weights. published_speed: of Darknet, by its authors. "" = not stated.
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
    licence: str = ""
    published_speed: str = ""

    @property
    def weights_bytes(self) -> int:
        """Exact size of the weight file."""
        return _HEADER_BYTES + 4 * self.parameters

    @property
    def unverified(self) -> tuple[str, ...]:
        """The names of the files for which nobody publishes a SHA-256: only their size and structure can be checked."""
        return tuple(file.name for file in (self.cfg, self.weights) if file.sha256 is None)

    @property
    def download_bytes(self) -> int:
        """Size of the download, exact to a few kilobytes."""
        return self.weights_bytes + _CFG_BYTES


def _read_entries() -> tuple[ModelEntry, ...]:
    tables = tomllib.loads(files("framefleet.resources").joinpath("models.toml").read_text("utf-8"))["model"]
    return tuple(
        ModelEntry(**{**table, "purpose": Purpose(table["purpose"]), **{name: RemoteFile(**table[name]) for name in ("cfg", "weights")}})
        for table in tables
    )


FAMILY = _read_entries()
"""All models, from the fewest operations per picture to the most."""


def find_entry(name: str) -> ModelEntry | None:
    """Return the model with this name in any case, None if there is none."""
    return next((entry for entry in FAMILY if entry.name == name.lower()), None)


def entry_named(name: str) -> ModelEntry:
    """Return the model with this name in any case. Raises UsageError if there is no such model."""
    entry = find_entry(name)
    if entry is None:
        raise UsageError(Notice("model.no_such_download", name=name, others=other_models(name)))
    return entry


def other_models(name: str) -> Notice:
    """Return what to choose in place of an unknown name."""
    names = tuple(entry.name for entry in FAMILY)
    if hint := similar(name, names):
        return Notice("model.similar_downloads", hint=hint, names=names)
    return Notice("model.downloads", names=names)
