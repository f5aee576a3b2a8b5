"""Sources and models on the nodes: found by their path, or sent, checked and cached.

A node's folder holds contents that drivers have sent. Several agents of one machine may use the folder. A lock on an entry (``flock``)
protects the entry from being evicted by others. The system releases the locks of a process that ends.
"""

import errno
import os
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import TypeAlias

from framefleet.engine.media.sources import Stamp, has_same_content, is_folder, pictures_in, stamp_of
from framefleet.engine.notices import ClusterError, FramefleetError, Notice, SourceError
from framefleet.engine.pool.protocol import Setup


@dataclass(frozen=True)
class Content:
    """A file, or a folder with pictures.

    path: absolute, on the driver. stamp: None = the driver cannot read it. digest: hexadecimal, of the whole file; None = the stamp is
    enough. A file with a digest belongs to a model: a node that has another file at the same path is refused.
    """

    path: Path
    stamp: Stamp | None
    digest: str | None = None

    @property
    def name(self) -> str:
        """The name of the file or folder in the cache."""
        return self.path.name if self.path.name not in ("", "..") else "pictures"

    @property
    def key(self) -> str:
        """A name for the content, for the cache. Another time of change makes another name."""
        return blake2b(repr((self.name, self.stamp, self.digest)).encode(), digest_size=16).hexdigest()

    def is_at(self, path: Path) -> bool:
        """Whether a path of this machine has the same content: size, and start and end of the file; for a model the whole file."""
        if not has_same_content(stamp_of(path), self.stamp):
            return False
        return self.digest is None or self.digest == digest_of(path)

    def files(self) -> list[Path]:
        """The files to send: the file itself, or the pictures of the folder."""
        return pictures_in(self.path) if is_folder(self.path) else [self.path]


def digest_of(path: Path) -> str:
    """The digest of a whole file. Raises OSError."""
    with path.open("rb") as file:
        return file_digest(file, blake2b).hexdigest()


def content_of(path: Path, *, whole: bool = False) -> Content:
    """The content at a path. whole: with the digest of the whole file, as models need it; raises OSError if it cannot be read."""
    return Content(path.absolute(), stamp_of(path), digest_of(path) if whole else None)


class Contents:
    """The contents of the run's sources and model. Each is identified once."""

    def __init__(self) -> None:
        self._known: dict[Path, Content] = {}

    def __contains__(self, content: Content) -> bool:
        """Whether the content belongs to the run."""
        return content in list(self._known.values())

    def source(self, path: Path) -> Content:
        """The content of a source."""
        return self._known.get(path) or self._known.setdefault(path, content_of(path))

    def model(self, setup: Setup) -> tuple[Content, ...]:
        """The contents of the model's files. Raises OSError."""
        files = (setup.model.cfg, setup.model.weights, setup.model.labels)
        paths = (path for path in files if isinstance(path, Path))
        return tuple(self._known.get(path) or self._known.setdefault(path, content_of(path, whole=True)) for path in paths)


CHUNK = 4 << 20
"""Bytes sent at once."""

SHARE = 0.5
"""Share of the free space, cached contents included, that the folder may fill. Contents in use do not count as evictable."""

_PART = ".part"


def default_folder() -> Path:
    """The cache of this user, in the folder for temporary files: on NFS, locks and speed would not be what they are on a local disk."""
    return Path(tempfile.gettempdir()) / f"framefleet-{os.getuid()}" / "files"


class Cache:
    """The folder. limit: most bytes, None = ``SHARE`` of the free space.

    Raises ClusterError if the folder belongs to another user, or cannot be made.
    """

    def __init__(self, folder: Path, limit: int | None = None) -> None:
        self._folder = folder
        self._limit = limit
        self._locks: dict[str, int] = {}
        self._parts: dict[str, tuple[Path, int]] = {}
        try:
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.parent.lstat().st_uid != os.getuid():
                raise ClusterError(Notice("cluster.folder_of_other_user", folder=folder.parent))
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise ClusterError(Notice("cluster.folder_not_made", folder=folder, problem=error.strerror)) from error
        for part in folder.glob(f"*{_PART}"):
            self._remove_unused(part)  # a transfer that was not completed

    def take(self, content: Content) -> Path | None:
        """The path of a content, protected from eviction until ``release``. None: it is not here."""
        entry = self._folder / content.key
        try:
            descriptor = _lock(entry, shared=True)
        except OSError:
            return None
        if descriptor is None:
            return None
        if not entry.exists():  # another agent has evicted it meanwhile
            os.close(descriptor)
            return None
        self._locks[content.key] = descriptor
        os.utime(entry)
        return entry / content.name

    def release(self, content: Content) -> None:
        """Allow a content to be evicted."""
        if (descriptor := self._locks.pop(content.key, None)) is not None:
            os.close(descriptor)

    def begin(self, content: Content, sizes: Sequence[int]) -> None:
        """Make room for a content that comes in parts, and remove the oldest unused contents for that. sizes: of its files, bytes.

        Raises OSError if there is not enough space.
        """
        self._evict(sum(sizes))
        if shutil.disk_usage(self._folder).free < sum(sizes):
            raise OSError(errno.ENOSPC, str(Notice("cluster.no_space", size=sum(sizes) / 1e9, folder=self._folder)))
        self._parts[content.key] = self._new_part()

    def write(self, content: Content, name: str, offset: int, data: bytes) -> None:
        """Write a part of one of the content's files. offset: bytes. Raises OSError."""
        path = self._file(self._parts[content.key][0], content, name)
        path.parent.mkdir(exist_ok=True)
        with path.open("r+b" if path.exists() else "wb") as file:
            file.seek(offset)
            file.write(data)

    def finish(self, content: Content, digests: Sequence[tuple[str, int, str]]) -> None:
        """Check the files of a content, and keep it. digests: name, size and digest of each file.

        Raises
        ------
        OSError
            A file is not as it was sent.
        SourceError
            The driver's file is not the one that was asked for any more.
        """
        part, descriptor = self._parts.pop(content.key)
        try:
            for name, size, digest in digests:
                path = self._file(part, content, name)
                if not path.exists():
                    path.parent.mkdir(exist_ok=True)
                    path.touch()
                if path.stat().st_size != size or digest_of(path) != digest:
                    raise OSError(errno.EIO, str(Notice("cluster.damaged_on_the_way", name=content.name)))
                if name == "" and not has_same_content(stamp_of(path), content.stamp):
                    raise SourceError(Notice("cluster.changed_while_sent", path=content.path))
            with suppress(OSError):  # another agent has sent the same content meanwhile
                part.rename(self._folder / content.key)
        finally:
            os.close(descriptor)
            shutil.rmtree(part, ignore_errors=True)

    def abandon(self, content: Content) -> None:
        """Remove what has arrived of a content."""
        if (begun := self._parts.pop(content.key, None)) is not None:
            os.close(begun[1])
            shutil.rmtree(begun[0], ignore_errors=True)

    def _new_part(self) -> tuple[Path, int]:
        """A folder for a transfer, and the descriptor that holds its lock. Raises OSError."""
        while True:
            part = Path(tempfile.mkdtemp(_PART, dir=self._folder))
            with suppress(FileNotFoundError):  # an agent that starts just now takes it for one of a dead agent, and removes it
                descriptor = _lock(part, shared=True)
                if descriptor is not None and part.exists():
                    return part, descriptor
                if descriptor is not None:
                    os.close(descriptor)

    @staticmethod
    def _file(folder: Path, content: Content, name: str) -> Path:
        """Where a file is. A file has the content's name; a picture is in a folder of this name."""
        return folder / content.name if name == "" else folder / content.name / Path(name).name

    def _evict(self, more: int) -> None:
        sizes = {entry: _size(entry) for entry in self._folder.iterdir()}
        used = sum(sizes.values())
        limit = self._limit if self._limit is not None else int(SHARE * (shutil.disk_usage(self._folder).free + used))
        for entry in sorted((entry for entry in sizes if entry.suffix != _PART), key=_used_at):
            if used + more <= limit:
                break
            if self._remove_unused(entry):
                used -= sizes[entry]

    def _remove_unused(self, entry: Path) -> bool:
        """Remove an entry unless a process uses it. Returns whether it is gone."""
        try:
            descriptor = _lock(entry, shared=False)
        except OSError:
            return True
        if descriptor is None:
            return False
        try:
            shutil.rmtree(entry, ignore_errors=True)
        finally:
            os.close(descriptor)
        return True


def _lock(path: Path, *, shared: bool) -> int | None:
    """Lock a folder. Returns the descriptor that holds the lock, None if others hold one. Raises OSError."""
    import fcntl  # Windows has none; Ray's nodes on Windows are not supported

    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _used_at(entry: Path) -> float:
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0


def _size(entry: Path) -> int:
    size = 0
    for folder, _, names in os.walk(entry):  # passes over what another agent removes meanwhile
        for name in names:
            with suppress(OSError):
                size += Path(folder, name).stat().st_size
    return size


Receive: TypeAlias = Callable[[Path | FramefleetError], None]
"""Takes the path of a content, or why this node cannot have it."""

LOOKERS = 4
"""Threads that look whether a content is here. A file system that hangs delays only them."""


class Store:
    """The contents. ask: asks the driver for one. Each ``obtain`` ends with one ``release``."""

    def __init__(self, cache: Cache, ask: Callable[[Content], None]) -> None:
        self._cache = cache
        self._ask = ask
        self._lock = threading.Lock()
        self._lookers = ThreadPoolExecutor(LOOKERS, "look for files")
        self._shared: dict[Content, Path] = {}
        self._cached: dict[Content, Path] = {}
        self._uses: Counter[Content] = Counter()
        self._waiting: dict[Content, list[Receive]] = {}

    def obtain(self, content: Content, receive: Receive) -> None:
        """Pass the content's path to ``receive``, at once or when the content has arrived."""
        with self._lock:
            self._uses[content] += 1
            path = self._shared.get(content) or self._cached.get(content)
            if path is None:
                waiting = self._waiting.setdefault(content, [])
                waiting.append(receive)
                if len(waiting) == 1:
                    self._lookers.submit(self._look, content)
                return
        receive(path)

    def release(self, content: Content) -> None:
        """Note that a task that needed the content has ended."""
        with self._lock:
            self._uses[content] -= 1
            if not self._uses[content]:
                self._forget(content)

    def _forget(self, content: Content) -> None:
        del self._uses[content]
        if self._cached.pop(content, None) is not None:
            self._cache.release(content)

    def arrived(self, content: Content, problem: FramefleetError | None) -> None:
        """Note that the driver has sent a content, or why there is none."""
        self._settle(content, problem or self._take(content) or ClusterError(Notice("cluster.vanished", path=content.path)))

    def _look(self, content: Content) -> None:
        try:
            found = self._find(content)
        except (FramefleetError, OSError) as error:
            found = (
                error
                if isinstance(error, FramefleetError)
                else ClusterError(Notice("cluster.not_found", path=content.path, problem=error.strerror or str(error)))
            )
        if found is None:
            self._ask(content)
        else:
            self._settle(content, found)

    def _find(self, content: Content) -> Path | FramefleetError | None:
        if content.stamp is None or content.is_at(content.path):
            with self._lock:
                self._shared[content] = content.path
            return content.path
        if content.digest is not None and content.path.exists():
            return ClusterError(Notice("cluster.other_model", path=content.path))
        return self._take(content)

    def _take(self, content: Content) -> Path | None:
        with self._lock:
            if content in self._cached:
                return self._cached[content]
            path = self._cache.take(content)
            if path is not None:
                self._cached[content] = path
            return path

    def _settle(self, content: Content, found: Path | FramefleetError) -> None:
        with self._lock:
            waiting = self._waiting.pop(content, [])
        for receive in waiting:
            receive(found)
        with self._lock:
            if not self._uses[content]:  # the workers that waited have ended
                self._forget(content)
