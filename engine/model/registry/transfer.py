"""Downloads one file over HTTP, and continues after interruptions. The only module that uses the HTTP library."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from framefleet.engine.errors import DownloadError
from framefleet.engine.model.registry.cancellation import Cancellation
from framefleet.engine.model.registry.partial import Partial

CONNECT_SECONDS = 10.0
SILENT_SECONDS = 20.0
"""A connection fails after this time without data."""
PAUSE_SECONDS = 0.5
"""The time between an interruption and the next attempt."""
ATTEMPTS = 20
"""Maximum number of connections for one file. The download fails earlier if a connection brings no new bytes."""
CHUNK = 1 << 16

_ELSEWHERE = "try again later, name a mirror in FRAMEFLEET_MODELS_URL, or use a .cfg and .weights of your own"


def transfer(
    address: str, partial: Partial, size: int | None, most: int, progress: Callable[[int], None], cancellation: Cancellation
) -> None:
    """Download ``address`` completely into ``partial``.

    size: the exact number of bytes, None if unknown. most: the maximum number of bytes. progress: called with the number of received bytes.

    Raises:
        DownloadError: the server cannot be reached, has a different file or closes the connection, or the file cannot be written.
            The received bytes are kept for the next attempt, unless they are known to be wrong.
        DownloadCancelledError: ``cancellation`` was cancelled; the received bytes are kept.
    """
    furthest = partial.length
    for _ in range(ATTEMPTS):
        cancellation.check()
        try:
            with _session(cancellation) as session:
                _attempt(session, address, partial, size, most, progress, cancellation)
            return
        except (requests.RequestException, HTTPError) as error:
            cancellation.check()  # cancelling closes the connection
            reached = partial.length
            if reached <= furthest:
                raise DownloadError(_explain(address, error, reached, size)) from error
            furthest = reached
        except OSError as error:
            raise DownloadError(f"{partial.path} cannot be written: {error.strerror or error}") from error
        cancellation.pause(PAUSE_SECONDS)
    raise DownloadError(f"{address} was interrupted {ATTEMPTS} times, the last time after {furthest:,} bytes: try again to continue it")


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
        raise DownloadError(f"{address} sends more than the expected {most:,} bytes: it is another file; {_ELSEWHERE}")
    if size is not None and start < size:
        raise requests.ConnectionError("the connection was closed too early")
    return None


def _continues(response: requests.Response, start: int) -> bool:
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return response.status_code == 206 and found is not None and int(found[1]) == start


def _check_answer(address: str, response: requests.Response, size: int | None, start: int) -> None:
    if response.status_code not in (200, 206) or (response.status_code == 206 and not start):
        reason = f"{response.status_code} {response.reason or ''}".strip()
        raise DownloadError(f"{address} cannot be downloaded, the server answers '{reason}': {_ELSEWHERE}")
    if response.headers.get("Content-Type", "").lower().startswith("text/html"):
        raise DownloadError(
            f"{address} answers with a web page instead of the file: if this network asks for a login, log in first, or {_ELSEWHERE}"
        )
    announced = response.headers.get("Content-Length", "")
    if size is not None and announced.isdecimal() and start + int(announced) != size and "Content-Encoding" not in response.headers:
        raise DownloadError(
            f"{address} is announced with {start + int(announced):,} bytes, but this file has exactly {size:,}: "
            f"the server has another file, or is misconfigured; {_ELSEWHERE}"
        )


def _chunks(response: requests.Response) -> Iterator[bytes]:
    """Yield the bytes as they arrive: ``iter_content`` would wait until a chunk is full."""
    while chunk := response.raw.read1(CHUNK, decode_content=True):
        yield chunk


def _session(cancellation: Cancellation) -> requests.Session:
    session = requests.Session()
    session.headers["User-Agent"] = "framefleet"
    adapter = _WatchedAdapter(cancellation)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


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


def _explain(address: str, error: Exception, reached: int, size: int | None) -> str:
    host = urlsplit(address).hostname
    if isinstance(error, requests.exceptions.ProxyError):
        return f"{address} cannot be reached: the proxy that HTTP_PROXY or HTTPS_PROXY names does not answer ({_reason(error)})"
    if isinstance(error, requests.exceptions.SSLError):
        return (
            f"{address} cannot be reached safely ({_reason(error)}): is the clock of this machine right? "
            "Behind a proxy that opens connections, name its certificate in REQUESTS_CA_BUNDLE"
        )
    if isinstance(error, requests.exceptions.InvalidURL | requests.exceptions.InvalidSchema | requests.exceptions.MissingSchema):
        return f"'{address}' is not the address of a web server, which begins with https:// or http://: check FRAMEFLEET_MODELS_URL"
    if isinstance(error, requests.exceptions.TooManyRedirects):
        return f"{address} redirects in a circle: {_ELSEWHERE}"
    if reached:
        whole = "" if size is None else f" of {size:,}"
        return f"{address} was interrupted after {reached:,}{whole} bytes ({_reason(error)}): try again to continue it"
    return f"{host} cannot be reached ({_reason(error)}) for {address}: is this machine online? Otherwise {_ELSEWHERE}"


def _reason(error: BaseException) -> str:
    """Return the cause of an error in plain words, without class names of the library."""
    text = str(error)
    for pattern, meaning in (
        (r"resolve|Name or service|getaddrinfo", "its name is unknown here"),
        (r"refused", "it refuses the connection"),
        (r"timed out|Timeout", "no answer in time"),
        (r"certificate|CERTIFICATE", "its certificate is not trusted"),
        (r"SSL|TLS", "no secure connection could be made"),
        (r"reset|aborted|IncompleteRead|RemoteDisconnected|closed", "the connection was closed"),
        (r"unreachable|No route", "the network is unreachable"),
    ):
        if re.search(pattern, text):
            return meaning
    return text or type(error).__name__
