"""The capture process with cameras and servers that pause, do not answer, lose packets, stop and come back.

Most of these tests wait for real time. They have a file of their own, so that they begin before the files of many tests.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from framefleet.engine.media.live.decoding import LiveDecoder, Lost, Outcome, Shown
from tests.support.live.http_camera import HttpCamera
from tests.support.live.reading import CONNECTING, PAUSING, RUNNING, STALLED, WAITING, Reading, read
from tests.support.live.servers import RtspServer, free_port


def test_hls_goes_on_although_segments_are_left_out(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera, Reading(read(f"{camera.address}/hls/live.m3u8")) as reading:
        reading.until(lambda reading: len(reading.packets) > 50)
        camera.skipped = {int(time.monotonic() - camera.begun) + 5}
        count = len(reading.packets)
        reading.until(lambda reading: len(reading.packets) > count + 75)
        assert reading.states() == [CONNECTING, WAITING, RUNNING]


def test_a_camera_with_a_frame_every_five_seconds_is_not_dead(tmp_path: Path) -> None:
    with HttpCamera(tmp_path, rate=0.2) as camera, Reading(read(f"{camera.address}/mjpeg")) as reading:
        reading.until(lambda reading: len(reading.packets) == 3)
        assert reading.states() == [CONNECTING, WAITING, RUNNING]
        steps = [after.seconds - before.seconds for before, after in pairwise(reading.packets)]
        assert all(4.5 < step < 6.5 for step in steps)


def test_a_refused_connection_is_tried_again_after_pauses() -> None:
    with Reading(read(f"rtsp://127.0.0.1:{free_port()}/cam"), retries=2) as reading:
        reading.until(lambda reading: reading.ended is not None)
        assert reading.states() == [CONNECTING, PAUSING, CONNECTING, PAUSING, CONNECTING]
        begun = [change.seconds for change in reading.changes if change.state is CONNECTING]
        assert begun[1] - begun[0] >= 1.0  # no tight loop
        assert begun[2] - begun[1] >= 2.0
        assert reading.ended is not None
        assert reading.ended.error is not None
        assert (reading.ended.error.code, reading.ended.error.fields["count"]) == ("live.gave_up", 3)


def test_a_stop_while_the_first_connection_waits() -> None:
    with socket.socket() as silent:  # accepts, and never answers
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with Reading(read(f"rtsp://127.0.0.1:{silent.getsockname()[1]}/cam")) as reading:
            reading.until(lambda reading: reading.states() == [CONNECTING])
            assert reading.stop().error is None
            assert reading.states() == [CONNECTING]


def test_a_source_that_never_answers_is_tried_again() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with Reading(read(f"rtsp://127.0.0.1:{silent.getsockname()[1]}/cam"), retries=0) as reading:
            reading.until(lambda reading: reading.ended is not None)
            assert reading.ended is not None
            assert reading.ended.error is not None
            assert reading.ended.error.fields["why"].code == "live.no_answer"


def test_garbage_instead_of_an_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            client, _ = server.accept()
            with client:
                client.sendall(b"\x00\xff garbage \r\n\r\n" * 1000)

        threading.Thread(target=answer, daemon=True).start()
        with Reading(read(f"rtsp://127.0.0.1:{server.getsockname()[1]}/cam"), retries=0) as reading:
            reading.until(lambda reading: reading.ended is not None)
            assert reading.ended is not None
            assert reading.ended.error is not None
            assert reading.ended.error.code == "live.gave_up"


@pytest.mark.parametrize("codec", ["h264", "hevc", "mjpeg"])
def test_rtsp(codec: str) -> None:
    with RtspServer(codec=codec, user="me", password="p@:word", audio=True) as server:
        with Reading(read(server.address.replace("//", "//me:p@:word@"))) as reading:
            reading.until(lambda reading: len(reading.packets) > 30)
            ended = reading.stop()
        assert reading.states() == [CONNECTING, WAITING, RUNNING]
        assert reading.epochs[0].format.codec == codec
        assert reading.packets[-1].number == ended.frames - 1
        with Reading(read(server.address.replace("//", "//me:wrong@"))) as reading:
            reading.until(lambda reading: reading.ended is not None)
            assert reading.ended is not None
            assert reading.ended.error is not None
            assert reading.ended.error.code == "live.login"
            assert "wrong" not in repr(reading.changes)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_rtsp_over_tls(tmp_path: Path) -> None:
    certificate = tmp_path / "camera.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=camera", "-keyout", certificate, "-out", "-"]
    made = subprocess.run(command, capture_output=True, check=True).stdout
    certificate.write_bytes(certificate.read_bytes() + made)
    with RtspServer(certificate=str(certificate)) as server, Reading(read(server.address.replace("rtsp:", "rtsps:"))) as reading:
        reading.more(25)
        assert reading.states() == [CONNECTING, WAITING, RUNNING]


def test_a_read_that_hangs_after_a_reconnection_ends_the_process_for_another_attempt() -> None:
    with RtspServer(group=5) as server, Reading(read(server.address)) as reading:
        reading.more(25)
        server.stop()
        reading.until(lambda reading: PAUSING in reading.states())
        server.start()
        reading.next_state(RUNNING, 4)
        server.command("hold on")
        reading.until(lambda reading: reading.ended is not None)
        assert reading.states()[-1] is STALLED
        assert reading.ended is not None
        assert reading.ended.again
        assert 3.0 <= reading.ended.limit < 15.0, "the time without a connection does not count as an interval between frames"


def test_a_server_that_restarts_with_another_size_begins_an_epoch() -> None:
    with RtspServer() as server, Reading(read(server.address)) as reading:
        reading.until(lambda reading: len(reading.packets) > 20)
        server.stop()
        reading.until(lambda reading: PAUSING in reading.states())
        server.start(width=320, height=240)
        reading.until(lambda reading: len(reading.epochs) == 2 or reading.ended is not None)
        count = len(reading.packets)
        reading.until(lambda reading: len(reading.packets) > count + 10)
        assert [(epoch.format.width, epoch.format.height) for epoch in reading.epochs] == [(640, 360), (320, 240)]
        assert reading.epochs[1].reason.code == "live.reconnected"
        numbers = [packet.number for packet in reading.packets]
        assert numbers == [*range(len(numbers))]
        times = [packet.seconds for packet in reading.packets]
        assert times == sorted(times)


def test_lost_packets_cost_frames_and_no_picture_is_grey() -> None:
    with RtspServer(group=25, bitrate=4000) as server, Reading(read(server.address)) as reading:
        reading.more(25)
        server.command("lose 0.02")
        decoder = LiveDecoder()
        decoder.begin(reading.epochs[0])
        outcomes: list[Outcome] = []
        decoded = lost = 0
        while not lost or decoded < 225:  # frames from before the command may wait on a busy machine
            reading.more(100)
            outcomes += [outcome for packet in reading.packets[decoded:] for outcome in decoder.decode(packet)]
            decoded, lost = len(reading.packets), sum(outcome.count for outcome in outcomes if isinstance(outcome, Lost))
        server.command("lose 0")
        reading.more(60)
        assert reading.states() == [CONNECTING, WAITING, RUNNING]
        outcomes += [outcome for packet in reading.packets[decoded:] for outcome in decoder.decode(packet)] + decoder.flush()
    shown = [outcome for outcome in outcomes if isinstance(outcome, Shown)]
    lost = sum(outcome.count for outcome in outcomes if isinstance(outcome, Lost))
    assert len(shown) + lost == len(reading.packets)
    assert lost > 0
    assert len(shown) > 50
    for outcome in shown:  # a white ball on black
        grey = outcome.frame.to_ndarray(format="gray")
        assert ((grey > 60) & (grey < 200)).mean() < 0.02


def test_a_slow_server_is_not_lost() -> None:
    with RtspServer(group=5) as server, Reading(read(server.address)) as reading:
        reading.more(25)
        server.command("slow 0.15")  # for each packet, of which a frame has some
        begun = time.monotonic()
        reading.more(20)
        assert time.monotonic() - begun > 2.0
        server.command("slow 0")
        reading.more(50)
        assert reading.states() == [CONNECTING, WAITING, RUNNING]


def test_a_silent_source_ends_the_process_for_another_attempt() -> None:
    with RtspServer() as server, Reading(read(server.address)) as reading:
        reading.until(lambda reading: len(reading.packets) > 20)
        server.command("hold on")
        reading.until(lambda reading: reading.ended is not None and reading.connection is None)
        assert reading.states()[-1] is STALLED
        assert reading.ended is not None
        assert reading.ended.again
        assert 3.0 <= reading.ended.limit < 15.0
        assert len(reading.packets) == reading.ended.frames


def test_a_decoder_that_comes_late_begins_with_the_last_keyframe() -> None:
    with RtspServer(group=50) as server, Reading(read(server.address), attach=False) as reading:
        reading.until(lambda reading: reading.received > 70)
        reading.attach()
        reading.until(lambda reading: len(reading.packets) > 5)
        first = reading.packets[0]
        assert first.keyframe
        assert first.number >= 25
        assert reading.epochs[0].number == first.number
