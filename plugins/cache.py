"""A file cache for plans, kernels and other results that take long to create.

Entries are native code. Two checks come before they are used:

- Their SHA-256, which the file begins with, shows damage: an entry that is damaged, incomplete, or stored under another key is created
  again. It does not show tampering, because whoever changes an entry can change the digest, too.
- The permissions of the folder, of the folders above it and of each file keep others from changing entries (``private_folder``). If they
  do not, nothing is read or stored, and a warning says why.

If two processes create the same entry, each writes it as a whole and the last one stays.
"""

import contextlib
import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from framefleet.engine.notices import Notice
from framefleet.plugins.private_folder import make_private, read_private

FOLDER_VARIABLE = "FRAMEFLEET_CACHE"
"""The environment variable with the user's cache folder."""

LIMIT = 8 * 2**30
"""Most bytes of the cache. The least recently used entries are removed first."""

_PART = ".part"
"""Suffix of entries that are being written. Their names begin with the number of the process."""

_DIGEST = hashlib.sha256().digest_size

_log = logging.getLogger(__name__)
_warned: set[Notice] = set()


class FileCache:
    """A folder of entries. folder: None = a folder in the user's cache. limit: bytes."""

    def __init__(self, folder: Path | None = None, limit: int = LIMIT) -> None:
        self._folder = folder or Path(os.environ.get(FOLDER_VARIABLE) or user_cache_path("framefleet", appauthor=False)) / "plans"
        self._limit = limit
        self._tidied = False

    @property
    def refusal(self) -> Notice | None:
        """Why the cache is not used, or None if it is used. The first time that a process learns of a reason, it logs it."""
        try:
            reason = make_private(self._folder)
        except OSError as error:
            reason = Notice("plugins.cache_unusable", folder=self._folder, error=error.strerror or str(error))
        if reason is not None and reason not in _warned:
            _warned.add(reason)
            _log.warning("Engines are built without the cache, so every start takes longer: %s", reason)
        if reason is None and not self._tidied:
            self._tidied = True
            self._tidy()
        return reason

    def get(self, key: str, make: Callable[[], bytes]) -> bytes:
        """Read an entry. If it is missing or damaged, create it with ``make`` and store it."""
        content = self.read(key)
        if content is None:
            content = make()
            self.write(key, content)
        return content

    def remember(self, key: str, find: Callable[[], Any]) -> Any:
        """Read a value, stored as JSON. If it is missing or damaged, create it with ``find`` and store it.

        If several processes create a value for one key, all use the first one, so that equal devices get equal values.
        """
        content = self.read(key)
        if content is None:
            content = json.dumps(find()).encode()
            self.write(key, content, keep_first=True)
            content = self.read(key) or content
        return json.loads(content)

    def read(self, key: str) -> bytes | None:
        """Read an entry. Returns None if it is missing, damaged or not private."""
        path = self._path(key)
        try:
            stored = None if self.refusal else read_private(path)
        except OSError:
            return None
        if stored is None:
            return None
        content = stored[_DIGEST:]
        if not content or _digest(key, content) != stored[:_DIGEST]:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # so that the least recently used entries are removed first
        return content

    def write(self, key: str, content: bytes, keep_first: bool = False) -> None:
        """Store an entry. Does nothing if the folder is not private or not writable. keep_first: keep an undamaged existing entry."""
        if self.refusal:
            return
        try:
            with tempfile.NamedTemporaryFile(dir=self._folder, prefix=f"{os.getpid()}-", suffix=_PART, delete=False) as part:
                try:
                    part.write(_digest(key, content) + content)
                    part.close()
                    if keep_first:
                        with contextlib.suppress(OSError):  # the entry exists, or the file system has no hard links
                            self._path(key).hardlink_to(part.name)
                    if keep_first and self.read(key) is not None:
                        Path(part.name).unlink()
                    else:
                        Path(part.name).replace(self._path(key))
                except BaseException:
                    Path(part.name).unlink(missing_ok=True)
                    raise
            self._prune()
        except OSError:
            pass

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.built"

    def _tidy(self) -> None:
        """Remove what killed processes have left. A process whose file is missing at the end builds its entry again."""
        for part in self._folder.glob(f"*{_PART}"):
            number = part.name.partition("-")[0]
            if not (number.isdecimal() and _is_running(int(number))):
                with contextlib.suppress(OSError):
                    part.unlink()

    def _prune(self) -> None:
        entries = sorted(((entry.stat().st_mtime, entry.stat().st_size, entry) for entry in self._folder.glob("*.built")), reverse=True)
        total = 0
        for _, size, entry in entries:
            total += size
            if total > self._limit:
                entry.unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # there, os.kill would end the process; a file that is in use cannot be removed
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to another user
        return True
    return True


def _digest(key: str, content: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(key.encode()).digest() + content).digest()
