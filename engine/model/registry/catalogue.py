"""The models that can be downloaded by name, read from ``resources/models.toml``, and the installed ones.

Each installed model has a folder with its cfg, weights and labels. An unfinished download has the received bytes there, and the server's
mark of the file: an ETag or a time of change. It continues only if the mark shows that the file on the server is the same.
"""

import json
import os
import shutil
import socket
import threading
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from weakref import WeakSet

from framefleet.engine.notices import DownloadCancelledError, DownloadError, Notice, UsageError, similar
from framefleet.engine.processes.file_lock import FileLock, LockedError
from framefleet.engine.settings import ModelFiles
from framefleet.engine.settings.folders import Folder

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

    Attributes
    ----------
    side
        Width and height of the network's input, pixels.
    layers
        Number of layers as in Darknet.
    parameters
        Number of values in the weight file.
    gflops
        10⁹ floating-point operations per picture.
    ap, ap50
        AP on COCO test-dev at IoU 0.50:0.95 and at 0.50, percent.
    licence
        Licence of the weights; "" = not stated.
    published_speed
        Speed of Darknet as its authors state it; "" = not stated.
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
    """Return the model with this name in any case.

    Raises
    ------
    UsageError
        There is no such model.
    """
    entry = find_entry(name)
    if entry is None:
        raise UsageError(Notice("model.no_such_download", name=name, others=other_models(name)))
    return entry


def other_models(name: str) -> Notice:
    """Return what to choose in place of an unknown name."""
    names = tuple(entry.name for entry in FAMILY)
    if others := similar(name, names):
        return Notice("model.similar_downloads", similar=others, names=names)
    return Notice("model.downloads", names=names)


PART = ".part"
"""The suffix of unfinished downloads. Such files are never used as models."""


@dataclass(frozen=True)
class Partial:
    """The unfinished download of ``target``: a file with the received bytes, and a JSON file with the URL and the server's mark."""

    target: Path

    @property
    def path(self) -> Path:
        """The file with the received bytes."""
        return self.target.with_name(f"{self.target.name}{PART}")

    @property
    def _origin(self) -> Path:
        return self.target.with_name(f"{self.target.name}{PART}.json")

    @property
    def length(self) -> int:
        """Number of bytes that have arrived; 0 without a file."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def resume_point(self, address: str) -> tuple[int, str]:
        """Return the position to continue from and the server's mark of the file; (0, "") to start from the beginning."""
        try:
            origin = json.loads(self._origin.read_text("utf-8"))
            mark = origin["mark"] if origin["address"] == address else ""
            return (self.length, mark) if mark and self.length else (0, "")
        except (OSError, ValueError, LookupError, TypeError):
            return 0, ""

    def begin(self, address: str, headers: Mapping[str, str]) -> None:
        """Start from the beginning. Stores the mark from the response's headers if the server can continue the download later."""
        self.discard()
        mark = headers.get("ETag", "")
        if not mark or mark.startswith("W/"):  # RFC 9110, 13.1.5: a weak mark does not identify the bytes
            mark = headers.get("Last-Modified", "")
        if mark and headers.get("Accept-Ranges", "bytes") != "none" and "Content-Encoding" not in headers:
            self._origin.write_text(json.dumps({"address": address, "mark": mark}), "utf-8")

    def discard(self) -> None:
        """Delete both files."""
        self.path.unlink(missing_ok=True)
        self._origin.unlink(missing_ok=True)

    def finish(self) -> None:
        """Rename the complete download to ``target``."""
        self.path.replace(self.target)
        self._origin.unlink(missing_ok=True)


class Cancellation:
    """Cancels one download. ``cancel`` is thread-safe and may be called repeatedly. The downloading thread calls the other methods."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._lock = threading.Lock()
        self._sockets: WeakSet[socket.socket] = WeakSet()

    @property
    def asked(self) -> bool:
        """Whether ``cancel`` was called."""
        return self._asked.is_set()

    def cancel(self) -> None:
        """Cancel the download. Closes its connections, so that no thread waits for the network any longer."""
        with self._lock:
            self._asked.set()
            for connection in self._sockets:
                _close(connection)

    def watch(self, connection: socket.socket) -> None:
        """Close this connection when ``cancel`` is called, or now if it was called before."""
        with self._lock:
            self._sockets.add(connection)
            if self._asked.is_set():
                _close(connection)

    def check(self) -> None:
        """Raise an exception if the download is cancelled.

        Raises
        ------
        DownloadCancelledError
            ``cancel`` was called.
        """
        if self._asked.is_set():
            raise DownloadCancelledError(Notice("model.download_cancelled"))

    def pause(self, seconds: float) -> None:
        """Wait for this time, or until ``cancel`` is called. Then raises like ``check``."""
        self._asked.wait(seconds)
        self.check()


def _close(connection: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        connection.shutdown(socket.SHUT_RDWR)


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
    """Delete a model or its unfinished download.

    Returns
    -------
    bool
        False if neither exists.

    Raises
    ------
    DownloadError
        Another process downloads it, or it cannot be deleted.
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
    """Return the files of an installed model.

    Parameters
    ----------
    folder
        The installed models, None: the default folder.

    Raises
    ------
    UsageError
        There is no such model, or it is not installed.
    """
    folder = models_folder() if folder is None else folder
    entry = find_entry(name)
    if entry is None:
        raise UsageError(Notice("model.neither_file_nor_model", name=name, others=other_models(name)))
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
