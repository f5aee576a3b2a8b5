"""Downloads models. A downloaded model is complete and checked; otherwise it does not count as installed."""

import hashlib
import shutil
from collections.abc import Callable
from importlib.resources import files as resource_files
from pathlib import Path

from framefleet.engine.errors import DownloadError, ModelError
from framefleet.engine.model.cfg import MAX_BYTES
from framefleet.engine.model.describe import describe
from framefleet.engine.model.load import check_weights
from framefleet.engine.model.registry.catalogue import Cancellation, ModelEntry, Partial, RemoteFile, files_of, is_installed, locked
from framefleet.engine.model.registry.transfer import transfer
from framefleet.engine.notices import Notice, Option
from framefleet.engine.settings import ModelFiles

COCO_CLASSES = 80


def download(
    entry: ModelEntry,
    folder: Path,
    progress: Callable[[int], None] = lambda _: None,
    cancellation: Cancellation | None = None,
    *,
    accept_unverified: bool = False,
) -> ModelFiles:
    """Download a model to ``folder`` if it is not installed there. Continues an interrupted download.

    Parameters
    ----------
    progress : callable, optional
        Called with the number of received bytes of the weight file, of ``entry.weights_bytes``.
    accept_unverified : bool, optional
        The user agrees to files for which nobody publishes a SHA-256 (``entry.unverified``).

    Raises
    ------
    DownloadError
        The server cannot be reached or has a different file, the disk is full, another process downloads this model, or
        ``accept_unverified`` is needed (code ``model.unverified``).
    DownloadCancelledError
        ``cancellation`` was cancelled; the next download continues.
    """
    cancellation = cancellation or Cancellation()
    files = files_of(entry, folder)
    with locked(folder, entry.name):
        if is_installed(entry, folder):
            return files
        if entry.unverified and not accept_unverified:
            raise DownloadError(Notice("model.unverified", name=entry.name, files=entry.unverified, option=Option("unverified")))
        weights = Path(files.weights)
        try:
            files.cfg.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise DownloadError(Notice("model.not_writable", path=files.cfg.parent, error=error.strerror or str(error))) from error
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
            raise DownloadError(Notice("model.other_file_published", address=file.source, problem=error.notice)) from error
        partial.finish()
    except OSError as error:
        raise DownloadError(Notice("model.file_not_written", path=target, error=error.strerror or str(error))) from error


def _check_digest(file: RemoteFile, path: Path) -> None:
    if file.sha256 is None:
        return
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if digest != file.sha256:
        raise ModelError(Notice("model.wrong_digest", digest=file.sha256))


def _check_cfg(entry: ModelEntry, path: Path) -> None:
    found = describe(path)
    counted = (len(found.layers), found.float_count)
    if counted != (entry.layers, entry.parameters):
        has = {"layers": counted[0], "parameters": counted[1]}
        raise ModelError(Notice("model.other_cfg", name=entry.name, wanted=entry.layers, wanted_parameters=entry.parameters, **has))


def _check_space(entry: ModelEntry, weights: Path) -> None:
    needed = entry.download_bytes - Partial(weights).length
    free = shutil.disk_usage(weights.parent).free
    if free < needed:
        raise DownloadError(Notice("model.disk_full", name=entry.name, folder=weights.parent, needed=needed / 1e6, free=free / 1e6))


def _write_labels(path: Path) -> None:
    names = resource_files("framefleet.resources").joinpath("labels/coco.txt").read_text("utf-8")
    try:
        path.write_text(names, "utf-8")
    except OSError as error:
        raise DownloadError(Notice("model.file_not_written", path=path, error=error.strerror or str(error))) from error
