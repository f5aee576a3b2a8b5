"""Downloads models. A downloaded model is complete and checked; otherwise it does not count as installed."""

import hashlib
import shutil
from collections.abc import Callable
from importlib.resources import files as resource_files
from pathlib import Path

from framefleet.engine.errors import DownloadError, ModelError
from framefleet.engine.model.cfg import MAX_BYTES
from framefleet.engine.model.describe import describe
from framefleet.engine.model.registry.cancellation import Cancellation
from framefleet.engine.model.registry.catalogue import ModelEntry, RemoteFile
from framefleet.engine.model.registry.installed import files_of, is_installed, locked
from framefleet.engine.model.registry.partial import Partial
from framefleet.engine.model.registry.transfer import transfer
from framefleet.engine.model.weights import check_weights
from framefleet.engine.settings import ModelFiles

COCO_CLASSES = 80


def download(
    entry: ModelEntry,
    folder: Path,
    progress: Callable[[int], None] = lambda _: None,
    cancellation: Cancellation | None = None,
) -> ModelFiles:
    """Download a model to ``folder`` if it is not installed there. Continues an interrupted download.

    progress: called with the number of received bytes of the weight file, of ``entry.weights_bytes``.

    Raises:
        DownloadError: the server cannot be reached or has a different file, the disk is full, or another process downloads this model.
        DownloadCancelledError: ``cancellation`` was cancelled; the next download continues.
    """
    cancellation = cancellation or Cancellation()
    files = files_of(entry, folder)
    with locked(folder, entry.name):
        if is_installed(entry, folder):
            return files
        weights = Path(files.weights)
        try:
            files.cfg.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise DownloadError(f"{files.cfg.parent} cannot be written to: {error.strerror or error}") from error
        _check_space(entry, weights)
        _fetch(entry.cfg, files.cfg, None, lambda _: None, cancellation, lambda path: _check_cfg(entry, path))
        description = describe(files.cfg)
        if description.classes == COCO_CLASSES:
            _write_labels(weights.with_suffix(".names"))
        _fetch(entry.weights, weights, entry.weights_bytes, progress, cancellation, lambda path: check_weights(description, path))
    return files


def _fetch(
    file: RemoteFile,
    target: Path,
    size: int | None,
    progress: Callable[[int], None],
    cancellation: Cancellation,
    check: Callable[[Path], object],
) -> None:
    """Download one file, check it, then rename it to ``target``. A file that fails a check is deleted."""
    partial = Partial(target)
    try:
        target.unlink(missing_ok=True)  # the model is not complete, so this file may be damaged
        transfer(file.source, partial, size, size or MAX_BYTES, progress, cancellation)
        try:
            _check_digest(file, partial.path)
            check(partial.path)
        except ModelError as error:
            partial.discard()
            raise DownloadError(f"{file.source} is not the file that was published: {error}") from error
        partial.finish()
    except OSError as error:
        raise DownloadError(f"{target} cannot be written: {error.strerror or error}") from error


def _check_digest(file: RemoteFile, path: Path) -> None:
    if file.sha256 is None:
        return
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if digest != file.sha256:
        raise ModelError(
            f"its SHA-256 is not {file.sha256}. It was damaged on its way or replaced on the server, and is deleted: "
            "try again, or use a .cfg and .weights of your own"
        )


def _check_cfg(entry: ModelEntry, path: Path) -> None:
    found = describe(path)
    counted = (len(found.layers), found.float_count)
    if counted != (entry.layers, entry.parameters):
        raise ModelError(
            f"it has {counted[0]} layers and {counted[1]:,} parameters, {entry.name} has {entry.layers} and {entry.parameters:,}"
        )


def _check_space(entry: ModelEntry, weights: Path) -> None:
    needed = entry.download_bytes - Partial(weights).length
    free = shutil.disk_usage(weights.parent).free
    if free < needed:
        raise DownloadError(
            f"{entry.name} needs {needed / 1e6:,.0f} MB more in {weights.parent}, but only {free / 1e6:,.0f} MB are free there: make room"
        )


def _write_labels(path: Path) -> None:
    names = resource_files("framefleet.resources").joinpath("labels/coco.txt").read_text("utf-8")
    try:
        path.write_text(names, "utf-8")
    except OSError as error:
        raise DownloadError(f"{path} cannot be written: {error.strerror or error}") from error
