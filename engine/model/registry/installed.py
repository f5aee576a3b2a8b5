"""Manages the installed models. Each has a folder with its cfg, weights and labels."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from framefleet.engine.errors import DownloadError, UsageError
from framefleet.engine.model.registry import catalogue
from framefleet.engine.model.registry.catalogue import ModelEntry, find_entry
from framefleet.engine.model.registry.partial import Partial
from framefleet.engine.notices import Notice
from framefleet.engine.processes.file_lock import FileLock, LockedError
from framefleet.engine.settings import ModelFiles
from framefleet.engine.settings.folders import Folder


def models_folder() -> Path:
    """Return the default folder for installed models."""
    return Folder.MODELS.path


def files_of(entry: ModelEntry, folder: Path) -> ModelFiles:
    """Return the paths of a model's files, whether or not it is installed. Its labels are in the same folder."""
    place = folder / entry.name
    return ModelFiles(place / f"{entry.name}.cfg", place / f"{entry.name}.weights")


def is_installed(entry: ModelEntry, folder: Path) -> bool:
    """Whether the cfg exists and the weight file has its exact size. Does not read the files."""
    files = files_of(entry, folder)
    try:
        return files.cfg.is_file() and Path(files.weights).stat().st_size == entry.weights_bytes
    except OSError:
        return False


def partial_bytes(entry: ModelEntry, folder: Path) -> int:
    """Return the number of bytes of the weight file that an interrupted download has stored."""
    return Partial(Path(files_of(entry, folder).weights)).length


def remove_model(entry: ModelEntry, folder: Path) -> bool:
    """Delete a model or its unfinished download. Returns False if neither exists.

    Raises DownloadError if another process downloads it, or it cannot be deleted.
    """
    place = folder / entry.name
    if not place.exists():
        return False
    with locked(folder, entry.name):
        try:
            shutil.rmtree(place)
        except OSError as error:
            raise DownloadError(Notice("model.not_deleted", path=place, error=error.strerror or str(error))) from error
    return True


def model_named(name: str, folder: Path | None = None) -> ModelFiles:
    """Return the files of an installed model. folder: the installed models, None: the default folder.

    Raises UsageError if there is no such model, or it is not installed.
    """
    folder = models_folder() if folder is None else folder
    entry = find_entry(name)
    if entry is None:
        raise UsageError(Notice("model.neither_file_nor_model", name=name, others=catalogue.other_models(name)))
    if not is_installed(entry, folder):
        raise UsageError(Notice("model.not_downloaded", name=entry.name, megabytes=entry.download_bytes / 1e6))
    return files_of(entry, folder)


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock of the model ``name`` in ``folder``, as a context manager. Creates the folder if necessary.

    Raises DownloadError if another process holds the lock, or the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f".{name}.lock")
    except LockedError as error:
        raise DownloadError(Notice("model.downloaded_elsewhere", name=name, holder=error.holder)) from error
    except OSError as error:
        raise DownloadError(Notice("model.not_writable", path=folder, error=error.strerror or str(error))) from error
    with lock:
        yield
