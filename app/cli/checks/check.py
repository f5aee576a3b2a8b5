"""What one check of the doctor found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """WARNING: something works less well, or only the window does not. PROBLEM: detection cannot work."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Check:
    """remedy: what to do, None where nothing needs doing."""

    name: str
    status: Status
    detail: str
    remedy: str | None = None
