from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.media.annotation.layout import class_colour
from framefleet.engine.media.annotation.writer import VideoWriter, make_plain
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import probe
from framefleet.engine.media.sources import stamp_of
from framefleet.engine.media.types import DecodedFrame, SourceInfo, SourceKind
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.pool.events import Ledger
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.store.export import export_session
from framefleet.engine.store.exporters.base import part_of
from framefleet.engine.store.exporters.options import ExportOptions, PictureFormat
from framefleet.engine.store.exporters.video import Job
from framefleet.engine.store.reader import Span, View
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.types import Detections, FrameRef, FrameResult, InferenceFailure
from framefleet.engine.zones.shapes import Line, ZoneSet
from tests.support.media import damaged, joined, make_sound, make_video, number_of, rewrap
from tests.support.notices import words
from tests.support.paths import PYTHONPATH
from tests.support.store import CPU, LABELS, write_one

BOX = (60, 170, 260, 220)  # below the squares that number a frame of 320×240


@dataclass(frozen=True)
class Stored:
    """A session of one video. detected: what decoding it gave, as the session has it."""

    database: Path
    info: SourceInfo
    times: tuple[float, ...]

    def export(self, folder: Path, confidence: float = 0.0, classes: frozenset[int] | None = None) -> Path:
        with SessionReader(self.database, confidence, classes) as reader:
            (written,) = export_session(reader, folder, ["video"])
        assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
        return written.path


def store(
    video: Path,
    box: Sequence[float] | Callable[[int], Sequence[float] | None] = BOX,
    upto: int | None = None,
    missing: Collection[int] = (),
    every: str = "None",
    started: datetime | None = None,
) -> Stored:
    """Decode as a worker does, and store one car (0.9) and one person (0.3, elsewhere) in every frame.

    box: the car's, or a function of the frame's number. upto, missing: the run is interrupted, and its frames end here and lack these.
    every: the setting of the run. started: the clock time of the first frame.
    """
    info = probe(video)
    frames: list[FrameResult] = []
    times = []
    for segment in info.segments:
        for outcome in decode(info, segment):
            if len(frames) == upto:
                break
            if isinstance(outcome, DecodedFrame):
                times.append(outcome.ref.pts)
                height, width, _ = outcome.image.shape
                car = box(number_of(outcome.image)) if callable(box) else box
                boxes = np.array([car or BOX, (2, height - 30, 30, height - 2)], np.float32)
                found = Detections(boxes, np.array([0.9 if car else 0.0, 0.3], np.float32), np.array([2, 0], np.int32))
                found = found.filter(0.1)
                frames.append(FrameResult(outcome.ref._replace(index=len(frames)), CPU, width, height, found))
            else:
                for _ in range(outcome.count):
                    frames.append(
                        FrameResult(outcome.ref._replace(index=len(frames)), CPU, info.width, info.height, InferenceFailure(outcome.reason))
                    )
    database = video.with_suffix(".sqlite")
    with SessionWriter(database, LABELS, {"every": every}) as writer:
        writer.add_source(0, str(video), info, stamp_of(video))
        writer.add_frames(frame for frame in frames if frame.ref.index not in missing)
        failed = sum(frame.detections is None for frame in frames)
        skipped = len(missing) if every != "None" else 0
        decoded = len(frames) - skipped
        ledger = Ledger(decoded, decoded - failed, {}, {words("damaged"): failed} if failed else {}, skipped)
        writer.set_start(0, started)
        writer.finish_source(0, str(video), ledger, 1.0, cancelled=upto is not None)
    return Stored(database, info, tuple(times))


def read(path: Path) -> tuple[list[float], list[NDArray[np.uint8]]]:
    with av.open(str(path)) as container:
        frames = list(container.decode(video=0))
    return [float(frame.time or 0) for frame in frames], [frame.to_ndarray(format="rgb24") for frame in frames]


def colour_at(image: NDArray[np.uint8], x: int, y: int) -> NDArray[np.int64]:
    return image[y - 1 : y + 2, x - 1 : x + 2].reshape(-1, 3).astype(np.int64)


def is_drawn(image: NDArray[np.uint8], class_id: int, x: int, y: int) -> bool:
    """Whether some pixel around here has a class's colour, as far as a coded video keeps it."""
    return bool((np.abs(colour_at(image, x, y) - class_colour(class_id)).max(axis=1) < 60).any())


def test_every_frame_keeps_its_picture_and_time_and_gets_its_boxes(tmp_path: Path) -> None:
    pts = [0, 1, 2, 4, 8, 9, 15, 16, 40, 41, *range(50, 80)]
    stored = store(make_video(tmp_path / "a.mp4", len(pts), pts=pts, time_base=Fraction(1, 30), bframes=2))
    times, images = read(stored.export(tmp_path / "out"))
    assert times == pytest.approx(list(stored.times), abs=1e-6)
    assert [number_of(image) for image in images] == list(range(len(pts)))
    for image in images:
        assert all(is_drawn(image, 2, x, y) for x, y in ((60, 195), (260, 195), (160, 170), (160, 220)))
        assert is_drawn(image, 0, 2, 225)


def test_only_what_passes_the_filter_is_drawn(tmp_path: Path) -> None:
    stored = store(make_video(tmp_path / "a.mp4", 10))
    image = read(stored.export(tmp_path / "strong", confidence=0.5))[1][5]
    assert (is_drawn(image, 2, 160, 220), is_drawn(image, 0, 2, 225)) == (True, False)
    image = read(stored.export(tmp_path / "person", classes=frozenset((0,))))[1][5]
    assert (is_drawn(image, 2, 160, 220), is_drawn(image, 0, 2, 225)) == (False, True)


@pytest.mark.parametrize(("every", "upto"), [("4", None), ("0.16s", None), ("4", 30)])
def test_a_sampled_run_shows_boxes_until_the_next_sample(tmp_path: Path, every: str, upto: int | None) -> None:
    """Frames 4, 8 and 12 of 30 are taken, and the part ends behind them. The car moves with each frame."""
    taken = (4, 8, 12)

    def place(number: int) -> Sequence[float]:
        return (10 * number, 170, 10 * number + 20, 220)

    stored = store(make_video(tmp_path / "a.mp4", 30, rate=25), place, upto, set(range(30)).difference(taken), every)
    _, images = read(stored.export(tmp_path / "out"))
    shown = [[number for number in taken if is_drawn(image, 2, 10 * number, 195)] for image in images]
    assert (
        shown[:16] == [[]] * 4 + [[4]] * 4 + [[8]] * 4 + [[12]] * 4 if upto is None else shown == [[]] * 4 + [[4]] * 4 + [[8]] * 4 + [[12]]
    )
    assert shown[16:] == ([[]] * 14 if upto is None else [])


@pytest.mark.parametrize(("name", "codec"), [("a.mp4", "aac"), ("a.ts", "aac"), ("a.webm", "opus"), ("a.mkv", "aac")])
def test_sound_is_copied_in_time(tmp_path: Path, name: str, codec: str) -> None:
    encoder: dict[str, Any] = {"codec": "libvpx", "options": {"deadline": "realtime", "cpu-used": "8"}} if name.endswith("webm") else {}
    stored = store(make_video(tmp_path / name, 60, audio=True, **encoder))
    path = stored.export(tmp_path / "out")
    tracks = []
    for file in (tmp_path / name, path):
        with av.open(str(file)) as container:
            (track,) = container.streams.audio
            assert track.codec_context.name == codec
            packets = [(packet.pts * packet.time_base, packet.size) for packet in container.demux(track) if packet.size]
            tracks.append(packets)
    source, copy = tracks
    assert len(source) - 5 <= len(copy) <= len(source)
    assert abs(float(source[3][0] - copy[3][0])) < 0.1
    times, images = read(path)
    assert times == pytest.approx(list(stored.times), abs=0.002)
    assert [number_of(image) for image in images] == list(range(60))


def test_sound_that_an_mp4_cannot_hold_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    silent = make_video(tmp_path / "silent.mp4", 10)
    with av.open(str(silent)) as given, av.open(str(path), "w") as output:
        video = output.add_stream_from_template(given.streams.video[0])
        sound = output.add_stream("pcm_s16le", rate=8000, layout="mono")
        for packet in given.demux(video=0):
            if packet.size:
                packet.stream = video
                output.mux(packet)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 2000), np.int16), format="s16", layout="mono")
        frame.sample_rate = 8000
        output.mux(sound.encode(frame))
        output.mux(sound.encode(None))
    with SessionReader(store(path).database) as reader:
        (written,) = export_session(reader, tmp_path / "out", ["video"])
    assert written.notes == (Notice("store.sound_left_out", path=path, codec="pcm_s16le"),)
    with av.open(str(written.path)) as container:
        assert len(container.streams.audio) == 0
        assert len(list(container.decode(video=0))) == 10


def test_mp3_is_copied_although_its_decoder_has_another_name(tmp_path: Path) -> None:
    with av.open(str(store(make_sound(tmp_path / "a.mkv", 2.0, "libmp3lame")).export(tmp_path / "out"))) as container:
        (track,) = container.streams.audio
        assert track.codec_context.codec.canonical_name == "mp3"
        ends = [float((packet.pts + packet.duration) * packet.time_base) for packet in container.demux(track) if packet.pts is not None]
    assert max(ends) == pytest.approx(2.0, abs=0.05)


def test_the_creation_time_is_that_of_the_first_frame(tmp_path: Path) -> None:
    """The copy keeps the times of a video whose first frame comes at 4 s."""
    stored = store(make_video(tmp_path / "a.mkv", 30, pts=range(120, 150)), started=datetime(2026, 11, 1, 9, tzinfo=UTC))
    path = stored.export(tmp_path / "out")
    with av.open(str(path)) as container:
        assert container.metadata["creation_time"].startswith("2026-11-01T09:00:00")
    assert read(path)[0][0] == pytest.approx(4.0, abs=0.01)


@pytest.mark.parametrize("rotation", [90, 180])
def test_turned_videos_are_upright(tmp_path: Path, rotation: int) -> None:
    stored = store(make_video(tmp_path / "a.mp4", 5, rotation=rotation), box=(40, 60, 200, 180))
    _, images = read(stored.export(tmp_path / "out"))
    assert images[0].shape[:2] == (stored.info.height, stored.info.width)
    with av.open(str(tmp_path / "out" / "a.annotated.mp4")) as container:
        assert next(container.decode(video=0)).rotation == 0
    (source,) = stored.info.segments
    expected = next(frame.image for frame in decode(stored.info, source) if isinstance(frame, DecodedFrame))
    inside = np.s_[90:160, 80:160]
    assert np.abs(images[0][inside].astype(int) - expected[inside]).mean() < 6
    assert is_drawn(images[0], 2, 120, 180)


@pytest.mark.parametrize("size", [(321, 241), (3, 3), (2, 1)])
def test_odd_sizes(tmp_path: Path, size: tuple[int, int]) -> None:
    stored = store(
        make_video(tmp_path / "a.mkv", 5, size, codec="ffv1", pix_fmt="yuv444p", picture=lambda _, s: np.zeros((s[1], s[0], 3), np.uint8))
    )
    _, images = read(stored.export(tmp_path / "out"))
    assert [image.shape[:2] for image in images] == [(max(size[1] // 2 * 2, 2), size[0] // 2 * 2)] * 5


def test_frames_that_cannot_be_decoded_are_left_out(tmp_path: Path) -> None:
    whole = make_video(tmp_path / "whole.mp4", 120, gop=10)
    stored = store(damaged(whole, tmp_path / "a.mp4", [(0.4, 300), (0.6, 300)]))
    steps: list[tuple[int, int]] = []
    with SessionReader(stored.database) as reader:
        (written,) = export_session(reader, tmp_path / "out", ["video"], lambda _, *step: steps.append(step))
    times, images = read(written.path)
    assert steps[-1] == (len(images), len(images))
    assert 60 < len(images) < 120
    assert times == pytest.approx(list(stored.times), abs=1e-6)


def test_the_video_of_a_stopped_session_ends_with_its_last_frame(tmp_path: Path) -> None:
    stored = store(make_video(tmp_path / "a.mp4", 60), upto=25)
    assert len(read(stored.export(tmp_path / "out"))[0]) == 25
    assert stored.export(tmp_path / "out").name == "a.annotated.mp4"


def test_no_video_is_made_of_a_file_that_has_changed(tmp_path: Path) -> None:
    stored = store(make_video(tmp_path / "a.mp4", 10))
    make_video(tmp_path / "a.mp4", 12)
    with pytest.raises(ExportError, match=r"a\.mp4 has changed since the detection.*detect again"):
        stored.export(tmp_path / "out")
    with SessionReader(stored.database) as reader, pytest.raises(ExportError, match=r"a\.mp4 has changed since its detections were made"):
        export_session(reader, tmp_path / "out", ["yolo"], options=ExportOptions(pictures=PictureFormat.JPEG))
    assert list((tmp_path / "out").iterdir()) == []


def test_the_video_of_a_stopped_session_lacks_the_frames_that_the_session_lacks(tmp_path: Path) -> None:
    stored = store(make_video(tmp_path / "a.mp4", 60), upto=45, missing=range(20, 35))
    times, images = read(stored.export(tmp_path / "out"))
    kept = [*range(20), *range(35, 45)]
    assert [number_of(image) for image in images] == kept
    assert times == pytest.approx([stored.times[number] for number in kept], abs=1e-6)
    assert all(is_drawn(image, 2, 60, 195) for image in images)


def test_a_broadcast_s_clock_starts_anywhere(tmp_path: Path) -> None:
    late = make_video(tmp_path / "a.mkv", 30, pts=[300000 + number for number in range(30)], audio=False)
    times, _ = read(store(late).export(tmp_path / "out"))
    assert times == pytest.approx([number / 30 for number in range(30)], abs=0.002)


def test_boxes_stay_with_their_frames_where_a_broadcast_s_clock_restarts(tmp_path: Path) -> None:
    """Only frames of the second recording have a box."""
    video = joined(tmp_path / "a.ts", 40, 50, gop=10, audio=True)
    stored = store(video, box=lambda number: BOX if number >= 40 else None)
    times, images = read(stored.export(tmp_path / "out"))
    assert times == pytest.approx([time - stored.times[0] + times[0] for time in stored.times], abs=0.002)
    edges = ((60, 195), (260, 195), (160, 170), (160, 220))
    drawn = [all(is_drawn(image, 2, x, y) for x, y in edges) for image in images]
    assert drawn == [number_of(image) >= 40 for image in images]


def test_errors_name_the_cause(tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", 10)
    stored = store(video)
    with SessionReader(stored.database) as reader:
        (source,) = reader.sources()
        with pytest.raises(ExportError, match=r"cannot write .*No such file or directory"):
            write_one("video", reader, source, tmp_path / "none" / "b.mp4", lambda _: None)
        (tmp_path / "b.mp4").write_bytes(b"of before")
        video.rename(tmp_path / "moved.mp4")
        with pytest.raises(ExportError, match=r"a\.mp4 does not exist"):
            write_one("video", reader, source, tmp_path / "b.mp4", lambda _: None)
    assert (tmp_path / "b.mp4").read_bytes() == b"of before"
    assert not part_of(tmp_path / "b.mp4").exists()


def test_a_folder_of_pictures_cannot_be_exported_as_video(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "pictures", SourceInfo("pictures", SourceKind.IMAGES, "png", 64, 64, 1, None, None, ()))
        writer.finish_source(0, "pictures", Ledger(), 1.0)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        assert [item.path.name for item in export_session(reader, tmp_path, ["video", "jsonl"])] == ["pictures.jsonl"]


def test_a_video_without_an_undamaged_frame_does_not_prevent_other_exports(tmp_path: Path) -> None:
    good = make_video(tmp_path / "b.mp4", 5)
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        for number, video in enumerate((tmp_path / "a.mp4", good)):
            writer.add_source(number, str(video), probe(good))
            failed = {} if number else {words("damaged"): 5}
            frames = [
                FrameResult(FrameRef(number, n, n / 30), CPU, 320, 240, Detections() if number else InferenceFailure(words("damaged")))
                for n in range(5)
            ]
            writer.add_frames(frames)
            writer.finish_source(number, str(video), Ledger(5, 5 * number, {}, failed), 1.0)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        assert [item.path.name for item in export_session(reader, tmp_path, ["video", "jsonl"])] == [
            "a.jsonl",
            "b.annotated.mp4",
            "b.jsonl",
        ]


def children() -> list[int]:
    """The processes that write videos for this one."""
    return [process.pid for process in multiprocessing.active_children() if process.pid and process.name == "framefleet annotated video"]


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return store(make_video(tmp_path_factory.mktemp("long") / "long.mp4", 900, (160, 120)))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_a_killed_writer_leaves_a_playable_part(tmp_path: Path, long: Stored) -> None:
    target = tmp_path / "a.mp4"

    def kill(frames: int) -> None:
        if frames > 300:
            for pid in children():
                os.kill(pid, signal.SIGKILL)

    with SessionReader(long.database) as reader, pytest.raises(ExportError, match=r"SIGKILL.*; what it had written is in .*\.a\.mp4\.part"):
        write_one("video", reader, reader.sources()[0], target, kill)
    assert not target.exists()
    times, images = read(part_of(target))
    assert len(times) > 100
    assert [number_of(image) for image in images[:100]] == list(range(100))
    assert children() == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_giving_up_leaves_nothing(tmp_path: Path, long: Stored) -> None:
    def give_up(frames: int) -> None:
        assert children()
        if frames > 100:
            raise KeyboardInterrupt

    with SessionReader(long.database) as reader, pytest.raises(KeyboardInterrupt):
        write_one("video", reader, reader.sources()[0], tmp_path / "a.mp4", give_up)
    assert list(tmp_path.iterdir()) == []
    assert children() == []


OWNER = """
import os, signal, sys
from pathlib import Path
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.store.session import SessionReader
from tests.support.store import write_one

def die(frames):
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    with SessionReader(Path(sys.argv[1])) as reader:
        write_one("video", reader, reader.sources()[0], Path(sys.argv[2]), die)
"""


def test_a_writer_whose_owner_dies_ends_and_tidies_up(tmp_path: Path, long: Stored) -> None:
    script, folder = tmp_path / "owner.py", tmp_path / "out"
    script.write_text(OWNER)
    folder.mkdir()
    environment = os.environ | {"PYTHONPATH": PYTHONPATH}
    # the writer inherits the pipe: reading ends when it has ended, too
    owner = subprocess.run([sys.executable, script, long.database, folder / "a.mp4"], env=environment, stderr=subprocess.PIPE, check=False)
    assert owner.returncode == -signal.SIGKILL, owner.stderr
    deadline = time.monotonic() + 30
    while list(folder.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(folder.iterdir()) == []


def hanging_main(connection: Any, job: Job) -> None:
    from framefleet.engine.store.exporters import base, video_process

    video_process.AnnotatedPicture.planes = lambda *_: time.sleep(3600)  # type: ignore[method-assign,assignment,return-value]
    base.STALL_SECONDS = 1.0
    video_process.main(connection, job)


def test_a_writer_that_hangs_is_noticed(tmp_path: Path, long: Stored) -> None:
    job = Job(View(long.database), 0, long.info.path, str(tmp_path / "a.part"))
    process = ChildProcess("annotated video", hanging_main, job, words=words("the writer"))
    assert list(process.messages()) == []
    assert str(process.end().reason).endswith("did not come to an end within 1 s")


@pytest.mark.parametrize("encoder", ["libx264", "mpeg4"])
def test_either_encoder_keeps_times(tmp_path: Path, encoder: str) -> None:
    path = tmp_path / "a.mp4"
    times = [Fraction(number * number, 3000) for number in range(40)]
    planes = tuple(np.full(shape, 100, np.uint8) for shape in ((48, 64), (24, 32), (24, 32)))
    with VideoWriter(path, (64, 48), Fraction(30), Fraction(1, 90000), encoder=encoder) as writer:
        for seconds in times:
            writer.write((planes[0], planes[1], planes[2]), seconds)
    make_plain(path, end=times[-1] + 2)
    with av.open(str(path)) as container:
        assert container.duration == pytest.approx(float(times[-1] + 2) * 1e6, abs=1000)
        assert container.streams.video[0].codec_context.name == ("h264" if encoder == "libx264" else "mpeg4")
    assert read(path)[0] == pytest.approx([float(seconds) for seconds in times], abs=2e-5)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of the file size differ")
def test_a_limit_of_the_size_of_files_is_named(tmp_path: Path, long: Stored) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with SessionReader(long.database) as reader, pytest.raises(ExportError, match=r"cannot write .*raise the limit \(ulimit -f\)"):
            write_one("video", reader, reader.sources()[0], tmp_path / "a.mp4", lambda _: None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("span", "upto", "frames"),
    [(None, None, 60), (Span(Moment(frames=15), Moment(frames=45)), None, 21), (None, 50, 41), (Span(Moment(frames=15)), 50, 21)],
)
def test_the_progress_of_a_sampled_run_ends_at_all_frames_of_its_video(
    tmp_path: Path, span: Span | None, upto: int | None, frames: int
) -> None:
    """The run takes frames 0, 10, 20, …. The video of a part or of a stopped run ends with the last frame that was taken."""
    taken = range(0, 60, 10)
    stored = store(make_video(tmp_path / "a.mp4", 60), upto=upto, missing=set(range(upto or 60)).difference(taken), every="10")
    steps: list[tuple[int, int]] = []
    with SessionReader(stored.database, span=span) as reader:
        (written,) = export_session(reader, tmp_path / "out", ["video"], lambda _, *step: steps.append(step))
    assert len(read(written.path)[0]) == frames
    assert steps[-1] == (frames, frames)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_what_a_killed_writer_had_written_is_where_the_message_says(tmp_path: Path, long: Stored) -> None:
    def kill(_: Path, written: int, __: int) -> None:
        for pid in children() if written > 300 else ():
            os.kill(pid, signal.SIGKILL)

    out = tmp_path / "out"
    with SessionReader(long.database) as reader, pytest.raises(ExportError, match="what it had written is in") as error:
        export_session(reader, out, ["video"], kill)
    (kept,) = (path for path in out.iterdir() if path.suffix == ".mp4")
    assert str(kept) in str(error.value)
    assert ".framefleet-export" not in str(error.value)
    assert len(read(kept)[0]) > 100


def test_a_video_that_lost_all_its_frames(tmp_path: Path) -> None:
    """Its session has its frames, and its stamp is that of the damaged file."""
    video = make_video(tmp_path / "a.avi", 10, codec="mpeg4")
    info = probe(video)
    rewrap(video, tmp_path / "zeros.avi", lambda _, data, __: bytes(len(data))).replace(video)
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, str(video), info)
        writer.add_frames([FrameResult(FrameRef(0, n, n / 30), CPU, 320, 240, Detections()) for n in range(10)])
        writer.finish_source(0, str(video), Ledger(10, 10), 1.0)
    with SessionReader(tmp_path / "s.sqlite") as reader, pytest.raises(ExportError, match=r"no frame of .*a\.avi can be decoded: there is"):
        export_session(reader, tmp_path / "out", ["video"])


def test_lines_are_drawn_into_tracked_videos_only(tmp_path: Path) -> None:
    stored = store(make_video(tmp_path / "a.mp4", 5))
    zones = ZoneSet((320, 240), (Line("gate", (10, 20), (90, 20)),))
    with SessionReader(stored.database) as reader:
        (written,) = export_session(reader, tmp_path / "out", ["video"], options=ExportOptions(zones=zones))
    assert [str(note) for note in written.notes] == [
        f"{written.path} has no lines and zones, because they count tracks, and there are none"
    ]
