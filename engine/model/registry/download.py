"""Downloads models over HTTP, and continues after interruptions.

A downloaded model is complete and checked; otherwise it does not count as installed. Only this module uses the HTTP library.
"""

import hashlib
import re
import shutil
import time
from collections.abc import Callable, Iterator
from importlib.resources import files as resource_files
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from framefleet.engine.model import cfg, load
from framefleet.engine.model.describe import describe
from framefleet.engine.model.registry.catalogue import Cancellation, ModelEntry, Partial, RemoteFile, files_of, is_installed, locked
from framefleet.engine.notices import DownloadError, ModelError, Notice, Option
from framefleet.engine.settings import ModelFiles

CONNECT_SECONDS = 10.0
SILENT_SECONDS = 20.0
"""A connection fails after this time without data."""
START_SECONDS = 120.0
MIN_BYTES_PER_S = 10_000
"""A download may take START_SECONDS and the time of its missing bytes at this rate: 7 hours for yolov4.weights."""
PAUSE_SECONDS = 0.5
"""The time between an interruption and the next attempt."""
ATTEMPTS = 20
"""Maximum number of connections for one file. The download fails earlier if a connection brings no new bytes."""
CHUNK = 1 << 16

_TRY_AGAIN = Notice("model.try_elsewhere")


class RefusedRedirectError(requests.RequestException):
    """The server redirects to an address that is not downloaded from. target: that address."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.target = target


class TooSlowError(requests.RequestException):
    """The download takes longer than the time for its size."""


def transfer(
    address: str, partial: Partial, size: int | None, most: int, progress: Callable[[int], None], cancellation: Cancellation
) -> None:
    """Download ``address`` completely into ``partial``.

    Parameters
    ----------
    size
        The exact number of bytes, None if unknown.
    most
        The maximum number of bytes.
    progress
        Called with the number of received bytes.

    Raises
    ------
    DownloadError
        The server cannot be reached, has a different file or closes the connection, or the file cannot be written. The received bytes are
        kept for the next attempt, unless they are known to be wrong.
    DownloadCancelledError
        ``cancellation`` was cancelled; the received bytes are kept.
    """
    furthest = partial.length
    limit = time.monotonic() + START_SECONDS + max(0, (size or most) - furthest) / MIN_BYTES_PER_S

    def received(count: int) -> None:
        if time.monotonic() > limit:
            raise TooSlowError
        progress(count)

    for _ in range(ATTEMPTS):
        cancellation.check()
        try:
            with _session(cancellation) as session:
                _attempt(session, address, partial, size, most, received, cancellation)
            return
        except (requests.RequestException, HTTPError) as error:
            cancellation.check()  # cancelling closes the connection
            reached = partial.length
            if reached <= furthest or isinstance(error, RefusedRedirectError | TooSlowError):
                raise DownloadError(_explain(address, error, reached, size)) from error
            furthest = reached
        except OSError as error:
            raise DownloadError(Notice("general.not_written", path=partial.path, error=error.strerror or str(error))) from error
        cancellation.pause(PAUSE_SECONDS)
    raise DownloadError(Notice("model.interrupted_often", address=address, attempts=ATTEMPTS, reached=furthest))


def _attempt(
    session: requests.Session,
    address: str,
    partial: Partial,
    size: int | None,
    most: int,
    progress: Callable[[int], None],
    cancellation: Cancellation,
) -> None:
    start, mark = partial.resume_point(address)
    headers = {"Accept-Encoding": "identity"}  # compressed bytes have another length and cannot be continued
    if start:
        headers |= {"Range": f"bytes={start}-", "If-Range": mark}
    with session.get(address, headers=headers, stream=True, timeout=(CONNECT_SECONDS, SILENT_SECONDS)) as response:
        if start and not _continues(response, start):
            start = 0
            if response.status_code in (206, 416):  # the server cannot send the requested part
                partial.discard()
                response.close()
                return _attempt(session, address, partial, size, most, progress, cancellation)
        _check_answer(address, response, size, start)
        if not start:
            partial.begin(address, response.headers)
        progress(start)
        with partial.path.open("ab" if start else "wb") as file:
            for chunk in _chunks(response):
                cancellation.check()
                start += len(chunk)
                if start > most:
                    break
                file.write(chunk)
                progress(start)
        cancellation.check()
    if start > most:
        partial.discard()
        raise DownloadError(Notice("model.sends_more", address=address, most=most, advice=_TRY_AGAIN))
    if size is not None and start < size:
        raise requests.ConnectionError("the connection was closed too early")
    return None


def _continues(response: requests.Response, start: int) -> bool:
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return response.status_code == 206 and found is not None and int(found[1]) == start


def _check_answer(address: str, response: requests.Response, size: int | None, start: int) -> None:
    if response.status_code not in (200, 206) or (response.status_code == 206 and not start):
        reason = f"{response.status_code} {response.reason or ''}".strip()
        raise DownloadError(Notice("model.server_refuses", address=address, reason=reason, advice=_TRY_AGAIN))
    if response.headers.get("Content-Type", "").lower().startswith("text/html"):
        raise DownloadError(Notice("model.answers_with_page", address=address, advice=_TRY_AGAIN))
    announced = response.headers.get("Content-Length", "")
    if size is not None and announced.isdecimal() and start + int(announced) != size and "Content-Encoding" not in response.headers:
        raise DownloadError(Notice("model.wrong_length", address=address, announced=start + int(announced), size=size, advice=_TRY_AGAIN))


def _chunks(response: requests.Response) -> Iterator[bytes]:
    """Yield the bytes as they arrive: ``iter_content`` would wait until a chunk is full."""
    while chunk := response.raw.read1(CHUNK, decode_content=True):
        yield chunk


def _session(cancellation: Cancellation) -> requests.Session:
    session = WebSession()
    session.headers["User-Agent"] = "framefleet"
    adapter = _WatchedAdapter(cancellation)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


class WebSession(requests.Session):
    """Follows redirects only to web servers, and from https only to https."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """The address that an answer redirects to, None without one. Raises RefusedRedirectError if it may not be followed."""
        target: str | None = super().get_redirect_target(resp)
        if target is not None:
            absolute = urljoin(resp.url, target)
            allowed = ("https",) if urlsplit(resp.url).scheme == "https" else ("https", "http")
            if urlsplit(absolute).scheme not in allowed:
                resp.close()
                raise RefusedRedirectError(absolute)
        return target


class _WatchedAdapter(HTTPAdapter):
    """Registers every connection with a ``Cancellation``, which can close it."""

    def __init__(self, cancellation: Cancellation) -> None:
        super().__init__()
        self._cancellation = cancellation

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        pool = super().get_connection_with_tls_context(*args, **options)
        pool.ConnectionCls = self._watched(pool.ConnectionCls)
        return pool

    def _watched(self, kind: Any) -> Any:
        watch = self._cancellation.watch

        class Watched(kind):  # type: ignore[misc]  # the class depends on the scheme and the proxy
            def connect(self) -> None:
                super().connect()
                watch(self.sock)

        return Watched


def _explain(address: str, error: Exception, reached: int, size: int | None) -> Notice:
    if isinstance(error, RefusedRedirectError):
        return Notice("model.refused_redirect", address=address, target=error.target, advice=_TRY_AGAIN)
    if isinstance(error, TooSlowError):
        return Notice("model.too_slow", address=address, reached=reached, rate=MIN_BYTES_PER_S / 1000)
    if isinstance(error, requests.exceptions.ProxyError):
        return Notice("model.proxy_silent", address=address, reason=_reason(error))
    if isinstance(error, requests.exceptions.SSLError):
        return Notice("model.not_secure", address=address, reason=_reason(error))
    if isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.InvalidSchema | requests.exceptions.MissingSchema):
        return Notice("model.no_web_address", address=address)
    if isinstance(error, requests.exceptions.TooManyRedirects):
        return Notice("model.redirect_circle", address=address, advice=_TRY_AGAIN)
    if reached and size is not None:
        return Notice("model.interrupted_of", address=address, reached=reached, size=size, reason=_reason(error))
    if reached:
        return Notice("model.interrupted", address=address, reached=reached, reason=_reason(error))
    host = urlsplit(address).hostname or address
    return Notice("model.not_reached", host=host, reason=_reason(error), address=address, advice=_TRY_AGAIN)


def _reason(error: BaseException) -> Notice:
    """Return the cause of an error in plain words, without class names of the library."""
    text = str(error)
    for pattern, meaning in _CAUSES:
        if re.search(pattern, text):
            return meaning
    return Notice("general.detail", detail=text or type(error).__name__)


_CAUSES = (
    (r"resolve|Name or service|getaddrinfo", Notice("model.name_unknown")),
    (r"refused", Notice("model.connection_refused")),
    (r"timed out|Timeout", Notice("model.no_answer")),
    (r"certificate|CERTIFICATE", Notice("model.certificate")),
    (r"SSL|TLS", Notice("model.no_secure_connection")),
    (r"reset|aborted|IncompleteRead|RemoteDisconnected|closed", Notice("model.connection_closed")),
    (r"unreachable|No route", Notice("model.network_unreachable")),
)
"""What the library's messages mean."""


COCO_CLASSES = 80


def download(
    entry: ModelEntry,
    folder: Path,
    progress: Callable[[int], None] = lambda _: None,
    cancellation: Cancellation | None = None,
    *,
    accept_unverified: bool = False,
) -> ModelFiles:
    """Download a model to ``folder`` if it is not installed there. Continues an interrupted download.

    Parameters
    ----------
    progress : callable, optional
        Called with the number of received bytes of the weight file, of ``entry.weights_bytes``.
    accept_unverified : bool, optional
        The user agrees to files for which nobody publishes a SHA-256 (``entry.unverified``).

    Raises
    ------
    DownloadError
        The server cannot be reached or has a different file, the disk is full, another process downloads this model, or
        ``accept_unverified`` is needed (code ``model.unverified``).
    DownloadCancelledError
        ``cancellation`` was cancelled; the next download continues.
    """
    cancellation = cancellation or Cancellation()
    files = files_of(entry, folder)
    with locked(folder, entry.name):
        if is_installed(entry, folder):
            return files
        if entry.unverified and not accept_unverified:
            raise DownloadError(Notice("model.unverified", name=entry.name, files=entry.unverified, option=Option("unverified")))
        weights = Path(files.weights)
        try:
            files.cfg.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise DownloadError(Notice("model.not_writable", path=files.cfg.parent, error=error.strerror or str(error))) from error
        _check_space(entry, weights)
        _fetch(entry.cfg, files.cfg, None, lambda _: None, cancellation, lambda path: _check_cfg(entry, path))
        description = describe(files.cfg)
        if description.classes == COCO_CLASSES:
            _write_labels(weights.with_suffix(".names"))
        _fetch(entry.weights, weights, entry.weights_bytes, progress, cancellation, lambda path: load.check_weights(description, path))
    return files


def _fetch(
    file: RemoteFile,
    target: Path,
    size: int | None,
    progress: Callable[[int], None],
    cancellation: Cancellation,
    check: Callable[[Path], object],
) -> None:
    """Download one file, check it, then rename it to ``target``. A file that fails a check is deleted."""
    partial = Partial(target)
    try:
        target.unlink(missing_ok=True)  # the model is not complete, so this file may be damaged
        transfer(file.source, partial, size, size or cfg.MAX_BYTES, progress, cancellation)
        try:
            _check_digest(file, partial.path)
            check(partial.path)
        except ModelError as error:
            partial.discard()
            raise DownloadError(Notice("model.other_file_published", address=file.source, problem=error.notice)) from error
        partial.finish()
    except OSError as error:
        raise DownloadError(Notice("general.not_written", path=target, error=error.strerror or str(error))) from error


def _check_digest(file: RemoteFile, path: Path) -> None:
    if file.sha256 is None:
        return
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if digest != file.sha256:
        raise ModelError(Notice("model.wrong_digest", digest=file.sha256))


def _check_cfg(entry: ModelEntry, path: Path) -> None:
    found = describe(path)
    counted = (len(found.layers), found.float_count)
    if counted != (entry.layers, entry.parameters):
        has = {"layers": counted[0], "parameters": counted[1]}
        raise ModelError(Notice("model.other_cfg", name=entry.name, wanted=entry.layers, wanted_parameters=entry.parameters, **has))


def _check_space(entry: ModelEntry, weights: Path) -> None:
    needed = entry.download_bytes - Partial(weights).length
    free = shutil.disk_usage(weights.parent).free
    if free < needed:
        raise DownloadError(Notice("model.disk_full", name=entry.name, folder=weights.parent, needed=needed / 1e6, free=free / 1e6))


def _write_labels(path: Path) -> None:
    names = resource_files("framefleet.resources").joinpath("labels/coco.txt").read_text("utf-8")
    try:
        path.write_text(names, "utf-8")
    except OSError as error:
        raise DownloadError(Notice("general.not_written", path=path, error=error.strerror or str(error))) from error
