"""What has to be the same on every machine of a run."""

import platform
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Self

from framefleet.engine.notices import Notice

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Versions:
    """framefleet: its version. code: a digest of its code, which also differs between two states of one version. python: its version."""

    framefleet: str
    code: str
    python: str

    def differences(self, other: Self) -> tuple[Notice, ...]:
        """What differs. other: of the other machine."""
        what = {"framefleet": "Framefleet", "code": Notice("cluster.code"), "python": "Python"}
        pairs = [(name, vars(other)[name], mine) for name, mine in vars(self).items()]
        return tuple(
            Notice("cluster.difference", what=what[name], theirs=theirs, ours=ours) for name, theirs, ours in pairs if theirs != ours
        )


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
