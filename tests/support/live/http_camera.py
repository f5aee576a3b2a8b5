"""An HTTP server on loopback that stands for a camera or a recorder: MJPEG, HLS and a file, with faults."""

from __future__ import annotations

import base64
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

import cv2

from tests.support.media import make_video, numbered

BOUNDARY = "frame"

LEADS = {
    "/leads.m3u8": "#EXT-X-TARGETDURATION:1\n#EXTINF:1.0,\n{elsewhere}",
    "/nested.m3u8": "#EXT-X-STREAM-INF:BANDWIDTH=1000000\n{elsewhere}",
    "/key.m3u8": '#EXT-X-TARGETDURATION:1\n#EXT-X-KEY:METHOD=AES-128,URI="{elsewhere}"\n#EXTINF:1.0,\n/hls/part1.ts\n#EXT-X-ENDLIST',
    "/map.m3u8": '#EXT-X-TARGETDURATION:1\n#EXT-X-MAP:URI="{elsewhere}"\n#EXTINF:1.0,\n/hls/part1.ts\n#EXT-X-ENDLIST',
    "/hls/master.m3u8": "#EXT-X-STREAM-INF:BANDWIDTH=1000000\nlive.m3u8",
}
"""Playlists that lead to other places, without their first lines."""


class HttpCamera:
    """Serves on a port of 127.0.0.1 until the block ends.

    ``/mjpeg``: pictures without end. ``/hls/live.m3u8``: a playlist to which segments are added. ``/file.ts``, ``/file.mp4``: a whole file;
    the MP4 has its index at its end. ``/parts/file.mp4``: the same from a server that also sends parts of files.
    ``/moved/PLACE``: redirected to ``elsewhere``. ``/leads.m3u8``: a playlist whose segment is ``elsewhere``. ``/nested.m3u8``: whose media
    playlist is ``elsewhere``. ``/key.m3u8``, ``/map.m3u8``: whose key or first part is. ``/hls/master.m3u8``: with the media playlist
    ``live.m3u8``.

    rate: pictures/s. login: "user:password" that is asked for. skipped: segments that the playlist leaves out. last: that ends it.
    requests: the paths that were asked for, and their Authorization headers.
    """

    def __init__(self, folder: Path, rate: float = 25.0, login: str = "", size: tuple[int, int] = (320, 240)) -> None:
        self.rate, self.login, self.size = rate, login, size
        self.elsewhere = "http://localhost:9/secret"
        self.requests: list[tuple[str, str | None]] = []
        self.closing = threading.Event()
        self.begun = time.monotonic()
        self.file = make_video(folder / "served.ts", 50, size, 25)
        self.mp4 = make_video(folder / "served.mp4", 250, size, 25)
        self.segments = [make_video(folder / f"part{number}.ts", 25, size, 25, gop=25).read_bytes() for number in range(1)]
        self.skipped: set[int] = set()
        self.last: int | None = None  # the playlist ends after this segment
        camera = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                camera.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass  # the reader has gone

        self._server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        path, given = request.path, request.headers.get("Authorization")
        self.requests.append((path, given))
        wanted = f"Basic {base64.b64encode(self.login.encode()).decode()}"
        if self.login and given != wanted:
            request.send_response(401)
            request.send_header("WWW-Authenticate", 'Basic realm="camera"')
            request.send_header("Content-Length", "0")
            request.end_headers()
        elif path.partition("?")[0] == "/mjpeg":
            self._pictures(request)
        elif path.startswith("/moved/"):
            request.send_response(302)
            request.send_header("Location", self.elsewhere)
            request.send_header("Content-Length", "0")
            request.end_headers()
        elif path == "/file.ts":
            _send(request, "video/mp2t", self.file.read_bytes())
        elif path in ("/file.mp4", "/parts/file.mp4"):
            _send(request, "video/mp4", self.mp4.read_bytes(), parts=path.startswith("/parts/"))
        elif path in LEADS:
            text = LEADS[path].format(elsewhere=self.elsewhere)
            _send(request, "application/vnd.apple.mpegurl", f"#EXTM3U\n#EXT-X-VERSION:7\n{text}\n".encode())
        elif path == "/hls/live.m3u8":
            _send(request, "application/vnd.apple.mpegurl", self._playlist().encode())
        elif path.startswith("/hls/part"):
            _send(request, "video/mp2t", self.segments[0])
        else:
            request.send_error(404)

    def _playlist(self) -> str:
        now = int(time.monotonic() - self.begun) + 4  # one segment each second
        last = now - 1 if self.last is None else min(now - 1, self.last)
        parts = [number for number in range(last - 2, last + 1) if number not in self.skipped]
        entries = "".join(f"#EXT-X-DISCONTINUITY\n#EXTINF:1.0,\npart{number}.ts\n" for number in parts)
        entries += "#EXT-X-ENDLIST\n" if last == self.last else ""
        return f"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:{parts[0]}\n{entries}"

    def _pictures(self, request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Type", f"multipart/x-mixed-replace;boundary={BOUNDARY}")
        request.end_headers()
        number = 0
        while not self.closing.wait(1 / self.rate):
            done, data = cv2.imencode(".jpg", numbered(number % 250, self.size)[:, :, ::-1])
            assert done
            head = f"--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(data)}\r\n\r\n".encode()
            request.wfile.write(head + data.tobytes() + b"\r\n")
            number += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


def _send(request: BaseHTTPRequestHandler, kind: str, body: bytes, parts: bool = False) -> None:
    wanted = request.headers.get("Range") if parts else None
    first = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
    request.send_response(206 if wanted else 200)
    request.send_header("Content-Type", kind)
    request.send_header("Content-Length", str(len(body) - first))
    if parts:
        request.send_header("Accept-Ranges", "bytes")
        request.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
    request.end_headers()
    request.wfile.write(body[first:])
