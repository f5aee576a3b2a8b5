"""The result of one check of the doctor."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How serious a finding is. WARNING: something is slow, or the window does not work. PROBLEM: detection cannot work."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Check:
    """One finding. remedy: what to do, None = nothing."""

    name: str
    status: Status
    detail: str
    remedy: str | None = None
