"""Opens live sources with FFmpeg. Only what the address names is opened: no other host, and no file.

RTSP runs over TCP. HTTP is read by Python, so that each redirection and each entry of a playlist is checked, and user and password go to
the named host only.
"""

import errno
import http
import http.client
import io
import os
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import IO, Any
from urllib.parse import urljoin, urlsplit

import av
from av.audio.stream import AudioStream
from av.codec.context import ThreadType
from av.container import InputContainer
from av.video.stream import VideoStream

from framefleet.engine.media.container.video_file import DEMUXERS, MAX_PIXELS, MAX_SIDE, METADATA, reason
from framefleet.engine.media.live.address import LiveAddress, LiveKind, hide
from framefleet.engine.media.live.messages import Format
from framefleet.engine.notices import Notice, SourceError

OPEN_SECONDS = 5.0
"""How long a source may take to answer."""

_READ_SECONDS = 3600.0
"""FFmpeg's own limit for one read. The capture process sets a shorter one by the observed interval of frames, and ends itself."""

FOLLOW_SECONDS = 30.0
"""A followed file that has not grown for this long has ended."""

_ANALYSIS = {"analyzeduration": "1000000", "probesize": "1000000", "fpsprobesize": "0"}
_RTSP = {"rtsp_transport": "tcp", "protocol_whitelist": "rtsp,rtsps,rtp,tcp,tls", "max_delay": "0"}
_HLS = {"http_persistent": "0", "http_multiple": "0", "live_start_index": "-2", "protocol_whitelist": "http,https", "max_reload": "1000000"}
_BUFFER = 32768
_AVSEEK_SIZE = 0x10000
_PLAYLIST_TYPES = ("application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl")


class OpenError(SourceError):
    """The source could not be opened. login: it refuses the user or the password. final: trying again does not help."""

    def __init__(self, notice: Notice, login: bool = False, final: bool = False) -> None:
        super().__init__(notice)
        self.login, self.final = login, final


class LiveSource:
    """An opened source.

    stream: its video. sounds: its streams of sound. timed: whether its frames have times. FFmpeg counts those of MJPEG over HTTP only.
    """

    def __init__(self, container: InputContainer, body: "HttpBody | GrowingFile | Playlist | None" = None) -> None:
        self.container = container
        self._body = body
        streams = container.streams.video
        if not streams or streams[0].codec_context is None:
            self.close()
            raise OpenError(Notice("live.no_video"))
        self.stream: VideoStream = streams[0]
        self.sounds: tuple[AudioStream, ...] = tuple(container.streams.audio)
        self.timed = container.format.name != "mpjpeg"
        self.stream.codec_context.thread_type = ThreadType.NONE
        if max(self.stream.codec_context.width, self.stream.codec_context.height) > MAX_SIDE:
            self.close()
            raise OpenError(Notice("live.no_video"))

    @property
    def finite(self) -> bool:
        """Whether its end is the end of the video. A playlist may say so only when it ends."""
        return self._body is not None and self._body.finite

    @property
    def format(self) -> Format:
        """The format of the video, as far as the container states it."""
        codec, rate = self.stream.codec_context, self.stream.average_rate
        aspect = self.stream.sample_aspect_ratio
        return Format(
            codec.name,
            codec.extradata,
            codec.width,
            codec.height,
            codec.pix_fmt,
            float(rate) if rate else None,
            (aspect.numerator, aspect.denominator) if aspect else None,
        )

    def close(self) -> None:
        """Close the connection."""
        self.container.close()
        if self._body is not None:
            self._body.close()


def open_live(address: LiveAddress, stopped: Event) -> LiveSource:
    """Open a live source.

    address: what to open. stopped: set when reading shall end. Raises OpenError: the source does not answer, refuses the connection, or has
    no video.
    """
    begun = time.monotonic()
    try:
        match address.kind:
            case LiveKind.RTSP:
                return LiveSource(_open(address.with_login, "rtsp", _ANALYSIS | _RTSP))
            case LiveKind.HTTP:
                return _open_http(address)
            case LiveKind.CAMERA:
                return _open_camera(int(address.target))
            case LiveKind.FILE:
                file = GrowingFile(Path(address.target), stopped)
                return LiveSource(_open(file, None, {"format_whitelist": DEMUXERS, "protocol_whitelist": "file"}), file)
    except av.HTTPUnauthorizedError as error:
        raise OpenError(Notice("live.login"), login=True) from error
    except av.HTTPNotFoundError as error:
        raise OpenError(Notice("live.not_found")) from error
    except (av.FFmpegError, OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, TimeoutError) or time.monotonic() - begun > 0.9 * OPEN_SECONDS:  # FFmpeg gives it several names
            raise OpenError(Notice("live.no_answer", seconds=OPEN_SECONDS)) from error
        raise OpenError(Notice("live.refused", detail=hide(reason(error)))) from error


def _open(file: Any, form: str | None, options: dict[str, str]) -> InputContainer:
    container: InputContainer = av.open(
        file,
        format=form,
        options={"max_pixels": MAX_PIXELS, **options},
        timeout=(OPEN_SECONDS, _READ_SECONDS),
        buffer_size=_BUFFER,
        **METADATA,
    )
    return container


def _open_camera(number: int) -> LiveSource:
    device = Path(f"/dev/video{number}")
    if not device.exists():
        there = sorted(int(path.name[5:]) for path in Path("/dev").glob("video*") if path.name[5:].isdecimal())
        cameras = tuple(f"camera:{each}" for each in there)
        raise OpenError(Notice("live.no_camera", path=device, cameras=cameras or Notice("live.none_here")))
    try:
        try:  # compressed first: raw pictures of most cameras come more slowly
            return LiveSource(_open(str(device), "v4l2", {"input_format": "mjpeg"}))
        except (av.FFmpegError, OSError):
            return LiveSource(_open(str(device), "v4l2", {}))
    except (av.FFmpegError, OSError, ValueError) as error:
        raise OpenError(Notice("live.camera", number=number, detail=reason(error))) from error


# HTTP


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows redirections to the same host only. That host may change to HTTPS."""

    def __init__(self, host: str) -> None:
        self._host = host

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        check_host(newurl, self._host)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def check_host(url: str, host: str) -> None:
    """Raise OpenError unless a URL is one of HTTP and leads to this host."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.hostname != host:
        raise OpenError(Notice("live.other_host", host=hide(parts.hostname or parts.scheme or url)))


class HttpBody(io.RawIOBase):
    """The body of an answer, as a file for FFmpeg. finite: whether the server states its length.

    It can seek if the server also sends parts of the body.
    """

    def __init__(self, url: str, opener: urllib.request.OpenerDirector) -> None:
        super().__init__()
        self._answer: http.client.HTTPResponse = opener.open(url, timeout=OPEN_SECONDS)
        self._opener, self._patient, self._position = opener, False, 0
        self.kind = (self._answer.headers.get_content_type() or "").lower()
        self.finite = self._answer.length is not None
        self._size = self._answer.length or 0
        self._parts = self.finite and self._answer.headers.get("Accept-Ranges", "").lower() == "bytes"
        self.name = urlsplit(url).path.rpartition("/")[2]  # FFmpeg looks at its suffix

    @property
    def url(self) -> str:
        """Where redirections have led."""
        return self._answer.url

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Whether the server sends parts of the body."""
        return self._parts

    def tell(self) -> int:
        """The position of the next byte."""
        return self._position

    @property
    def at_end(self) -> bool:
        """Whether the whole body has been read, and cannot be read again."""
        return self.finite and not self._parts and self._position >= self._size

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a position: close to the next byte by reading, else by another request. FFmpeg also asks for the size."""
        if whence == _AVSEEK_SIZE:
            return self._size
        position = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence] + offset
        while 0 < position - self._position <= _BUFFER and self.read(position - self._position):
            pass
        if self._position != position < self._size:
            self._answer.close()
            request = urllib.request.Request(self.url, headers={"Range": f"bytes={position}-"})
            self._answer = self._opener.open(request, timeout=OPEN_SECONDS)
            if self._answer.status != http.HTTPStatus.PARTIAL_CONTENT:
                raise OSError(errno.ESPIPE, os.strerror(errno.ESPIPE))
            if self._patient:
                self.patient()
        self._position = position
        return position

    def read(self, size: int = -1) -> bytes:
        """Read what has arrived, at least one byte before the end."""
        data = self._answer.read1(size) if self._position < self._size or not self.finite else b""
        self._position += len(data)
        return data

    def close(self) -> None:
        """Close the connection."""
        if not self.closed:
            self._answer.close()
        super().close()

    def patient(self) -> None:
        """Let reading wait: from now on, the capture process decides when the source has stalled."""
        self._patient = True
        fp: Any = self._answer.fp
        raw = getattr(getattr(fp, "raw", None), "_sock", None)
        if raw is not None:
            raw.settimeout(_READ_SECONDS)


def _opener(address: LiveAddress) -> urllib.request.OpenerDirector:
    handlers: list[urllib.request.BaseHandler] = [
        urllib.request.ProxyHandler({}),
        _SameHost(address.host),
        urllib.request.HTTPSHandler(context=ssl.create_default_context()),
    ]
    if address.user is not None:
        logins = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        logins.add_password(None, address.target, address.user, address.password or "")
        root = urljoin(address.target, "/")
        logins.add_password(None, root, address.user, address.password or "")
        handlers += [urllib.request.HTTPDigestAuthHandler(logins), urllib.request.HTTPBasicAuthHandler(logins)]
    return urllib.request.build_opener(*handlers)


def _open_http(address: LiveAddress) -> LiveSource:
    opener = _opener(address)
    try:
        body = HttpBody(address.target, opener)
        if body.kind in _PLAYLIST_TYPES or body.name.lower().endswith((".m3u8", ".m3u")):
            body.close()
            return _open_hls(address, opener)
        form = "mpjpeg" if body.kind == "multipart/x-mixed-replace" else None
        body.patient()
        source = LiveSource(_open(body, form, {"format_whitelist": f"{DEMUXERS},mpjpeg", "protocol_whitelist": "http"}), body)
        if "mp4" in source.container.format.name and body.at_end:
            source.close()
            raise OpenError(Notice("live.index_at_end"), final=True)
        return source
    except urllib.error.HTTPError as error:
        if error.code in (401, 403):
            raise OpenError(Notice("live.login"), login=True) from error
        detail = Notice("live.not_found") if error.code == 404 else Notice("live.refused", detail=f"HTTP {error.code} {error.reason}")
        raise OpenError(detail) from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise OpenError(Notice("live.no_answer", seconds=OPEN_SECONDS)) from error
        raise OpenError(Notice("live.refused", detail=hide(reason(error.reason)) if isinstance(error.reason, OSError) else "")) from error


class Playlist:
    """What is known of a playlist that FFmpeg reads again and again. finite: whether it says that no segment will follow."""

    def __init__(self) -> None:
        self.finite = False

    def see(self, data: bytes) -> None:
        """Look at a part of it. A new reading begins with its first line."""
        self.finite = b"#EXT-X-ENDLIST" in data or (self.finite and not data.startswith(b"#EXTM3U"))

    def close(self) -> None:
        """Do nothing: FFmpeg closes what it reads."""


class PlaylistBody(HttpBody):
    """The text of a playlist, or a segment."""

    def __init__(self, url: str, opener: urllib.request.OpenerDirector, playlist: Playlist) -> None:
        super().__init__(url, opener)
        self._playlist = playlist
        self._is_list = self.kind in _PLAYLIST_TYPES or self.name.lower().endswith((".m3u8", ".m3u"))
        self._tail = b""

    def read(self, size: int = -1) -> bytes:
        """Read what has arrived."""
        data = super().read(size)
        if self._is_list and data:
            self._playlist.see(self._tail + data)
            self._tail = data[-20:]  # the mark may lie on the border of two parts
        return data


def _open_hls(address: LiveAddress, opener: urllib.request.OpenerDirector) -> LiveSource:
    refused: list[OpenError] = []
    playlist = Playlist()

    def open_part(url: str, flags: int, options: dict[str, Any]) -> IO[bytes]:  # noqa: ARG001
        try:
            check_host(url, address.host)
            return PlaylistBody(url, opener, playlist)  # type: ignore[return-value]
        except OpenError as error:
            refused.append(error)
            raise

    try:
        container: InputContainer = av.open(
            address.target,
            format="hls",
            options=_ANALYSIS | _HLS | {"max_pixels": MAX_PIXELS},
            io_open=open_part,
            timeout=(4 * OPEN_SECONDS, _READ_SECONDS),  # several playlists and a segment
            **METADATA,
        )
    except (av.FFmpegError, OSError, SourceError):
        if refused:
            raise refused[0] from None
        raise
    return LiveSource(container, playlist)


# files that grow


class GrowingFile(io.RawIOBase):
    """A file that is read while another program writes it. Reading waits at its end."""

    finite = True

    def __init__(self, path: Path, stopped: Event, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._file = path.open("rb", buffering=0)
        self._stopped = stopped
        self._clock = clock
        self._over = False  # FFmpeg reads several times at the end, and must not wait each time
        self.name = path.name

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read what is there, or wait for more. Returns nothing when the file has not grown for ``FOLLOW_SECONDS``."""
        until = self._clock() + FOLLOW_SECONDS
        while not self._over:
            if data := self._file.read(size):
                return data
            shorter = self._file.tell() > os.fstat(self._file.fileno()).st_size  # another file has replaced its content
            self._over = shorter or self._stopped.wait(0.05) or self._clock() > until
        return b""

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._file.close()
        super().close()
