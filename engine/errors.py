"""The exceptions of Framefleet.

FramefleetError        base of all errors; the message says what failed, where, and what to do
├── UsageError         a wrong argument, setting or combination of them
├── ModelError         a cfg, weight or label file that cannot be used
├── DownloadError      a model cannot be downloaded, or its download cannot be stored
│   └── DownloadCancelledError   the user cancelled a download
├── SourceError        a video, image or folder that cannot be opened or read to its end
├── DeviceError        a device or its library is missing, refuses the work, or failed
│   └── ClusterError   a cluster or one of its nodes cannot be used
└── ExportError        results cannot be stored or written

Errors of the libraries below (OpenVINO, FFmpeg, SQLite, …) are turned into these in the one file that imports the library.
"""

from collections.abc import Iterable

from framefleet.engine.notices import Notice


class FramefleetError(Exception):
    """Base of all errors with a message for the user: a notice; ``str()`` gives its English text."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(notice)

    @property
    def notice(self) -> Notice:
        """What happened, where, and what to do."""
        said: Notice = self.args[0]
        return said


class UsageError(FramefleetError):
    """A wrong argument, setting or combination of them."""


class ModelError(FramefleetError):
    """A cfg, weight or label file that cannot be used."""


class DownloadError(FramefleetError):
    """A model cannot be downloaded, or its download cannot be stored."""


class DownloadCancelledError(DownloadError):
    """The user cancelled a download."""


class SourceError(FramefleetError):
    """A video, image or folder that cannot be opened or read to its end."""


class DeviceError(FramefleetError):
    """A device or its library is missing, refuses the work, or failed."""


class ClusterError(DeviceError):
    """A cluster or one of its nodes cannot be used."""


class ExportError(FramefleetError):
    """Results cannot be stored or written."""


def literal(text: str) -> Notice:
    """A text that has no code: what a library says, or what a client says in its own language."""
    return Notice("general.detail", detail=text)


def notice_of(error: BaseException) -> Notice:
    """What an error says: the notice of a Framefleet error, or the words of a library or the system."""
    if isinstance(error, FramefleetError):
        return error.notice
    return literal(str(error) or type(error).__name__)


def unexpected(error: BaseException) -> Notice:
    """What an error says that nobody expected, with its kind."""
    return Notice("general.unexpected", kind=type(error).__name__, detail=notice_of(error))


def similar(name: str, known: Iterable[str], most: int = 1) -> tuple[str, ...]:
    """Return the known names that are similar to this one in any case, the most similar first."""
    import difflib  # not in every process: only errors need it

    names = {each.casefold(): each for each in known}
    return tuple(names[each] for each in difflib.get_close_matches(name.casefold(), names, most, 0.7))
