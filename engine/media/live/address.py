"""Addresses of live sources: a camera, a stream in the network, or a file that grows. Loads no media library.

User and password are split from the address here. What is shown, stored and logged has neither.
"""

import netrc
import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Self
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from framefleet.engine.notices import Notice, SourceError, UsageError

_SECRET = re.compile(r"(?i)((?:^|[?&;/])[^?&;/=]*(?:pass|pwd|token|secret|key|auth|sign|user|usr|login)[^?&;/=]*=)([^?&;/]*)")
"""A parameter of an address that may hold a user or a password, as in ``?user=admin&password=…``."""

KEY_RING = "framefleet"
"""The service in the system's key ring that has users and passwords of streams."""

_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://?(?P<rest>.*)", re.DOTALL)


class LiveKind(StrEnum):
    """How a live source is read."""

    RTSP = "rtsp"
    HTTP = "http"
    CAMERA = "camera"
    FILE = "file"


SCHEMES = {"rtsp": LiveKind.RTSP, "rtsps": LiveKind.RTSP, "http": LiveKind.HTTP, "https": LiveKind.HTTP}


@dataclass(frozen=True)
class LiveAddress:
    """The address of a live source.

    Parameters
    ----------
    kind : LiveKind
        How it is read.
    shown : str
        The address without user, password and secret parameters. The only form that people, files and logs see.
    target : str
        What to open: the address without user and password, the number of the camera, or the path.
    user, password : str or None
        What the source asks for, if anything.
    """

    kind: LiveKind
    shown: str
    target: str = field(repr=False)
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.shown

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read an address as a person writes it: ``rtsp://…``, ``http://…`` or ``camera:0``; None if the text is none of these.

        Raises
        ------
        UsageError
            The address names no host, or its port is not a number.
        """
        if camera := re.fullmatch(r"camera:(\d{1,3})", text):
            return cls(LiveKind.CAMERA, text, camera[1])
        found = _SCHEME.fullmatch(text)
        kind = SCHEMES.get(found["scheme"].lower()) if found is not None else None
        if found is None or kind is None:
            return None
        scheme, rest = found["scheme"].lower(), found["rest"]
        login, at, place = _split(rest)
        user, colon, password = login.partition(":")
        target = f"{scheme}://{place}"
        if not _is_host(re.split("[/?#]", place, maxsplit=1)[0]) or not place.isprintable() or " " in place:
            raise UsageError(Notice("live.no_host", address=hide(target)))
        shown = hide(target)
        return cls(kind, shown, target, unquote(user) if at else None, unquote(password) if colon else None)

    @classmethod
    def growing(cls, path: Path) -> Self:
        """The address of a file that grows."""
        return cls(LiveKind.FILE, str(path), str(path.absolute()))

    @property
    def host(self) -> str:
        """The host of the network that is asked, "" if there is none."""
        return (urlsplit(self.target).hostname or "") if self.kind in (LiveKind.RTSP, LiveKind.HTTP) else ""

    @property
    def name(self) -> str:
        """A short name that can be part of a file's name: the host and the path, without suffix."""
        if self.kind is LiveKind.FILE:
            return Path(self.target).name
        if self.kind is LiveKind.CAMERA:
            return f"camera-{self.target}"
        parts = urlsplit(self.shown)
        text = f"{parts.hostname}{f'-{parts.port}' if parts.port else ''}{re.sub(r'[.][A-Za-z0-9]{1,5}$', '', parts.path)}"
        return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")[:100]

    @property
    def with_login(self) -> str:
        """The address with user and password, for libraries. Keep it in the process that opens the source."""
        if self.user is None:
            return self.target
        parts = urlsplit(self.target)
        login = quote(self.user, safe="") + ("" if self.password is None else f":{quote(self.password, safe='')}")
        return urlunsplit(parts._replace(netloc=f"{login}@{parts.netloc}"))

    def with_netrc(self, path: Path) -> Self:
        """The address with the user and password that a netrc file has for its host, unless the address has its own.

        Raises
        ------
        UsageError
            The file cannot be read.
        """
        if self.user is not None or not self.host:
            return self
        try:
            entry = netrc.netrc(path).authenticators(self.host)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(Notice("live.netrc_not_read", path=path, detail=getattr(error, "strerror", None) or "not a text")) from error
        except netrc.NetrcParseError as error:  # its text may contain what stands in the file
            raise UsageError(Notice("live.netrc_not_read", path=path, detail=f"line {error.lineno} is not understood")) from error
        return self if entry is None else replace(self, user=entry[0], password=entry[2])

    def with_key_ring(self) -> Self:
        """The address with what the system's key ring has for it, unless the address has its own password.

        The entries belong to the service ``KEY_RING``. That of ``USER@HOST`` is a password. That of ``HOST`` is a user and a password, in
        two lines.

        Raises
        ------
        UsageError
            The library ``keyring`` is not installed, the key ring refuses, or it has nothing for this address.
        """
        if self.password is not None or not self.host:
            return self
        try:
            keyring = import_module("keyring")
            problem: type[Exception] = import_module("keyring.errors").KeyringError
        except ImportError as error:
            raise UsageError(Notice("live.no_key_ring")) from error
        name = self.host if self.user is None else f"{self.user}@{self.host}"
        try:
            kept = keyring.get_password(KEY_RING, name)
            both = keyring.get_password(KEY_RING, self.host)
        except problem as error:
            raise UsageError(Notice("live.key_ring_refuses", detail=str(error) or type(error).__name__)) from error
        if self.user is not None and kept is not None:
            return replace(self, password=kept)
        user, line, password = (both or "").partition("\n")
        if not line or self.user not in (None, user):
            raise UsageError(Notice("live.not_in_key_ring", name=name, service=KEY_RING))
        return replace(self, user=user, password=password)

    def check_file(self) -> None:
        """Raise SourceError if this is a file that does not exist."""
        if self.kind is LiveKind.FILE and not Path(self.target).is_file():
            raise SourceError(Notice("live.no_file", path=Path(self.shown)))


def _split(rest: str) -> tuple[str, str, str]:
    """User and password, "@" or "", and the place, of an address without its scheme. A password may contain "@" and "/" as they are."""
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    login, at, host = authority.rpartition("@")
    if _is_host(host) or "@" not in rest:
        return login, at, rest[len(login) + len(at) :]
    return rest.rpartition("@")


def _is_host(text: str) -> bool:
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.%\w]+\]|[\w.-]+)(?::(\d{1,5}))?", text)
    return found is not None and (found[2] is None or 0 < int(found[2]) < 65536)


def hide(text: str) -> str:
    """Return an address, or a text with addresses, without users, passwords and secret parameters."""
    text = re.sub(r"(?i)\b([a-z][a-z0-9+.-]*:/{1,2})[^\s/]*@", r"\1", text)
    return _SECRET.sub(r"\1***", text)
