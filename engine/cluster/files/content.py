"""Identifies the content of a file or a folder of pictures, so that two machines can tell whether they have the same."""

from dataclasses import dataclass
from hashlib import blake2b, file_digest
from pathlib import Path

from framefleet.engine.media.sources import Stamp, has_same_content, is_folder, pictures_in, stamp_of
from framefleet.engine.pool.protocol import Setup


@dataclass(frozen=True)
class Content:
    """A file, or a folder with pictures.

    path: absolute, on the driver. stamp: None = the driver cannot read it. digest: hexadecimal, of the whole file; None = the stamp is
    enough. A file with a digest belongs to a model: a node that has another file at the same path is refused.
    """

    path: Path
    stamp: Stamp | None
    digest: str | None = None

    @property
    def name(self) -> str:
        """The name of the file or folder in the cache."""
        return self.path.name if self.path.name not in ("", "..") else "pictures"

    @property
    def key(self) -> str:
        """A name for the content, for the cache. Another time of change makes another name."""
        return blake2b(repr((self.name, self.stamp, self.digest)).encode(), digest_size=16).hexdigest()

    def is_at(self, path: Path) -> bool:
        """Whether a path of this machine has the same content: size, and start and end of the file; for a model the whole file."""
        if not has_same_content(stamp_of(path), self.stamp):
            return False
        return self.digest is None or self.digest == digest_of(path)

    def files(self) -> list[Path]:
        """The files to send: the file itself, or the pictures of the folder."""
        return pictures_in(self.path) if is_folder(self.path) else [self.path]


def digest_of(path: Path) -> str:
    """The digest of a whole file. Raises OSError."""
    with path.open("rb") as file:
        return file_digest(file, blake2b).hexdigest()


def content_of(path: Path, *, whole: bool = False) -> Content:
    """The content at a path. whole: with the digest of the whole file, as models need it; raises OSError if it cannot be read."""
    return Content(path.absolute(), stamp_of(path), digest_of(path) if whole else None)


class Contents:
    """The contents of the run's sources and model. Each is identified once."""

    def __init__(self) -> None:
        self._known: dict[Path, Content] = {}

    def __contains__(self, content: Content) -> bool:
        """Whether the content belongs to the run."""
        return content in list(self._known.values())

    def source(self, path: Path) -> Content:
        """The content of a source."""
        return self._known.get(path) or self._known.setdefault(path, content_of(path))

    def model(self, setup: Setup) -> tuple[Content, ...]:
        """The contents of the model's files. Raises OSError."""
        files = (setup.model.cfg, setup.model.weights, setup.model.labels)
        paths = (path for path in files if isinstance(path, Path))
        return tuple(self._known.get(path) or self._known.setdefault(path, content_of(path, whole=True)) for path in paths)
