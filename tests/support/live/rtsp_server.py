"""An RTSP server for tests, of GStreamer: ``rtsp_server.py PORT OPTIONS`` serves at rtsp://127.0.0.1:PORT/cam until its input ends.

A program of its own for the system's Python, which has GStreamer's bindings. OPTIONS: JSON, see ``DEFAULTS``. Commands, one a line on
standard input, each answered with "ok":

``hold on|off``   keep the connections, and send nothing
``lose SHARE``    lose this share of the packets, 0..1
``slow SECONDS``  wait so long before each packet
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from typing import Any

DEFAULTS = {
    "codec": "h264",  # or hevc, mjpeg
    "width": 640,
    "height": 360,
    "rate": 25,
    "group": 25,  # frames from keyframe to keyframe
    "user": "",
    "password": "",
    "bitrate": 1500,  # kbit/s
    "audio": False,
    "certificate": "",  # a file with certificate and key: then rtsps://
}

ENCODERS = {
    "h264": "x264enc tune=zerolatency speed-preset=ultrafast key-int-max={group} bitrate={bitrate} threads=1 ! rtph264pay name=pay0 pt=96"
    " config-interval=-1",
    "hevc": "x265enc tune=zerolatency speed-preset=ultrafast key-int-max={group} bitrate={bitrate}"
    " option-string=pools=1:frame-threads=1:log-level=none ! h265parse ! rtph265pay name=pay0 pt=96 config-interval=-1",
    "mjpeg": "jpegenc ! rtpjpegpay name=pay0 pt=26",
}


def launch(options: dict[str, Any]) -> str:
    """The description of the pipeline."""
    size = f"video/x-raw,width={options['width']},height={options['height']},framerate={options['rate']}/1,format=I420"
    audio = " audiotestsrc is-live=true ! alawenc ! rtppcmapay name=pay1 pt=8" if options["audio"] else ""
    encoder = ENCODERS[options["codec"]].format_map(options)
    return f"( videotestsrc is-live=true pattern=ball ! {size} ! {encoder}{audio} )"


class Server:
    """The server, and the faults of its network."""

    def __init__(self, port: int, options: dict[str, Any]) -> None:
        self.held = False
        self.share = 0.0
        self.delay = 0.0
        server = GstRtspServer.RTSPServer()
        server.set_address("127.0.0.1")
        server.set_service(str(port))
        factory = GstRtspServer.RTSPMediaFactory()
        factory.set_launch(launch(options))
        factory.set_shared(True)
        factory.connect("media-configure", self._configure)
        if options["user"] or options["certificate"]:
            self._ask_for_login(server, factory, options)
        server.get_mount_points().add_factory("/cam", factory)
        if server.attach(None) == 0:
            raise SystemExit(f"port {port} is in use")
        self._server = server

    def _ask_for_login(self, server: Any, factory: Any, options: dict[str, Any]) -> None:
        auth, token, permissions = GstRtspServer.RTSPAuth(), GstRtspServer.RTSPToken(), GstRtspServer.RTSPPermissions()
        token.set_string("media.factory.role", "user")
        if options["user"]:
            auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
            auth.add_digest(options["user"], options["password"], token)
        else:
            auth.set_default_token(token)
        if options["certificate"]:
            auth.set_tls_certificate(Gio.TlsCertificate.new_from_file(options["certificate"]))
        server.set_auth(auth)
        permissions.add_permission_for_role("user", "media.factory.access", True)
        permissions.add_permission_for_role("user", "media.factory.construct", True)
        factory.set_permissions(permissions)

    def _configure(self, _: Any, media: Any) -> None:
        pad = media.get_element().get_by_name_recurse_up("pay0").get_static_pad("src")
        pad.add_probe(Gst.PadProbeType.BUFFER, self._pass_packet)
        pad.add_probe(Gst.PadProbeType.BUFFER_LIST, self._pass_list)

    def _pass_packet(self, _: Any, info: Any) -> Any:  # noqa: ARG002
        time.sleep(self.delay)
        return Gst.PadProbeReturn.DROP if self.held or random.random() < self.share else Gst.PadProbeReturn.OK

    def _pass_list(self, _: Any, info: Any) -> Any:
        time.sleep(self.delay)
        packets = info.get_buffer_list()
        lost = self.held or any(random.random() < self.share for _ in range(packets.length()))
        return Gst.PadProbeReturn.DROP if lost else Gst.PadProbeReturn.OK

    def obey(self, words: list[str]) -> bool:
        """Obey a command, in GLib's thread."""
        match words:
            case ["hold", state]:
                self.held = state == "on"
            case ["lose", share]:
                self.share = float(share)
            case ["slow", seconds]:
                self.delay = float(seconds)
        print("ok", flush=True)
        return False


def main() -> None:
    """Serve until standard input ends."""
    loop = GLib.MainLoop()
    server = Server(int(sys.argv[1]), DEFAULTS | json.loads(sys.argv[2]))

    def read() -> None:
        for line in sys.stdin:
            GLib.idle_add(server.obey, line.split())
        loop.quit()

    threading.Thread(target=read, daemon=True).start()
    print("ok", flush=True)
    loop.run()


if __name__ == "__main__":
    import gi

    for name in ("Gst", "GstRtsp", "GstRtspServer"):
        gi.require_version(name, "1.0")
    from gi.repository import Gio, GLib, Gst, GstRtsp, GstRtspServer

    Gst.init(None)
    main()
