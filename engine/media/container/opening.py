"""Opens video files safely.

A video file can never make FFmpeg open another file or a network connection. Playlists, concat scripts, image sequences and devices are
not among the allowed formats, and the only allowed protocol is ``file``.
"""

import os
from pathlib import Path
from typing import Any

import av
from av.container import InputContainer

from framefleet.engine.errors import SourceError
from framefleet.engine.media.sources import PLAYLIST_SUFFIXES, missing

av.logging.set_level(None)  # a log call from a decoder thread can deadlock on the interpreter lock

MAX_SIDE = 16384
"""Maximum width and height, pixels. A forged header could otherwise make the decoder use all memory."""

_DEMUXERS = (
    "mov,matroska,webm,avi,asf,flv,mpegts,mpeg,mpegvideo,m4v,h264,hevc,vvc,obu,av1,ivf,mjpeg,mxf,nut,ogg,gif,apng,dv,rm,wtv,gxf,pva,dhav,"
    "vc1,vc1test,h261,h263,dirac,cavsvideo,avs2,avs3,yuv4mpegpipe,"
    "aac,ac3,eac3,aiff,amr,ape,au,caf,dts,flac,mp3,tta,w64,wav,wv"  # sound: opened only to report that there is no video track
)
MAX_PIXELS = str(MAX_SIDE * MAX_SIDE)
"""An option of FFmpeg's decoders."""

_OPTIONS = {"protocol_whitelist": "file", "format_whitelist": _DEMUXERS, "max_pixels": MAX_PIXELS}
_METADATA: Any = {"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}  # PyAV 19 removed the option


def check_readable(path: Path) -> None:
    """Check that there is a file with content at a path. Raises SourceError if it is missing, not a regular file, unreadable or empty."""
    try:
        if not path.exists():
            raise SourceError(missing(path))
        if not path.is_file():
            raise SourceError(f"{path} is not a regular file: give a video, a picture or a folder of them")
        with path.open("rb") as file:
            empty = not os.fstat(file.fileno()).st_size  # reading some of the system's files, which have no size, waits for ever
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}; check the file's permissions") from error
    if empty:
        raise SourceError(f"{path} is empty: nothing was written to it, or a download did not finish")


def open_container(path: Path) -> InputContainer:
    """Open a video file of an allowed format for reading. Raises SourceError if FFmpeg cannot read it, or its format is not allowed."""
    try:
        # FFmpeg cannot mistake an absolute path for a protocol ("concat:…", "pipe:0")
        return open_local(str(path.absolute()))
    except (av.FFmpegError, ValueError, OSError) as error:
        if _is_playlist(path):
            raise SourceError(f"{path} is a playlist or a text, not a video: give the videos themselves") from error
        raise SourceError(
            f"{path} is not a video that can be read ({reason(error)}): it may be damaged, unfinished or of another kind"
        ) from error


def open_local(url: str) -> InputContainer:
    """Open a local video file of an allowed format for reading.

    Raises:
        av.FFmpegError, ValueError, OSError: the URL is not a local file, its format is not allowed, or FFmpeg cannot read it.
    """
    container: InputContainer = av.open(url, options=_OPTIONS, **_METADATA)
    return container


def _is_playlist(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    return path.suffix.lower() in PLAYLIST_SUFFIXES or head.startswith((b"#EXTM3U", b"ffconcat", b"[playlist]", b"v=0"))


def reason(error: BaseException) -> str:
    """Return the text of an FFmpeg error, without its number and function."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
