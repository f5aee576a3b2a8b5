"""Plans, kernels and other things that are slow to make and only good for one device, kept as files.

They are native code: what is read is checked against our own SHA-256 before anybody loads it. An entry that is damaged,
cut short, or was stored under another key is made anew. Two processes that make the same entry both write it whole; the last stays.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from platformdirs import user_cache_path

LIMIT = 8 * 2**30
"""Bytes kept; what was not used for longest goes first."""

_DIGEST = hashlib.sha256().digest_size


class FileCache:
    """One folder of entries. folder: None = in the user's cache folder. limit: bytes."""

    def __init__(self, folder: Path | None = None, limit: int = LIMIT) -> None:
        self._folder = folder or user_cache_path("framefleet") / "plans"
        self._limit = limit

    def get(self, key: str, make: Callable[[], bytes]) -> bytes:
        """The entry of this key; made, and kept, if it is not there or cannot be trusted."""
        content = self.read(key)
        if content is None:
            content = make()
            self.write(key, content)
        return content

    def read(self, key: str) -> bytes | None:
        """The entry, None if there is none that can be trusted."""
        path = self._path(key)
        try:
            stored = path.read_bytes()
        except OSError:
            return None
        content = stored[_DIGEST:]
        if not content or _digest(key, content) != stored[:_DIGEST]:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the age that counts is that of the last use
        return content

    def write(self, key: str, content: bytes) -> None:
        """Keep an entry, if the folder lets it be."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, suffix=".part", delete=False) as part:
                try:
                    part.write(_digest(key, content) + content)
                    part.close()
                    Path(part.name).replace(self._path(key))
                except BaseException:
                    Path(part.name).unlink(missing_ok=True)
                    raise
            self._prune()
        except OSError:
            pass

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.built"

    def _prune(self) -> None:
        entries = sorted(((entry.stat().st_mtime, entry.stat().st_size, entry) for entry in self._folder.glob("*.built")), reverse=True)
        total = 0
        for _, size, entry in entries:
            total += size
            if total > self._limit:
                entry.unlink(missing_ok=True)


def _digest(key: str, content: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(key.encode()).digest() + content).digest()
