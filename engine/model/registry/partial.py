"""A file that is not downloaded completely, and what is needed to continue it: only the very same file may be continued."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.model.registry.installed import PART


@dataclass(frozen=True)
class Partial:
    """What there is so far of ``target``, beside it; a second file says what it is a part of."""

    target: Path

    @property
    def path(self) -> Path:
        """Where the bytes lie."""
        return self.target.with_name(f"{self.target.name}{PART}")

    @property
    def _origin(self) -> Path:
        return self.target.with_name(f"{self.target.name}{PART}.json")

    @property
    def length(self) -> int:
        """Bytes there are, 0 if there is no file."""
        return self.path.stat().st_size if self.path.is_file() else 0

    def resume_point(self, address: str) -> tuple[int, str]:
        """From which byte to continue, and the server's mark of the file it belongs to; (0, "") to begin anew."""
        try:
            origin = json.loads(self._origin.read_text("utf-8"))
            mark = origin["mark"] if origin["address"] == address else ""
            return (self.length, mark) if mark and self.length else (0, "")
        except (OSError, ValueError, LookupError, TypeError):
            return 0, ""

    def begin(self, address: str, headers: Mapping[str, str]) -> None:
        """Remember what is about to be downloaded from its beginning."""
        self.discard()
        mark = headers.get("ETag", "")
        if not mark or mark.startswith("W/"):  # RFC 9110, 13.1.5: a weak mark does not identify the bytes
            mark = headers.get("Last-Modified", "")
        if mark and headers.get("Accept-Ranges", "bytes") != "none" and "Content-Encoding" not in headers:
            self._origin.write_text(json.dumps({"address": address, "mark": mark}), "utf-8")

    def discard(self) -> None:
        """Forget everything."""
        self.path.unlink(missing_ok=True)
        self._origin.unlink(missing_ok=True)

    def move(self, place: Path) -> None:
        """It is complete: put it there."""
        self.path.replace(place)
        self._origin.unlink(missing_ok=True)
