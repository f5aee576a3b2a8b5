"""Live sources decoded by NVDEC: the frames are FFmpeg's, nothing damaged is shown, and every packet is accounted for."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.media.live.decoding import LiveDecoder, Outcome, Shown
from framefleet.engine.media.live.messages import EpochBegan, Format, LivePacket
from framefleet.engine.media.nvdec.decoder import NvdecDecoder
from framefleet.engine.media.nvdec.format import planes
from framefleet.engine.media.nvdec.live import LiveNvdec
from framefleet.engine.media.nvdec.surfaces import device_surfaces
from framefleet.engine.media.types import DeviceFrame
from framefleet.engine.notices import Notice, SourceError
from framefleet.engine.pool.events import DeviceReady, FramesDone, SourceFinished
from framefleet.engine.pool.live_sources import LiveSource
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import Decode
from framefleet.engine.types import DeviceId
from tests.gpu.test_nvdec import detailed, download, x265
from tests.support.groups import same_detections
from tests.support.live.http_camera import HttpCamera
from tests.support.live.packets import counts, packets_of
from tests.support.media import make_field_video, make_video
from tests.support.pool import run_pool, tiny_settings

GPU = DeviceId("cuda", "0")
FIRST = Notice("live.first")
SIZE = (192, 160)
CLIPS: dict[str, dict[str, Any]] = {
    "plain.mp4": {},
    "plain.ts": {},
    "b-frames.mkv": {"bframes": 2},
    "pyramid.ts": {"bframes": 3},
    "open.mkv": {"bframes": 3, "open_gop": True},
    "slices.mp4": {"options": {"x264-params": "slices=4"}},
    "854.mp4": {"size": (854, 480)},
    "hevc.mp4": x265(bframes=0, open_gop=0),
    "hevc.ts": x265(bframes=3, open_gop=0),
    "hevc-open.ts": x265(bframes=3, open_gop=1, b_adapt=0, keyint=22, scenecut=0),
    "hevc-10.mkv": {**x265(bframes=0), "pix_fmt": "yuv420p10le"},
}


@pytest.fixture(scope="module")
def live() -> Iterator[LiveNvdec]:
    decoder = NvdecDecoder(0, device_surfaces(0, 12, 1 << 30))
    live = decoder.live()
    live.enter()
    yield live
    decoder.close()


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("clips")

    def make(name: str) -> Path:
        path = folder / name
        return path if path.exists() else make_video(path, **{"frames": 120, "size": SIZE, "gop": 20, "picture": detailed, **CLIPS[name]})

    return make


def run(decoder: LiveDecoder, form: Format, packets: Sequence[LivePacket]) -> list[list[Outcome]]:
    """The outcomes of the beginning, of each packet, and of the end."""
    found = [decoder.begin(EpochBegan(form, FIRST, packets[0].number))]
    found += [decoder.decode(packet) for packet in packets]
    found.append(decoder.flush())
    return found


def flat(found: list[list[Outcome]]) -> list[Outcome]:
    return [outcome for each in found for outcome in each]


def pixels(outcome: Shown) -> list[Any]:
    if not isinstance(outcome.frame, DeviceFrame):
        return planes(outcome.frame, {"yuv420p10le": 10}.get(outcome.frame.format.name, 8))
    content = download(outcome.frame)
    outcome.release()
    return content


@pytest.mark.parametrize("name", CLIPS)
def test_its_frames_are_those_of_the_cpu(name: str, live: LiveNvdec, clip: Any) -> None:
    form, packets = packets_of(clip(name))
    expected = {each.packet.number: pixels(each) for each in flat(run(LiveDecoder(), form, packets)) if isinstance(each, Shown)}
    decoder = LiveDecoder(live)
    found: dict[int, list[Any]] = {}
    delays, times = [], []
    outcomes = [decoder.begin(EpochBegan(form, FIRST, 0))]
    for packet in [*packets, None]:
        outcomes.append(decoder.flush() if packet is None else decoder.decode(packet))
        for each in outcomes[-1]:
            if isinstance(each, Shown):
                assert isinstance(each.frame, DeviceFrame)
                found[each.packet.number] = pixels(each)
                times.append(each.packet.seconds)
                delays.append(0 if packet is None else packet.number - each.packet.number)
    assert decoder.refusal is None
    assert counts(flat(outcomes)).total() == len(packets)
    assert times == sorted(times)
    reordered = any(late.seconds < early.seconds for early, late in pairwise(packets))
    assert len(found) >= len(packets) - (6 if reordered else 0), counts(flat(outcomes))
    assert reordered or set(delays) == {0}, "a frame comes with its packet"
    for number, planes_found in found.items():
        if number in expected:
            assert all(np.array_equal(*pair) for pair in zip(planes_found, expected[number], strict=True)), number
    assert len(found.keys() & expected.keys()) > 100


@pytest.mark.parametrize("name", ["plain.ts", "hevc.ts", "b-frames.mkv"])
def test_frames_before_the_first_keyframe_are_counted(name: str, live: LiveNvdec, clip: Any) -> None:
    form, packets = packets_of(clip(name))
    first = next(packet.number for packet in packets if packet.keyframe and packet.number)
    found = counts(release(flat(run(LiveDecoder(live), form, packets[5:]))))
    assert found.total() == len(packets) - 5
    assert found["live.before_keyframe"] >= first - 5
    assert found["shown"] >= len(packets) - first - 4


def release(outcomes: list[Outcome]) -> list[Outcome]:
    for outcome in outcomes:
        if isinstance(outcome, Shown):
            outcome.release()
    return outcomes


@pytest.mark.parametrize("name", ["plain.mp4", "plain.ts", "hevc.mp4"])
def test_garbage_is_not_shown_and_decoding_goes_on(name: str, live: LiveNvdec, clip: Any) -> None:
    form, packets = packets_of(clip(name))
    noise = np.random.default_rng(5)
    spoiled = [replace(packet, data=noise.bytes(len(packet.data))) if packet.number == 45 else packet for packet in packets]
    outcomes = release(flat(run(LiveDecoder(live), form, spoiled)))
    assert counts(outcomes) == {"shown": 45 + 60, "live.damaged": 15}
    assert {each.packet.number for each in outcomes if isinstance(each, Shown)} == {*range(45), *range(60, 120)}


def test_a_storm_of_garbage_ends_and_everything_is_counted(live: LiveNvdec, clip: Any) -> None:
    form, packets = packets_of(clip("plain.ts"))
    noise = np.random.default_rng(7)
    storm = [replace(packet, data=noise.bytes(500)) if packet.number < 60 else packet for packet in packets]
    found = counts(release(flat(run(LiveDecoder(live), form, storm))))
    assert (found.total(), found["shown"]) == (120, 60)


@pytest.mark.parametrize("name", ["plain.mp4", "plain.ts"])
@pytest.mark.parametrize("lost", [(30,), (30, 31), (34, 66)])
def test_frames_that_depend_on_a_lost_one_are_not_shown(name: str, lost: tuple[int, ...], live: LiveNvdec, clip: Any) -> None:
    form, packets = packets_of(clip(name))
    kept = [packet for packet in packets if packet.number not in lost]
    truth = [packet.number for packet in kept]
    outcomes = release(flat(run(LiveDecoder(live), form, [replace(packet, number=number) for number, packet in enumerate(kept)])))
    assert counts(outcomes).total() == len(kept)
    shown = {truth[outcome.packet.number] for outcome in outcomes if isinstance(outcome, Shown)}
    assert shown == {number for number in range(120) if not any(gap <= number < 20 * (gap // 20 + 1) for gap in lost)}


@pytest.mark.parametrize("lost", [23, 30])
def test_no_picture_of_hevc_is_wrong_after_a_loss(lost: int, live: LiveNvdec, clip: Any) -> None:
    """The hardware gives no mark."""
    form, packets = packets_of(clip("hevc.mp4"))
    expected = {each.packet.number: pixels(each) for each in flat(run(LiveDecoder(), form, packets)) if isinstance(each, Shown)}
    kept = [packet for packet in packets if packet.number != lost]
    truth = [packet.number for packet in kept]
    outcomes = flat(run(LiveDecoder(live), form, [replace(packet, number=number) for number, packet in enumerate(kept)]))
    found = {truth[each.packet.number]: pixels(each) for each in outcomes if isinstance(each, Shown)}
    assert counts(outcomes) == {"shown": 100 + lost % 20, "live.damaged": 19 - lost % 20}
    for number, planes_found in found.items():
        assert all(np.array_equal(*pair) for pair in zip(planes_found, expected[number], strict=True)), number


def test_a_new_size_midway_gets_a_new_decoder(live: LiveNvdec, clip: Any) -> None:
    form, first = packets_of(clip("plain.ts"))
    other, second = packets_of(make_video(clip("plain.ts").with_name("854.ts"), 40, (854, 480), gop=20))
    assert other.codec == form.codec
    later = [replace(packet, number=packet.number + 120, seconds=packet.seconds + 10) for packet in second]
    outcomes = release(flat(run(LiveDecoder(live), replace(form, extradata=None), [*first, *later])))
    assert [outcome.size for outcome in outcomes if isinstance(outcome, Shown)] == [SIZE] * 120 + [(854, 480)] * 40
    assert all(isinstance(outcome.frame, DeviceFrame) for outcome in outcomes if isinstance(outcome, Shown))


def test_what_it_cannot_decode_goes_to_the_cpu(live: LiveNvdec, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for path, reason in (
        (make_video(tmp_path / "a.mkv", 24, pix_fmt="yuv444p"), "yuv444p"),
        (make_video(tmp_path / "b.avi", 24, codec="mjpeg", pix_fmt="yuvj420p"), "mjpeg"),
        (make_field_video(tmp_path / "c.mkv", 24), "interlaced"),
        (make_video(tmp_path / "d.mkv", 24, (16, 16)), "16×16"),
    ):
        form, packets = packets_of(path)
        decoder = LiveDecoder(live, "rtsp://cam/1")
        outcomes = flat(run(decoder, form, packets))
        assert counts(outcomes).total() == len(packets)
        assert not any(isinstance(outcome.frame, DeviceFrame) for outcome in outcomes if isinstance(outcome, Shown))
        assert reason in str(decoder.refusal)
        assert "the CPU decodes it" in caplog.text
        caplog.clear()


def test_a_required_nvdec_is_an_error_where_it_cannot_decode(tmp_path: Path) -> None:
    decoder = NvdecDecoder(0, device_surfaces(0, 12, 1 << 30), required=True)
    form, packets = packets_of(make_video(tmp_path / "a.mkv", 24, pix_fmt="yuv444p"))
    with pytest.raises(SourceError, match="--decode"):
        run(LiveDecoder(decoder.live(), "rtsp://cam/1"), form, packets)
    decoder.close()


class Replay:
    """Serves a file's bytes by HTTP to any number of clients, in ``SECONDS``, and then closes the connections: of unknown length.

    go: set when the bytes shall be sent.
    """

    SECONDS = 8.0

    def __init__(self, content: bytes) -> None:
        self.go = threading.Event()
        self._content = content
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._listener.settimeout(0.1)
        self._over = False
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}/cam.ts"
        self._threads = [threading.Thread(target=self._serve)]
        self._threads[0].start()

    def _serve(self) -> None:
        while not self._over:
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            self._threads.append(threading.Thread(target=self._answer, args=(client,)))
            self._threads[-1].start()

    def _answer(self, client: socket.socket) -> None:
        with client:
            client.settimeout(30)
            client.recv(65536)
            try:
                client.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: video/mp2t\r\n\r\n" + self._content[: 188 * 64])
                self.go.wait(60)
                begun = time.monotonic()
                for start in range(188 * 64, len(self._content), 188 * 64):
                    time.sleep(max(0.0, begun + self.SECONDS * start / len(self._content) - time.monotonic()))
                    client.sendall(self._content[start : start + 188 * 64])
            except OSError:
                pass

    def close(self) -> None:
        self._over = True
        self.go.set()
        for thread in self._threads:
            thread.join()
        self._listener.close()


def test_a_live_source_gives_the_boxes_of_its_file(tmp_path: Path) -> None:
    """The whole way: capture process, worker, engine. A source of known length waits, so that no frame is left out."""
    settings = tiny_settings(confidence=0.1)
    settings = replace(settings, engine=replace(settings.engine, decode=Decode.NVDEC))
    with HttpCamera(tmp_path) as camera:
        expected = run_pool([camera.file], (GPU,), settings).frames[0]
        frames, finished = stream([f"{camera.address}/file.ts"], settings)
    assert (finished[0].error, finished[0].decoder.name) == (None, "nvdec")
    assert finished[0].ledger.balanced
    assert finished[0].ledger.inferred == 50
    same_detections(
        *([replace(frame, ref=frame.ref._replace(pts=0.0)) for frame in found] for found in (frames[0], expected)), tolerance=1.0
    )


@pytest.mark.alone
def test_many_sources_at_once_have_exact_ledgers(tmp_path: Path) -> None:
    """They begin at once, faster than their decoders are opened, and send faster than in real time."""
    replay = Replay(make_video(tmp_path / "video.ts", 300, (640, 360), 25, gop=25, bframes=2).read_bytes())
    try:
        _, finished = stream([replay.address] * 24, tiny_settings(batch=8), retries=0, ready=replay.go.set)
    finally:
        replay.close()
    assert sorted(finished) == [*range(24)]
    for each in finished.values():
        assert each.ledger.balanced
        assert each.ledger.received is not None
        assert each.ledger.received >= 290
        assert each.ledger.inferred > 5, each.ledger
        assert each.decoder.name == "nvdec"


def stream(
    addresses: Sequence[str], settings: Any, retries: int | None = None, ready: Callable[[], None] = lambda: None
) -> tuple[dict[int, list[Any]], dict[int, Any]]:
    """Run a pool with these sources to their ends. ready: called when the engine is. Returns frames and ``SourceFinished`` by source."""
    frames: dict[int, list[Any]] = {number: [] for number in range(len(addresses))}
    finished: dict[int, Any] = {}
    with EnginePool(settings, (GPU,)) as pool:
        for number, text in enumerate(addresses):
            address = LiveAddress.read(text)
            assert address is not None
            pool.add_stream(LiveSource(address, retries=retries), number)
        pool.finish()
        for event in pool.events():
            match event:
                case DeviceReady():
                    ready()
                case FramesDone(source, done):
                    frames[source] += done
                case SourceFinished(source):
                    finished[source] = event
    return frames, finished
