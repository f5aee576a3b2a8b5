from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from framefleet.engine.media.sources import Stamp
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.sources import readable_name
from framefleet.engine.store.writer import COMMIT_SECONDS
from framefleet.engine.types import Detections, DeviceId, EngineInfo, FrameRef, FrameResult, InferenceFailure
from tests.support.notices import words
from tests.support.paths import PROJECT
from tests.support.store import CPU, LABELS, make_frame, same_frame, video_info, write_session


@st.composite
def frame_lists(draw: st.DrawFn) -> list[FrameResult]:
    frames = []
    for index in range(draw(st.integers(0, 12))):
        device = draw(st.sampled_from([CPU, DeviceId("cuda", "3"), DeviceId("openvino", "GPU.0")]))
        pts = draw(st.floats(0, 1e6, allow_nan=False)) if draw(st.booleans()) else index / 30
        size = draw(st.integers(1, 20000)), draw(st.integers(1, 20000))
        name = draw(st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8))
        failure = draw(st.none() | st.just("") | st.just("corrupt at 1.2 s"))
        count = draw(st.integers(0, 4))
        numbers = st.floats(-1e6, 1e6, width=32)
        found = Detections(
            draw(arrays.arrays(np.float32, (count, 4), elements=numbers)),
            draw(arrays.arrays(np.float32, count, elements=st.floats(0, 1, width=32))),
            draw(arrays.arrays(np.int32, count, elements=st.integers(0, 1 << 20))),
        )
        frames.append(
            FrameResult(FrameRef(0, index, pts, name), device, *size, found if failure is None else InferenceFailure(words(failure)))
        )
    return frames


@settings(max_examples=20, deadline=None)
@given(frames=frame_lists(), step=st.integers(1, 5))
def test_what_is_written_is_read(frames: list[FrameResult], step: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "session.sqlite"
        with SessionWriter(path, LABELS, {}) as writer:
            for start in range(0, len(frames), step):
                writer.add_frames(frames[start : start + step])
        with SessionReader(path) as reader:
            read = list(reader.frames(0))
            assert len(read) == len(frames) == reader.count(0)
            # the name is a picture's, as text that every program can read
            named = [replace(frame, ref=frame.ref._replace(name=frame.ref.name and readable_name(frame.ref.name))) for frame in frames]
            assert all(map(same_frame, read, named))
            for frame in frames:
                found = reader.frame_at(0, frame.ref.pts)
                assert found is not None
                assert found.ref.pts == frame.ref.pts


def test_session_facts_sources_and_ledgers(tmp_path: Path) -> None:
    stamp, begun = Stamp(2**40, 1_700_000_000_123_456_789, "ab12"), datetime.fromisoformat("2026-11-01T08:00:00.25+01:00")
    with SessionWriter(tmp_path / "new" / "session.sqlite", LABELS, {"model": "yolov4"}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 10), stamp)
        writer.describe_source(0, decoder=Notice("media.decoded_by_nvdec"))
        writer.set_start(0, begun)
        writer.add_device(EngineInfo(CPU, "A CPU", "OpenVINO 1", "fp32", words("no AMX"), 416, 416, 2, 4))
        ledger = Ledger(10, 7, {words("late"): 1}, {words("corrupt"): 2}, skipped=5)
        writer.finish_source(0, "a.mp4", ledger, 2.5)
        writer.finish_source(1, "gone.mp4", Ledger(), 0.0, words("there is no such file"))
    with SessionReader(writer.path) as reader:
        assert reader.labels == LABELS
        assert reader.facts["model"] == "yolov4"
        first, second = reader.sources()
        assert (first.path, first.kind) == ("a.mp4", "video")
        assert first.info == video_info("a.mp4", 10)
        assert (first.ledger, first.seconds, first.error, first.complete) == (ledger, 2.5, None, True)
        assert (first.stamp, first.decoder, first.started) == (stamp, Notice("media.decoded_by_nvdec"), begun)
        assert (second.stamp, second.decoder, second.started) == (None, None, None)
        assert (second.kind, second.error) == (None, words("there is no such file"))


def test_a_group_of_one_and_its_member_are_one_device(tmp_path: Path) -> None:
    alone = replace(make_frame(0, 1, failure="broken"), device=DeviceId.group(CPU))  # a worker's own frames carry the group's id
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 2))
        writer.add_frames([make_frame(0, 0), alone])
    with SessionReader(writer.path) as reader:
        assert [frame.device for frame in reader.frames(0)] == [CPU, CPU]


def test_frames_are_found_by_pts(tmp_path: Path) -> None:
    with SessionReader(write_session(tmp_path / "s.sqlite", {"a.mp4": 1200, "b.mp4": 30})) as reader:
        assert [frame.ref.index for frame in reader.frames(0)] == list(range(1200))
        found = reader.frame_at(0, 777 / 25)
        assert found is not None
        assert same_frame(found, make_frame(0, 777))
        assert reader.frame_at(0, 777 / 25 + 1e-6) is None
        assert reader.frame_at(1, 777 / 25) is None
        assert reader.frame_at(2, 0.0) is None


def test_a_reader_in_another_thread_follows_the_writer(tmp_path: Path) -> None:
    total, seen, failures, closed = 6000, [0], [], threading.Event()
    writer = SessionWriter(tmp_path / "s.sqlite", LABELS, {})

    def follow() -> None:
        with SessionReader(writer.path) as reader:
            while seen[-1] < total and not closed.is_set():
                frames = list(reader.frames(0))
                if [frame.ref.index for frame in frames] != list(range(len(frames))):
                    failures.append("a gap")
                if frames and not same_frame(frames[-1], make_frame(0, len(frames) - 1)):
                    failures.append("a frame without its boxes")
                seen.append(len(frames))

    thread = threading.Thread(target=follow)
    thread.start()
    for start in range(0, total, 50):
        writer.add_frames(make_frame(0, index) for index in range(start, start + 50))
    writer.finish_source(0, "a.mp4", Ledger(total, total), 1.0)
    thread.join(60)
    closed.set()
    thread.join()
    writer.close(complete=False)
    assert not failures
    assert seen[-1] == total
    assert seen == sorted(seen)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["s.sqlite"]


def test_the_first_frames_are_committed_at_once_and_later_ones_after_a_while(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer, SessionReader(writer.path) as reader:
        writer.add_frames([make_frame(0, 0)])
        assert reader.count(0) == 1
        writer.add_frames([make_frame(0, 1)])
        added = time.monotonic()
        while reader.count(0) == 1:
            writer.commit_due()
            time.sleep(0.01)
        assert time.monotonic() - added >= 0.8 * COMMIT_SECONDS


def test_a_finished_session_needs_no_other_file(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 5})
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.sqlite"]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_finished_session_is_whole_while_somebody_still_has_it_open(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "s.sqlite", LABELS, {})
    writer.add_frames([make_frame(0, 0)])
    writer.add_frames([make_frame(0, index) for index in range(1, 3)])
    with SessionReader(writer.path) as watching:
        assert watching.count(0) == 1
        writer.close(complete=True)
        shutil.copy(writer.path, tmp_path / "copy.sqlite")  # alone, as people copy files
    with SessionReader(tmp_path / "copy.sqlite") as reader:
        assert reader.count(0) == 3


def test_a_session_in_use_is_not_taken_over(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        with pytest.raises(ExportError, match=r"s\.sqlite.*another run"):
            SessionWriter(writer.path, LABELS, {})
        writer.add_frames([make_frame(0, 0)])
    with SessionReader(writer.path) as reader:
        assert reader.count(0) == 1


@pytest.mark.parametrize("make", [SessionReader, lambda path: SessionWriter(path, LABELS, {})], ids=["reader", "writer"])
def test_other_files_are_rejected_and_not_changed(tmp_path: Path, make: type[SessionReader]) -> None:
    path = tmp_path / "holiday.sqlite"
    path.write_bytes(b"dear diary, " * 500)
    with pytest.raises(ExportError, match=r"holiday\.sqlite.*not a session database"):
        make(path)
    assert path.read_bytes() == b"dear diary, " * 500
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE diary (day TEXT)")
    with pytest.raises(ExportError, match="not a session database"):
        make(path)
    path.unlink()
    write_session(path, {"a.mp4": 1})
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ExportError, match=r"newer Framefleet.*update"):
        make(path)


@pytest.mark.parametrize("written", [0, 1, 2])
def test_an_unfinished_empty_session_is_replaced(tmp_path: Path, written: int) -> None:
    path = tmp_path / "s.sqlite"
    path.touch()
    with closing(sqlite3.connect(path)) as connection:
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA user_version = 1")[:written]:
            connection.execute(statement)
    write_session(path, {"a.mp4": 3})
    with SessionReader(path) as reader:
        assert reader.count(0) == 3


def test_missing_session(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"cannot read .*none\.sqlite"):
        SessionReader(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


def test_damaged_session(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 2000})
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(os.urandom(100_000))
    with pytest.raises(ExportError, match=r"s\.sqlite.*damaged"), SessionReader(path) as reader:
        list(reader.frames(0))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE sources SET dropped = 'no JSON'",
        "UPDATE sources SET failed = '7'",
        "UPDATE sources SET kind = 'hologram'",
        "UPDATE devices SET device = 'toaster:1'",
        "DELETE FROM devices",
        "UPDATE frames SET boxes = 'left'",
        "UPDATE frames SET boxes = x'00112233445566778899'",
        "UPDATE frames SET boxes = x'ffffffff0000000000000000000000000000000000000000'",
        "DROP TABLE frames",
        "DROP TABLE sources",
    ],
)
def test_invalid_values_are_reported_as_damage(tmp_path: Path, damage: str) -> None:
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 3})
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(damage)
        connection.commit()

    def read() -> None:
        with SessionReader(path) as reader:
            reader.sources()
            list(reader.frames(0))

    with pytest.raises(ExportError, match=r"cannot (read|open) .*s\.sqlite"):
        read()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ExportError, match=r"cannot write .*choose another folder"):
        SessionWriter(tmp_path / "file" / "s.sqlite", LABELS, {})


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="permissions do not bind root")
def test_read_only_folder(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 5})
    tmp_path.chmod(0o500)
    try:
        with SessionReader(path) as reader:
            assert reader.count(0) == 5
        with pytest.raises(ExportError, match="choose another folder"):
            SessionWriter(tmp_path / "t.sqlite", LABELS, {})
    finally:
        tmp_path.chmod(0o700)


FULL_DISK = """
import resource, sys
from pathlib import Path
from framefleet.engine.notices import ExportError
from framefleet.engine.store.session import SessionReader, SessionWriter
from tests.support.store import LABELS, make_frame
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
writer = SessionWriter(Path(sys.argv[1]), LABELS, {})
try:
    for start in range(0, 100_000, 100):
        writer.add_frames(make_frame(0, index) for index in range(start, start + 100))
        writer.commit()
except ExportError as error:
    print(start, error)
    writer.close(complete=False)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
def test_a_full_disk_is_reported_and_keeps_the_stored_frames(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    run = subprocess.run([sys.executable, "-c", FULL_DISK, path], cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    stored, message = run.stdout.split(" ", 1)
    assert "s.sqlite" in message
    assert "raise the limit (ulimit -f)" in message
    with SessionReader(path) as reader:
        assert reader.count(0) == int(stored) > 0
        assert [frame.ref.index for frame in reader.frames(0)] == list(range(int(stored)))


def test_a_session_for_which_there_is_no_room_leaves_no_file(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(ExportError, match="cannot create"):
            SessionWriter(tmp_path / "s.sqlite", LABELS, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("s.sqlite")]


ENDLESS = """
import sys
from pathlib import Path
from framefleet.engine.store.session import SessionWriter
from tests.support.store import LABELS, make_frame, video_info
writer = SessionWriter(Path(sys.argv[1]), LABELS, {})
writer.add_source(0, "a.mp4", video_info("a.mp4", 10**9))
index = 0
while True:
    writer.add_frames(make_frame(0, number) for number in range(index, index + 100))
    index += 100
    writer.commit()
    print(index, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_a_killed_writer_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with subprocess.Popen([sys.executable, "-c", ENDLESS, path], cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        committed = [int(process.stdout.readline()) for _ in range(20)][-1]
        process.send_signal(signal.SIGKILL)
    with SessionReader(path) as reader:
        indices = [frame.ref.index for frame in reader.frames(0)]
        assert len(indices) >= committed
        assert indices == list(range(len(indices)))
        assert not reader.sources()[0].finished
    write_session(path, {"b.mp4": 1}, cancelled=True)  # the next run keeps it
    with SessionReader(path.with_name("s.previous.sqlite")) as reader:
        assert reader.count(0) == len(indices)


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
def test_names_that_are_not_valid_text_still_identify_their_files(tmp_path: Path) -> None:
    folder, name = tmp_path / "caf\udce9", "stra\udcdfe.mp4"  # Latin-1 on a disk of UTF-8
    folder.mkdir()
    (folder / name).touch()
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {"folder": str(folder)}) as writer:
        writer.add_source(0, name, video_info(name, 1))
        writer.add_frames([make_frame(0, 0, name=name, failure=f"{name} is spoiled")])
        writer.finish_source(0, name, Ledger(1, 0, {}, {words("spoiled"): 1}), 1.0, words(f"{name} is damaged"))
        writer.finish_source(1, f"other-{name}", Ledger(), 0.0, words(f"other-{name} is no video"))
    with SessionReader(tmp_path / "s.sqlite") as reader:
        first, second = reader.sources()
        (frame,) = reader.frames(0)
    assert first.file.exists()
    text = r"stra\xDFe.mp4"
    assert (first.path, first.name, first.error) == (text, text, words(f"{text} is damaged"))
    assert (second.path, second.error) == (f"other-{text}", words(f"other-{text} is no video"))
    assert (frame.ref.name, frame.failure) == (text, words(f"{text} is spoiled"))
