"""Servers on loopback that stand for cameras: RTSP by GStreamer, HTTP by Python."""

from __future__ import annotations

import json
import socket
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, Self

import pytest

SYSTEM_PYTHON = "/usr/bin/python3"
PROGRAM = Path(__file__).with_name("rtsp_server.py")
_NEEDED = """
import gi
gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gst, GstRtspServer
Gst.init(None)
missing = [name for name in ("x264enc", "x265enc", "rtph264pay", "h265parse") if Gst.ElementFactory.find(name) is None]
raise SystemExit(", ".join(missing) or 0)
"""


@cache
def why_no_gstreamer() -> str | None:
    """Why the RTSP server cannot run on this machine; None if it can."""
    try:
        done = subprocess.run([SYSTEM_PYTHON, "-W", "ignore", "-c", _NEEDED], capture_output=True, text=True, timeout=60, check=False)
    except OSError as error:
        return str(error)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["?"])[-1]


def need_gstreamer() -> None:
    """Skip the test where GStreamer's RTSP server or an encoder is missing."""
    if (why := why_no_gstreamer()) is not None:
        pytest.skip(f"GStreamer's RTSP server cannot run here: {why}")


def free_port() -> int:
    """A port of this machine that nobody uses now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class RtspServer:
    """An RTSP server in a process of its own. options: see ``rtsp_server.DEFAULTS``."""

    def __init__(self, port: int | None = None, **options: Any) -> None:
        need_gstreamer()
        self.port = free_port() if port is None else port
        self.options = options
        self._process: subprocess.Popen[str] | None = None
        self.start()

    def start(self, **options: Any) -> None:
        """Start the server again, with these options changed."""
        self.options |= options
        self._process = subprocess.Popen(
            [SYSTEM_PYTHON, str(PROGRAM), str(self.port), json.dumps(self.options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ok\n"

    def stop(self) -> None:
        """End the server's process, and with it all connections."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def command(self, text: str) -> None:
        """Send a command, see ``rtsp_server``, and wait until it is obeyed."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{text}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "ok\n"

    @property
    def address(self) -> str:
        """The address without user and password."""
        return f"rtsp://127.0.0.1:{self.port}/cam"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
