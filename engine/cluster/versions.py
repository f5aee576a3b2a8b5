"""What has to be the same on every machine of a run."""

import platform
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Versions:
    """framefleet: its version. code: a digest of its code, which also differs between two states of one version. python: its version."""

    framefleet: str
    code: str
    python: str

    def differences(self, other: Self) -> list[str]:
        """What differs, in words. other: of the other machine."""
        words = {"framefleet": "Framefleet", "code": "the code of Framefleet", "python": "Python"}
        theirs = vars(other)
        return [f"{words[name]} is {theirs[name]} there and {mine} here" for name, mine in vars(self).items() if mine != theirs[name]]


@cache
def own_versions() -> Versions:
    """The versions of this machine."""
    try:
        framefleet = version("framefleet")
    except PackageNotFoundError:  # it runs from a folder
        framefleet = "unknown"
    digest = blake2b(digest_size=6)
    for part in ("engine", "plugins"):
        for path in sorted((ROOT / part).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return Versions(framefleet, digest.hexdigest(), platform.python_version())
