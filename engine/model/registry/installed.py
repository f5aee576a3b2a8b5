"""The downloaded models: a folder for each, with its cfg, weights and labels."""

from __future__ import annotations

import shutil
from pathlib import Path

from platformdirs import user_data_path

from engine.errors import DownloadError, UsageError
from engine.model.registry import catalogue
from engine.model.registry.catalogue import ModelEntry, find_entry
from engine.model.registry.lock import locked
from engine.settings import ModelFiles

PART = ".part"
"""Suffix of an unfinished download: such a file is never used as a model."""


def models_folder() -> Path:
    """The folder for downloaded models unless another one is given."""
    return user_data_path("framefleet", appauthor=False) / "models"


def files_of(entry: ModelEntry, folder: Path) -> ModelFiles:
    """The files of a model, installed or not. Its labels lie beside them."""
    place = folder / entry.name
    return ModelFiles(place / f"{entry.name}.cfg", place / f"{entry.name}.weights")


def is_installed(entry: ModelEntry, folder: Path) -> bool:
    """Whether the cfg exists and the weights have their exact size. Does not read them."""
    files = files_of(entry, folder)
    try:
        return files.cfg.is_file() and Path(files.weights).stat().st_size == entry.weights_bytes
    except OSError:
        return False


def partial_bytes(entry: ModelEntry, folder: Path) -> int:
    """Bytes of the weights that an interrupted download has stored."""
    try:
        return Path(f"{files_of(entry, folder).weights}{PART}").stat().st_size
    except OSError:
        return 0


def remove_model(entry: ModelEntry, folder: Path) -> bool:
    """Delete a model, or an unfinished download of it. Returns False if there was neither.

    Raises:
        DownloadError: another program downloads it, or it cannot be deleted.
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
        names = ", ".join(entry.name for entry in catalogue.FAMILY)
        raise UsageError(f"'{name}' is neither a file nor a model to download; models to download: {names}")
    if not is_installed(entry, folder):
        size = f"{entry.download_bytes / 1e6:.0f} MB"
        raise UsageError(f"{entry.name} is not downloaded yet: 'framefleet models download {entry.name}' does it ({size})")
    return files_of(entry, folder)
