"""Where downloaded models lie: a folder each, with its cfg, weights and labels."""

from __future__ import annotations

import shutil
from pathlib import Path

from platformdirs import user_data_path

from engine.errors import DownloadError, UsageError
from engine.model.registry import catalogue as registry
from engine.model.registry.catalogue import ModelEntry, find_entry
from engine.model.registry.lock import locked
from engine.settings import ModelFiles

PART = ".part"
"""Ends the name of what is not downloaded completely: no such file is ever taken for a model."""


def models_folder() -> Path:
    """Where models are downloaded to unless another place is given."""
    return user_data_path("framefleet", appauthor=False) / "models"


def files_of(entry: ModelEntry, folder: Path) -> ModelFiles:
    """The files that a model consists of once it is installed; its labels are found beside them."""
    place = folder / entry.name
    return ModelFiles(place / f"{entry.name}.cfg", place / f"{entry.name}.weights")


def is_installed(entry: ModelEntry, folder: Path) -> bool:
    """Whether all its files are there, the weights with their exact size; looks at no contents."""
    files = files_of(entry, folder)
    try:
        return files.cfg.is_file() and Path(files.weights).stat().st_size == entry.weights_bytes
    except OSError:
        return False


def partial_bytes(entry: ModelEntry, folder: Path) -> int:
    """How much of the weights an interrupted download has left to be continued."""
    try:
        return Path(f"{files_of(entry, folder).weights}{PART}").stat().st_size
    except OSError:
        return 0


def remove_model(entry: ModelEntry, folder: Path) -> bool:
    """Delete a model and what is left of an interrupted download of it; False if there was nothing.

    Raises:
        DownloadError: it is being downloaded, or cannot be deleted.
    """
    place = folder / entry.name
    if not place.exists():
        return False
    with locked(folder, entry.name):
        try:
            shutil.rmtree(place)
        except OSError as error:
            raise DownloadError(f"{place} cannot be deleted: {error.strerror or error}") from error
    return True


def model_named(name: str, folder: Path | None = None) -> ModelFiles:
    """The files of an installed model.

    Raises:
        UsageError: there is no such model, or it is not downloaded.
    """
    folder = models_folder() if folder is None else folder
    entry = find_entry(name)
    if entry is None:
        names = ", ".join(entry.name for entry in registry.FAMILY)
        raise UsageError(f"'{name}' is neither a file nor a model to download; of those there are {names}")
    if not is_installed(entry, folder):
        size = f"{entry.download_bytes / 1e6:.0f} MB"
        raise UsageError(f"{entry.name} is not downloaded yet: 'framefleet models download {entry.name}' does it ({size})")
    return files_of(entry, folder)
