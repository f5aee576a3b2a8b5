"""A real web server on this machine whose pages can fail in chosen ways."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from framefleet.engine.model.describe import describe
from framefleet.engine.model.random_weights import random_weights
from framefleet.engine.model.registry.catalogue import ModelEntry, Purpose, RemoteFile
from tests.support.models import TINY_CFG
from tools.darknet_weights import write_weights

STEP = 2048
"""Bytes that the server sends at a time."""


@dataclass
class Page:
    """The response for one path.

    length: announced instead of the true one. mark: the ETag. ranges: whether Range requests work. breaks: numbers of bytes after which
    the next responses are cut off, one each. stall: number of bytes after which every response stops without closing the connection;
    -1 = before the headers. pause: seconds between steps.
    """

    body: bytes = b""
    status: int = 200
    content_type: str = "application/octet-stream"
    length: int | None = None
    mark: str | None = '"one"'
    ranges: bool = True
    breaks: list[int] = field(default_factory=list)
    stall: int | None = None
    pause: float = 0.0
    redirect: str | None = None
    chunked: bool = False


class Site:
    """A web site. address: its URL. pages: by path. requests: path and headers of every request, in order. sent: bytes of bodies sent."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.sent = 0
        self.closing = threading.Event()
        self.stalled = threading.Event()
        self.server = _Server(("127.0.0.1", 0), _Handler)
        self.server.site = self
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def ranges(self, path: str) -> list[str | None]:
        """The Range header of each request for a path."""
        return [headers.get("Range") for asked, headers in self.requests if asked == path]


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    site: Site

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore closed connections: tests make clients close them."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        site = self.server.site
        site.requests.append((self.path, dict(self.headers.items())))
        page = site.pages.get(self.path, Page(b"not here", 404, "text/plain"))
        if page.stall == -1:
            self._fall_silent()
            return
        start = self._start(page)
        body = page.body[start:]
        if page.redirect:
            self.send_response(302)
            self.send_header("Location", page.redirect)
        elif start >= len(page.body) > 0:
            self.send_response(416)
            body = b""
        elif start:
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(page.body) - 1}/{len(page.body)}")
        else:
            self.send_response(page.status)
        if page.mark:
            self.send_header("ETag", page.mark)
        self.send_header("Content-Type", page.content_type)
        if page.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(body) if page.length is None else page.length))
        self.end_headers()
        self._send(page, body)

    def _start(self, page: Page) -> int:
        asked = self.headers.get("Range")
        if asked is None or page.status != 200 or not page.ranges or self.headers.get("If-Range") != page.mark:
            return 0
        return int(asked.removeprefix("bytes=").removesuffix("-"))

    def _send(self, page: Page, body: bytes) -> None:
        limit = page.breaks.pop(0) if page.breaks else len(body)
        for offset in range(0, min(limit, len(body)), STEP):
            step = body[offset : min(offset + STEP, limit)]
            if page.stall is not None and offset >= page.stall:
                self._fall_silent()
                return
            self.wfile.write(b"%x\r\n%s\r\n" % (len(step), step) if page.chunked else step)
            self.server.site.sent += len(step)
            if page.pause:
                self.server.site.closing.wait(page.pause)
        if limit < len(body) or page.length is not None:
            self._hang_up()
        elif page.chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _fall_silent(self) -> None:
        self.server.site.stalled.set()
        self.server.site.closing.wait()
        self._hang_up()

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def running_site() -> Iterator[Site]:
    """A server that listens until the block ends."""
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        site.server.shutdown()
        thread.join()
        site.server.server_close()


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, as the catalogue has it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def publish_tiny(site: Site, folder: Path, name: str = "tiny", sha256: str | None = None, cfg: Path = TINY_CFG) -> ModelEntry:
    """Publish the tiny detector, or another cfg, with random weights. Returns its catalogue entry."""
    description = describe(cfg)
    weights = folder / f"published-{name}.weights"
    write_weights(weights, random_weights(description, "random:1"))
    site.pages[f"/{name}.cfg"] = Page(cfg.read_bytes(), content_type="text/plain", mark=None)
    site.pages[f"/{name}.weights"] = Page(weights.read_bytes())
    return ModelEntry(
        name=name,
        title=name.title(),
        purpose=Purpose.FAST,
        note="For tests.",
        side=96,
        layers=len(description.layers),
        parameters=description.float_count,
        gflops=description.flops / 1e9,
        ap=1.0,
        ap50=2.0,
        cfg=RemoteFile(f"{site.address}/{name}.cfg", digest_of(cfg)),
        weights=RemoteFile(f"{site.address}/{name}.weights", sha256 or digest_of(weights)),
    )
