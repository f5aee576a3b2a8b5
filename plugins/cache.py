"""A file cache for plans, kernels and other results that take long to create.

Entries are native code. Two checks come before they are used:

- Their SHA-256, which the file begins with, shows damage: an entry that is damaged, incomplete, or stored under another key is created
  again. It does not show tampering, because whoever changes an entry can change the digest, too.
- The permissions of the folder, of the folders above it and of each file keep others from changing entries. If they do not, nothing is
  read or stored, and a warning says why. On Windows nothing is checked: there, only the user has access to the folders in the user's
  profile.

If two processes create the same entry, each writes it as a whole and the last one stays.
"""

import contextlib
import hashlib
import json
import logging
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from framefleet.engine.notices import Notice

_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
"""Follow no link, and do not wait for the writer of a named pipe."""


def make_private(folder: Path) -> Notice | None:
    """Create a folder that only the user may enter, unless it exists. Returns why its files cannot be trusted, or None.

    Its files can be trusted if all of these hold: the folder is not a symbolic link; it belongs to the user, and nobody else may write to
    it; the same is true for all folders above it, except that these may belong to the administrator, and may be open to all if only
    owners can remove their files (the sticky bit, as in /tmp). A folder that others may read loses these permissions.

    Raises OSError if the folder cannot be created or examined.
    """
    if not hasattr(os, "geteuid"):
        folder.mkdir(parents=True, exist_ok=True)
        return None
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    for parent in dict.fromkeys((*folder.parents, folder.parent.resolve(), *folder.parent.resolve().parents)):
        if reason := _unsafe_parent(parent):
            return reason
    folder.mkdir(mode=0o700, exist_ok=True)  # fails for a file
    state = folder.lstat()
    if stat.S_ISLNK(state.st_mode):
        return Notice("plugins.cache_is_link", folder=folder)
    if state.st_uid != os.geteuid():
        return Notice("plugins.cache_of_other", folder=folder, owner=_name(state.st_uid), user=_name(os.geteuid()))
    if _others_may_write(state):
        return Notice("plugins.cache_writable", folder=folder)
    if stat.S_IMODE(state.st_mode) != 0o700:
        folder.chmod(0o700)
    return None


def read_private(path: Path) -> bytes | None:
    """Read a file of a private folder. Returns None if it is a link or no ordinary file, or if others own it or may change it.

    Raises OSError if the file is missing or unreadable.
    """
    descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            return None
        if hasattr(os, "geteuid") and (state.st_uid != os.geteuid() or _others_may_write(state)):
            return None
        return file.read()


def _unsafe_parent(folder: Path) -> Notice | None:
    state = folder.lstat()
    if state.st_uid not in (0, os.geteuid()):
        return Notice("plugins.parent_of_other", folder=folder, owner=_name(state.st_uid))
    if stat.S_ISLNK(state.st_mode):  # a link has no permissions; its target is checked, too
        return None
    if _others_may_write(state) and not state.st_mode & stat.S_ISVTX:
        return Notice("plugins.parent_writable", folder=folder)
    return None


def _others_may_write(state: os.stat_result) -> bool:
    return bool(state.st_mode & stat.S_IWOTH) or (bool(state.st_mode & stat.S_IWGRP) and not _is_own_group(state))


def _is_own_group(state: os.stat_result) -> bool:
    """Whether a file's group has only its owner as a member: many systems give each user a group of the same name."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(state.st_uid), grp.getgrgid(state.st_gid)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and user.pw_gid == group.gr_gid and set(group.gr_mem) <= {user.pw_name}


def _name(user: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


FOLDER_VARIABLE = "FRAMEFLEET_CACHE"
"""The environment variable with the user's cache folder."""

LIMIT = 8 * 2**30
"""Most bytes of the cache. The least recently used entries are removed first."""

_PART = ".part"
"""Suffix of entries that are being written. Their names begin with the number of the process."""

_DIGEST = hashlib.sha256().digest_size

_log = logging.getLogger(__name__)
warned: set[Notice] = set()


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
        if reason is not None and reason not in warned:
            warned.add(reason)
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

    def recall(self, key: str) -> Any | None:
        """Read a value that ``remember`` stored. Returns None if it is missing or damaged."""
        content = self.read(key)
        return None if content is None else json.loads(content)

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
