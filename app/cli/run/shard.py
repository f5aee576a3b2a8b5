"""``detect --shard i/n``: one of n equal jobs, each of which takes a part of the same sources."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Self

from framefleet.engine.errors import UsageError
from framefleet.engine.store.schema import absolute


@dataclass(frozen=True)
class Shard:
    """One part of the sources. number: from 1 to ``count``."""

    number: int
    count: int

    @classmethod
    def read(cls, text: str) -> Self:
        """Read ``i/n``, such as ``2/8``. Raises UsageError."""
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
        number, count = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= count:
            raise UsageError(f"'{text}' is not a shard: write i/n with i from 1 to n, such as 2/8 for the second of eight jobs")
        return cls(number, count)

    @property
    def folder(self) -> str:
        """The name of the folder for the results."""
        return f"shard-{self.number}-of-{self.count}"

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def choose(self, sources: Sequence[Path], named: Sequence[Path]) -> dict[int, Path]:
        """Return the sources of this shard, by their position in ``sources``.

        A digest of the path below the common folder of ``named`` decides. So the choice is the same on machines that have the folder in
        different places, and a file that is added changes the shard of no other file. named: the paths that the user gave.
        """
        base = _common_folder(named)
        digests = (blake2b(os.fsencode(_relative(path, base)), digest_size=8).digest() for path in sources)
        shards = (int.from_bytes(digest, "big") % self.count + 1 for digest in digests)
        return {position: path for position, (path, shard) in enumerate(zip(sources, shards, strict=True)) if shard == self.number}


def _common_folder(named: Sequence[Path]) -> str:
    try:
        return os.path.commonpath([path if path.is_dir() else path.parent for path in map(_absolute, named)])
    except ValueError:  # on different drives
        return ""


def _relative(path: Path, base: str) -> str:
    return (_absolute(path).relative_to(base) if base else _absolute(path)).as_posix()


def _absolute(path: Path) -> Path:
    return Path(absolute(str(Path.cwd()), str(path)))
