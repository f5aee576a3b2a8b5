"""Downloads a model so that it is there completely and checked, or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.resources import files as resource_files
from pathlib import Path

import pooch  # type: ignore[import-untyped]

from engine.errors import DownloadError, ModelError
from engine.model.cfg import MAX_BYTES
from engine.model.describe import describe
from engine.model.registry.cancellation import Cancellation
from engine.model.registry.catalogue import ModelEntry, RemoteFile
from engine.model.registry.installed import files_of, is_installed
from engine.model.registry.lock import locked
from engine.model.registry.partial import Partial
from engine.model.registry.transfer import transfer
from engine.model.weights import check_weights
from engine.settings import ModelFiles

COCO_CLASSES = 80


def download(
    entry: ModelEntry,
    folder: Path,
    progress: Callable[[int], None] = lambda _: None,
    cancellation: Cancellation | None = None,
) -> ModelFiles:
    """Make sure that a model is installed in ``folder``; what an interrupted download has left is continued.

    progress: called with the number of bytes of the weights that are there, of ``entry.weights_bytes``.

    Raises:
        DownloadError: it cannot be reached, is not the file that was published, cannot be stored, or is being downloaded already.
        DownloadCancelledError: cancelled; what is there will be continued.
    """
    cancellation = cancellation or Cancellation()
    files = files_of(entry, folder)
    with locked(folder, entry.name):
        if is_installed(entry, folder):
            return files
        try:
            files.cfg.parent.mkdir(exist_ok=True)
            for stray in files.cfg.parent.glob("tmp*"):  # of a download that was killed between two steps
                stray.unlink()
        except OSError as error:
            raise DownloadError(f"{files.cfg.parent} cannot be written to: {error.strerror or error}") from error
        weights = Path(files.weights)
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
    """Download one file, check it, and only then give it its name. What fails the checks is deleted."""
    partial = Partial(target)

    def downloader(address: str, place: str, _: object) -> None:
        transfer(address, partial, size, size or MAX_BYTES, progress, cancellation)
        try:
            check(partial.path)
        except ModelError as error:
            partial.discard()
            raise DownloadError(f"{address} is not the file that was published: {error}") from error
        partial.move(Path(place))

    try:
        target.unlink(missing_ok=True)  # whatever it is, it did not make a model
        pooch.get_logger().setLevel("WARNING")
        pooch.retrieve(file.source, file.sha256 and f"sha256:{file.sha256}", target.name, target.parent, downloader=downloader)
    except ValueError as error:  # pooch's word for another checksum
        raise DownloadError(
            f"{file.source} is not the file that was published, its SHA-256 is not {file.sha256}: it is deleted; "
            "it was damaged on its way, or replaced on the server: try again, or use a .cfg and .weights of your own"
        ) from error
    except OSError as error:
        raise DownloadError(f"{target} cannot be written: {error.strerror or error}") from error


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
    names = resource_files("resources").joinpath("labels/coco.txt").read_text("utf-8")
    try:
        path.write_text(names, "utf-8")
    except OSError as error:
        raise DownloadError(f"{path} cannot be written: {error.strerror or error}") from error
