"""Files that pose as videos: playlists, scripts, devices, pipes. They open no connection and no other file, and nothing waits for them."""

from __future__ import annotations

import ctypes
import os
import select
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from framefleet.engine.media.sources import VIDEO_SUFFIXES
from tests.support.faults.decoding import Decoding
from tests.support.media import make_video

OPENED, READ = 0x20, 0x01  # IN_OPEN, IN_ACCESS of inotify
SUFFIXES = ("mp4", *(pytest.param(suffix, marks=pytest.mark.slow) for suffix in ("mkv", "avi", "ts", "mov", "webm")))


@pytest.fixture(scope="module")
def decoding() -> Iterator[Decoding]:
    with Decoding() as process:
        yield process


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """A port that notices connections."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@contextmanager
def watched(path: Path) -> Iterator[list[int]]:
    """Collect the accesses to a file while the context lasts (Linux's inotify)."""
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = library.inotify_init1(os.O_NONBLOCK)
    assert descriptor >= 0
    seen: list[int] = []
    try:
        assert library.inotify_add_watch(descriptor, os.fsencode(path), OPENED | READ) >= 0
        yield seen
        while select.select([descriptor], [], [], 0)[0]:
            content = os.read(descriptor, 4096)
            seen += [struct.unpack_from("iIII", content, place)[1] for place in range(0, len(content), 16)]
    finally:
        os.close(descriptor)


def playlists(other: str) -> dict[str, str]:
    """Texts that name another file or address, by format."""
    return {
        "m3u8": f"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{other}\n#EXT-X-ENDLIST\n",
        "m3u8 map": f'#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXT-X-MAP:URI="{other}"\n#EXTINF:9,\n{other}\n#EXT-X-ENDLIST\n',
        "master": f"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9\n{other}\n",
        "key": f'#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXT-X-KEY:METHOD=AES-128,URI="{other}"\n#EXTINF:9,\n{other}\n#EXT-X-ENDLIST\n',
        "ffconcat": f"ffconcat version 1.0\nfile '{other}'\n",
        "concat": f"file '{other}'\n",
        "concat options": f"ffconcat version 1.0\nfile '{other}'\noption safe 0\nduration 1\n",
        "pls": f"[playlist]\nFile1={other}\nNumberOfEntries=1\n",
        "asx": f'<asx version="3.0"><entry><ref href="{other}"/></entry></asx>',
        "xspf": f'<?xml version="1.0"?><playlist><trackList><track><location>{other}</location></track></trackList></playlist>',
        "mpd": f'<?xml version="1.0"?><MPD><Period><AdaptationSet><Representation><BaseURL>{other}</BaseURL></Representation>'
        "</AdaptationSet></Period></MPD>",
        "cue": f'FILE "{other}" WAVE\n  TRACK 01 AUDIO\n    INDEX 01 00:00:00\n',
        "sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\n",
        "smil": f'<smil><body><video src="{other}"/></body></smil>',
        "avisynth": f'AVISource("{other}")\n',
        "ffmetadata": f";FFMETADATA1\ntitle={other}\n",
        "webvtt": f"WEBVTT\n\n00:00.000 --> 00:01.000\n{other}\n",
        "vobsub": f"# VobSub index file, v7\nid: en, index: 0\ntimestamp: 00:00:00:000, filepos: 0\n# {other}\n",
    }


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_playlists_and_scripts(suffix: str, decoding: Decoding, server: socket.socket, tmp_path: Path) -> None:
    other = make_video(tmp_path / "other.mp4", 10, (96, 64))
    port = server.getsockname()[1]
    protocols = ("http://", "https://", "tcp://", "rtsp://", "rtmp://", "ftp://")
    addresses = [str(other), "other.mp4", f"file:{other}", f"concat:{other}", f"subfile,,start,0,end,0,,:{other}", f"crypto:{other}"]
    addresses += [f"{protocol}127.0.0.1:{port}/a.mp4" for protocol in protocols]
    tried = 0
    with watched(other) as accesses:
        for address in addresses:
            for name, text in playlists(address).items():
                path = tmp_path / f"posing.{suffix}"
                path.write_text(text)
                result = decoding.decode(path)
                assert result.error, f"{name} with {address}"
                assert str(path) in result.error
                tried += 1
    assert not accesses, "the other file was opened"
    assert not select.select([server], [], [], 0)[0], "a connection was made"
    print(f"{tried} files")


def test_names_that_are_protocols_or_patterns(decoding: Decoding, server: socket.socket, tmp_path: Path) -> None:
    """FFmpeg reads such names as other files, addresses or sequences of pictures."""
    other = make_video(tmp_path / "other.mp4", 10, (96, 64))
    content = other.read_bytes()
    port = server.getsockname()[1]
    names = [f"http:127.0.0.1:{port}", f"tcp:127.0.0.1:{port}", "concat:other.mp4|other.mp4", "pipe:0", "data:,a.mp4", "fd:0", "a%03d.mp4"]
    names += ["*.mp4", "subfile,,start,0,end,9,,:other.mp4", "-i.mp4", "async:other.mp4", "cache:other.mp4", "a\nb.mp4", "lavfi:testsrc"]
    with watched(other) as accesses:
        for name in names:
            path = tmp_path / name
            path.write_bytes(content)
            assert decoding.decode(path).frames == 10, f"{name} is the file with this name"
    assert not accesses
    assert not select.select([server], [], [], 0)[0], "a connection was made"


def test_a_movie_whose_data_is_in_another_file(decoding: Decoding, tmp_path: Path) -> None:
    """QuickTime's data references name another file (ISO 14496-12, 8.7.2)."""
    other = make_video(tmp_path / "other.mp4", 10, (96, 64))
    content = bytearray(other.read_bytes())
    place = content.index(b"url \0\0\0\1")
    content[place : place + 8] = b"url \0\0\0\0"
    path = tmp_path / "reference.mov"
    path.write_bytes(content)
    with watched(other) as accesses:
        decoding.decode(path)
    assert not accesses


def test_devices_pipes_and_links_to_them(decoding: Decoding, tmp_path: Path) -> None:
    pipe, listening = tmp_path / "pipe", tmp_path / "socket"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(listening))
        targets = [Path("/dev/zero"), Path("/dev/urandom"), Path("/dev/full"), Path("/dev/stdin"), Path("/dev/tty"), Path("/dev/null")]
        targets += [pipe, listening, Path("/proc/kmsg"), tmp_path / "loop.mp4", tmp_path / "nothing"]
        (tmp_path / "loop.mp4").symlink_to(tmp_path / "loop.mp4")
        for number, target in enumerate(targets):
            for suffix in ("mp4", "jpg"):
                link = tmp_path / f"{number}.{suffix}"
                link.symlink_to(target)
                for path in (link, target):
                    result = decoding.decode(path)
                    assert result.error, f"{path}, a link to {target}"
                    assert result.seconds < 5, "of processor time"
                    assert result.peak < 1024


def test_every_suffix_is_tried_as_a_playlist(decoding: Decoding, tmp_path: Path) -> None:
    other = make_video(tmp_path / "other.mp4", 10, (96, 64))
    with watched(other) as accesses:
        for suffix in sorted(VIDEO_SUFFIXES):
            for name in ("m3u8", "ffconcat"):
                path = tmp_path / f"posing{suffix}"
                path.write_text(playlists(str(other))[name])
                assert decoding.decode(path).error, f"{name} as {suffix}"
    assert not accesses
