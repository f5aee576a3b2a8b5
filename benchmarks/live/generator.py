"""Replays a video in real time and without end to any number of HTTP clients, as MPEG-TS with times that go on. A program of its own.

``python -m benchmarks.live.generator VIDEO FPS`` prints its port and serves until its input ends. Nothing is encoded, so that it needs
little of the machine that is measured. Each client begins at another frame, as cameras do.
"""

from __future__ import annotations

import argparse
import io
import sys
import threading
import time
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import av


class Sink(io.RawIOBase):
    """What the muxer writes."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[bytes] = []

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Keep the bytes."""
        self.parts.append(bytes(data))
        return len(data)


def serve(path: str, rate: int) -> None:
    """Serve until standard input ends. rate: frames/s."""
    with av.open(path) as container:
        stream = container.streams.video[0]
        codec = stream.codec_context
        packets = [(bytes(packet), packet.is_keyframe) for packet in container.demux(stream) if packet.size]
    keys = [number for number, (_, key) in enumerate(packets) if key]
    lock, clients = threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with lock:
                clients[0] += 1
                first = keys[clients[0] % len(keys)]
                phase = clients[0] * 0.37 % 1
            self.send_response(200)
            self.send_header("Content-Type", "video/mp2t")
            self.end_headers()
            sink = Sink()
            output = av.open(sink, "w", format="mpegts", options={"flush_packets": "1"})
            target = output.add_stream("h264", rate=rate)
            target.width, target.height, target.pix_fmt = codec.width, codec.height, "yuv420p"
            target.codec_context.extradata = codec.extradata
            begun, number = time.monotonic() + phase / rate, 0
            while True:
                data, key = packets[(first + number) % len(packets)]
                packet = av.Packet(data)
                packet.pts = packet.dts = number * 90_000 // rate
                packet.time_base, packet.stream, packet.is_keyframe = Fraction(1, 90_000), target, key
                output.mux(packet)
                wait = begun + number / rate - time.monotonic()
                if wait > 0:
                    time.sleep(wait)
                self.wfile.write(b"".join(sink.parts))
                sink.parts.clear()
                number += 1

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass  # the client has gone

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("video")
    parser.add_argument("fps", type=int)
    arguments = parser.parse_args()
    serve(arguments.video, arguments.fps)
