"""Stores an unfinished download: the received bytes, and the server's mark of the file.

The mark is an ETag or a time of change. A download continues only if the mark shows that the file on the server is the same.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
