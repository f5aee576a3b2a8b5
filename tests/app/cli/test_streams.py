"""``framefleet detect`` with addresses of cameras and streams."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import pytest

from framefleet.app.cli import sessions
from framefleet.engine.media.live.messages import LiveState
from framefleet.engine.notices import FramefleetError
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.run.recorder import Recorder
from framefleet.engine.store import parts
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.facts import EPOCH, LiveRecord, RecordedFiles
from framefleet.engine.store.files import session_parts, stamp_of_part
from framefleet.engine.store.parts import begin_of_interval, move_past
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.zones import read_counts
from framefleet.engine.zones.file import parse_zones, zones_text
from framefleet.engine.zones.shapes import Zone, ZoneSet
from tests.support.cli import FAST, Outcome, read_lines, run_main
from tests.support.live.http_camera import HttpCamera
from tests.support.live.servers import RtspServer, free_port
from tests.support.media import make_video
from tests.support.pool import slow_main


def detect(out: Path, *arguments: str | Path) -> Outcome:
    return run_main("detect", *arguments, *FAST, "--out", out, "--json")


def balanced(source: dict[str, Any]) -> dict[str, int]:
    """The frames of a source, whose sum must be right."""
    frames: dict[str, int] = source["frames"]
    assert frames["received"] == frames["inferred"] + frames["dropped"] + frames["failed"]
    assert frames["inferred"] <= frames["decoded"] <= frames["received"]
    return frames


def record_of(out: Path, source: int = 0) -> LiveRecord:
    with SessionReader(out / "session.sqlite") as reader:
        return LiveRecord.read(reader.facts[LiveRecord.key(source)])


def test_rtsp_with_password(tmp_path: Path) -> None:
    with RtspServer(user="me", password="s3cret") as server:
        run = detect(tmp_path, server.address.replace("//", "//me:s3cret@"), "--to", "3s")
    assert run.status == 0, run.err
    (source,) = run.report["sources"]
    assert source["path"] == server.address
    frames = balanced(source)
    assert frames["inferred"] > 10
    (device,) = run.report["devices"]
    assert 0 < source["latency_ms"]["p50"] <= source["latency_ms"]["p99"]
    assert source["latency_ms"]["p50"] == pytest.approx(device["latency_ms"]["p50"], rel=0.5)  # the only stream of the device
    lines = read_lines(tmp_path / f"127-0-0-1-{server.port}-cam.jsonl")
    assert len(lines) == frames["inferred"]
    assert [line["frame"] for line in lines] == [*range(len(lines))]
    assert [line["pts"] for line in lines] == sorted(line["pts"] for line in lines)
    assert all(line["clock"] for line in lines)
    said = run.out + run.err + (tmp_path / "session.sqlite").read_bytes().decode("latin-1") + str(lines)
    assert "s3cret" not in said
    states = [change.what for change in record_of(tmp_path).changes]
    assert states[:4] == [LiveState.CONNECTING, LiveState.WAITING_FOR_KEYFRAME, LiveState.RUNNING, EPOCH]
    assert states[-1] == LiveState.STOPPED


def test_the_password_comes_from_a_file_and_is_in_no_process_list(tmp_path: Path) -> None:
    netrc = tmp_path / "cameras"
    netrc.write_text("machine 127.0.0.1 login me password s3cret\n")
    netrc.chmod(0o600)
    seen: list[str] = []
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.2):
            for process in Path("/proc").glob("[0-9]*"):
                for name in ("cmdline", "environ"):
                    try:
                        text = (process / name).read_bytes()
                    except OSError:
                        continue
                    if b"s3cret" in text and b"rtsp_server" not in text:
                        seen.append(str(text))

    with RtspServer(user="me", password="s3cret") as server:
        looking = threading.Thread(target=look)
        looking.start()
        run = detect(tmp_path / "out", server.address, "--netrc", netrc, "--to", "2s")
        done.set()
        looking.join()
    assert run.status == 0, run.err
    assert balanced(run.report["sources"][0])["inferred"] > 5
    assert seen == []


def test_a_wrong_password_ends_the_source(tmp_path: Path) -> None:
    with RtspServer(user="me", password="s3cret") as server:
        run = detect(tmp_path, server.address.replace("//", "//me:wr0ng@"))
    assert run.status == 2
    assert "the source refuses the user or the password" in run.err
    assert "wr0ng" not in run.err + run.out


def sizes_of(out: Path) -> set[tuple[int, int]]:
    """The sizes of the frames that a run has stored so far."""
    with suppress(FramefleetError, KeyError, sqlite3.Error), SessionReader(out / "session.sqlite") as reader:
        return {(frame.width, frame.height) for frame in reader.frames(0)}
    return set()


@pytest.mark.slow  # tests/engine/media/live/test_capture.py has this server, test_rtsp_with_password the whole command
def test_a_server_that_restarts_with_another_size(tmp_path: Path) -> None:
    with RtspServer() as server:
        command = ["detect", server.address, *FAST, "--out", str(tmp_path), "--json"]
        with subprocess.Popen([sys.executable, "-m", "framefleet.app", *command], stdout=subprocess.PIPE, text=True) as process:
            for seen in ({(640, 360)}, {(640, 360), (320, 240)}):
                while sizes_of(tmp_path) != seen:
                    assert process.poll() is None
                    time.sleep(0.5)
                if len(seen) == 1:
                    server.stop()
                    server.start(width=320, height=240)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    balanced(json.loads(out.splitlines()[-1])["sources"][0])
    with SessionReader(tmp_path / "session.sqlite") as reader:
        (source,) = reader.sources()
        assert source.ledger.balanced
    changes = record_of(tmp_path).changes
    assert [change.reason.code for change in changes if change.what == EPOCH] == ["live.first", "live.reconnected"]
    assert LiveState.WAITING_TO_RECONNECT in [change.what for change in changes]


@pytest.mark.slow  # tests/engine/pool/test_live_sources.py has streams that wait for their device
def test_more_than_the_device_can_take_is_dropped_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device takes a fifth of a second for each frame of three cameras."""
    monkeypatch.setattr(EnginePool, "worker_main", staticmethod(partial(slow_main, seconds=0.2)))
    with HttpCamera(tmp_path) as camera:
        run = detect(tmp_path / "out", *[f"{camera.address}/mjpeg?{number}" for number in range(3)], "--to", "4s")
    assert run.status == 0, run.err
    counts = [balanced(source) for source in run.report["sources"]]
    assert all(frames["dropped"] > 0 for frames in counts)
    assert all(frames["inferred"] > 0 for frames in counts)


def test_a_file_over_http_ends_by_itself_and_is_read_once(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera:
        run = detect(tmp_path / "out", *[f"{camera.address}/file.ts"] * 2)
    assert run.status == 0, run.err
    assert "1 source named more than once, and used once" in run.err
    assert len(run.report["sources"]) == 1
    assert balanced(run.report["sources"][0])["inferred"] == 50  # what is not live loses nothing


def test_an_mp4_with_its_index_at_its_end_needs_a_server_that_sends_parts(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera:
        read = detect(tmp_path / "read", f"{camera.address}/parts/file.mp4")
        refused = detect(tmp_path / "refused", f"{camera.address}/file.mp4")
    assert read.status == 0, read.err
    assert balanced(read.report["sources"][0])["inferred"] == 250
    assert refused.status == 2
    assert "the index of the MP4 file is at its end, and the server does not send parts of files" in refused.err


def test_nothing_of_a_file_over_http_is_stored_beyond_its_end_option(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera:
        run = detect(tmp_path / "out", f"{camera.address}/file.ts", "--to", "1s")
    assert run.status == 0, run.err
    frames = balanced(run.report["sources"][0])
    assert frames["inferred"] == frames["received"] - frames["dropped"] == 25


@pytest.mark.slow  # tests/engine/media/live has a file that grows
def test_a_file_that_grows_loses_no_frame(tmp_path: Path) -> None:
    whole = make_video(tmp_path / "whole.ts", 100, (160, 120), 25).read_bytes()
    path = tmp_path / "growing.ts"
    path.write_bytes(whole[: len(whole) // 2])

    def grow() -> None:
        with path.open("ab") as file:
            file.write(whole[len(whole) // 2 :])

    timer = threading.Timer(3.0, grow)
    timer.start()
    run = detect(tmp_path / "out", "--follow", path, "--to", "3s")
    timer.join()
    assert run.status == 0, run.err
    frames = balanced(run.report["sources"][0])
    lines = read_lines(tmp_path / "out" / "growing.jsonl")
    assert len(lines) == frames["inferred"]
    assert len(lines) >= 75
    steps = {round(after["pts"] - before["pts"], 3) for before, after in pairwise(lines)}
    assert max(steps) < 0.08  # none between two is missing


def test_ctrl_c_stores_and_exports_what_came_and_no_process_shows_the_password(tmp_path: Path) -> None:
    with HttpCamera(tmp_path, login="me:h1dden") as camera:
        address = f"{camera.address}/mjpeg".replace("//", "//me:h1dden@")
        command = [sys.executable, "-m", "framefleet.app", "detect", address, *FAST, "--out", str(tmp_path / "out"), "--json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("1 of 1 stream running"):
                break
        words = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        everybody = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert f"{camera.address}/mjpeg".encode() in words
    assert str(tmp_path / "out").encode() in words
    assert not any(b"h1dden" in text for text in everybody)
    assert process.returncode == 130
    report = json.loads(out.splitlines()[-1])
    frames = balanced(report["sources"][0])
    assert frames["inferred"] == len(read_lines(tmp_path / "out" / "127-0-0-1-{}-mjpeg.jsonl".format(camera.address.rpartition(":")[2])))


def test_a_second_run_keeps_the_frames_of_the_first(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with HttpCamera(tmp_path) as camera:
        first = detect(out, f"{camera.address}/file.ts")
        second = detect(out, f"{camera.address}/file.ts")
    assert (first.status, second.status) == (0, 0), second.err
    with SessionReader(out / "session.sqlite") as reader:
        assert [source.number for source in reader.sources()] == [0, 1]
        assert [reader.count(0), reader.count(1)] == [run.report["sources"][0]["frames"]["inferred"] for run in (first, second)]


def test_a_run_moves_past_intervals_and_removes_those_that_are_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SETTLE_SECONDS", 0.0)
    out = tmp_path / "out"
    database = out / "session.sqlite"
    with HttpCamera(tmp_path) as camera:
        first = detect(out, f"{camera.address}/file.ts")
        with closing(sqlite3.connect(database)) as connection, connection:  # as if it had run two days ago
            (begun,) = connection.execute("SELECT started FROM sources").fetchone()
            earlier = datetime.fromisoformat(begun) - timedelta(days=2)
            connection.execute("UPDATE sources SET started = ?", (earlier.isoformat(),))
        second = detect(out, f"{camera.address}/file.ts")
        assert (first.status, second.status) == (0, 0), second.err
        (part,) = session_parts(database)
        assert "1 part of the session, of earlier hours, beside it" in second.err
        with SessionReader(part) as moved, SessionReader(database) as reader:
            assert moved.count(0) == first.report["sources"][0]["frames"]["inferred"]
            assert (reader.count(0), reader.count(1)) == (0, second.report["sources"][0]["frames"]["inferred"])
            assert Clock.of(moved, moved.source(0)).started == earlier
        third = detect(out, f"{camera.address}/file.ts", "--session-minutes", "30", "--record-days", "1")
        assert third.status == 0, third.err
    assert part.exists()  # nothing was moved or recorded, so there was no reason to look
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE sources SET started = ? WHERE source = 1", (earlier.isoformat(),))
    with HttpCamera(tmp_path) as camera:
        assert detect(out, f"{camera.address}/file.ts", "--record-days", "1").status == 0
    assert session_parts(database) == []


@pytest.fixture
def over_the_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first second of a stream lies in the previous hour, and is moved before the stream ends."""
    begun = begin_of_interval(datetime.now().astimezone(), 60) - timedelta(seconds=1)
    set_start, finish = SessionWriter.set_start, Recorder._finish

    def finish_later(recorder: Recorder, *arguments: Any) -> None:
        recorder._writer.commit()
        move_past(recorder._writer.path, 60, begun + timedelta(seconds=30))
        finish(recorder, *arguments)

    monkeypatch.setattr(SessionWriter, "set_start", lambda writer, source, _: set_start(writer, source, begun))
    monkeypatch.setattr(Recorder, "_finish", finish_later)


@pytest.mark.usefixtures("over_the_hour")
@pytest.mark.parametrize("many", [False, True])
def test_a_run_over_the_full_hour_writes_and_counts_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: bool) -> None:
    monkeypatch.setattr(sessions, "MAX_PARTS", 0 if many else 24)
    out, zones = tmp_path / "out", tmp_path / "zones.json"
    everywhere = Zone("all", ((0, 0), (320, 0), (320, 240), (0, 240)))
    zones.write_text(zones_text(ZoneSet((320, 240), (everywhere,))))
    with HttpCamera(tmp_path) as camera:
        run = detect(out, f"{camera.address}/file.ts", "--confidence", "0.1", "--track", "bytetrack", "--zones", zones)
    assert run.status == 0, run.err
    database = out / "session.sqlite"
    (part,) = session_parts(database)
    (last,) = out.glob("*.jsonl")
    moved = [*out.glob(f"{stamp_of_part(part, database)}/*.jsonl")]
    ((counted,),) = [source["counts"] for source in run.report["zones"]]
    with SessionReader(part) as reader, SessionReader(database) as current:
        visits = [
            sum(read_counts(each, each.source(0), parse_zones(zones.read_text())).visited(0) for each in readers)
            for readers in ([reader, current], [current])
        ]
        if many:
            assert moved == []
            assert "1 part of the session, of earlier hours, beside it" in run.err
        else:
            assert [len(path.read_text().splitlines()) for path in (*moved, last)] == [reader.count(0), current.count(0)]
            assert "beside it" not in run.err
    assert visits[0] > visits[1] > 0
    assert counted["visits"] == visits[many]


@pytest.mark.usefixtures("over_the_hour")
def test_many_files_of_a_run_over_the_full_hour_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_LINES", 1)
    out = tmp_path / "out"
    with HttpCamera(tmp_path) as camera:
        run = run_main("detect", f"{camera.address}/file.ts", *FAST, "--out", out)
    assert run.status == 0, run.err
    assert f"2 files in {out}\n" in run.out


def test_tracks_and_formats_of_a_stream(tmp_path: Path) -> None:
    out = tmp_path / "out"
    formats = "jsonl,csv,coco,mot,cvat,labelstudio,megadetector,events"
    with HttpCamera(tmp_path) as camera:
        run = detect(out, f"{camera.address}/file.ts", "--confidence", "0.1", "--track", "bytetrack", "--format", formats)
    assert run.status == 0, run.err
    name = f"127-0-0-1-{camera.address.rpartition(':')[2]}-file"
    written = {path.name.removeprefix(f"{name}.") for path in out.iterdir() if path.name.startswith(name)}
    assert written == {"jsonl", "detections.csv", "coco.json", "mot", "cvat.xml", "labelstudio.json", "labelstudio.xml"}
    with SessionReader(out / "session.sqlite") as reader:
        assert reader.is_tracked(0)
    video = run_main("results", out, "--format", "video")
    assert "the pictures of a stream are not kept, so it has no video" in video.err
    assert run_main("track", out).status == 0


def recorded(out: Path, source: int = 0) -> RecordedFiles:
    with SessionReader(out / "session.sqlite") as reader:
        return RecordedFiles.of(reader.facts, source)


def frames_of(path: str | Path) -> list[float]:
    """The times of the pictures in a file."""
    with av.open(str(path)) as container:
        return [float(frame.time) for frame in container.decode(video=0)]


def test_a_recording_has_the_picture_of_each_frame_and_clips_are_cut_out_of_it(tmp_path: Path) -> None:
    out, place = tmp_path / "out", tmp_path / "rec"
    with RtspServer(audio=True, group=10) as server:
        run = detect(out, server.address, "--to", "4s", "--record", place, "--record-minutes", "1", "--confidence", "0.1")
    assert run.status == 0, run.err
    assert f"recorded to {place}" in run.err
    files = recorded(out)
    assert {file.path for file in files.files} == {str(path) for path in place.iterdir()}
    with SessionReader(out / "session.sqlite") as reader:
        stored = [frame.ref.pts for frame in reader.frames(0)]
    times = {file.path: frames_of(file.path) for file in files.files}
    for seconds in stored:
        found = files.at(seconds)
        assert found is not None
        assert min(abs(found[1] - each) for each in times[found[0].path]) < 0.002
    assert run.report["sources"][0]["recorded"]["files"] == len(files.files)
    clips = run_main("clips", out, "--stills", "--padding", "0.2s", "--out", tmp_path / "clips")
    assert clips.status == 0, clips.err
    written = sorted(path.suffix for path in (tmp_path / "clips").iterdir())
    assert {".mkv", ".jpg"} == set(written)
    for path in (tmp_path / "clips").glob("*.mkv"):
        assert frames_of(path)
    for file in place.iterdir():
        file.unlink()
    gone = run_main("clips", out, "--out", tmp_path / "clips")
    assert gone.status == 1
    assert "was not recorded then, or its files are gone" in gone.err


@pytest.mark.slow  # tests/engine/store/test_parts.py reads a session during a run, the test above cuts clips
def test_results_and_clips_of_a_session_that_grows(tmp_path: Path) -> None:
    out, zones = tmp_path / "out", tmp_path / "zones.json"
    shape = {"name": "door", "points": [[0, 0], [639, 0], [639, 359], [0, 359]]}
    zones.write_text(json.dumps({"version": 1, "width": 640, "height": 360, "zones": [shape]}))
    with RtspServer(group=5) as server:
        words = [server.address, *FAST, "--confidence", "0.01", "--out", out, "--record", tmp_path / "rec"]
        process = subprocess.Popen(
            [sys.executable, "-m", "framefleet.app", "detect", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("1 of 1 stream running") and " 1 frame " not in line:
                break
        early = tmp_path / "early"
        results = run_main("results", out, "--format", "jsonl,csv,events", "--out", early)
        clips = run_main("clips", out, "--stills", "--padding", "0.2s", "--out", tmp_path / "clips")
        assert process.poll() is None
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
    assert results.status == 0, results.err
    assert clips.status == 0, clips.err
    assert [path for path in (tmp_path / "clips").glob("*.mkv") if frames_of(path)]
    assert [*(tmp_path / "clips").glob("*.jpg")]
    (first,) = early.glob("*.jsonl")
    before = read_lines(first)
    assert run_main("track", out).status == 0
    late = run_main("results", out, "--format", "jsonl,events,zones", "--out", tmp_path / "late", "--zones", zones)
    assert late.status == 0, late.err
    lines = read_lines(tmp_path / "late" / first.name)
    assert len(lines) > len(before) > 0
    assert [line["frame"] for line in lines] == [*range(len(lines))]
    for line, other in zip(before, lines, strict=False):
        assert (line["pts"], line["clock"], line["frame"]) == (other["pts"], other["clock"], other["frame"])
    starts = [datetime.fromisoformat(line["clock"]).timestamp() - line["pts"] for line in lines]
    assert max(starts) - min(starts) < 0.002
    file = recorded(out).files[0]  # at a full hour, another one begins
    assert abs(datetime.fromisoformat(file.began).timestamp() - file.begin - starts[0]) < 0.5
    assert len([*(tmp_path / "late").iterdir()]) >= 3


def test_another_address_is_recorded_than_the_one_in_which_is_detected(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with RtspServer(width=320, height=240) as small, RtspServer(width=640, height=360, group=10) as large:
        run = detect(out, small.address, "--record", tmp_path / "rec", "--record-from", large.address, "--to", "4s")
    assert run.status == 0, run.err
    balanced(run.report["sources"][0])
    (file,) = recorded(out).files
    with av.open(file.path) as container:
        assert (container.streams.video[0].width, container.streams.video[0].height) == (640, 360)
    with SessionReader(out / "session.sqlite") as reader:
        frames = [*reader.frames(0)]
    assert {(frame.width, frame.height) for frame in frames} == {(320, 240)}
    assert file.end is not None
    assert any(file.begin <= frame.ref.pts <= file.end for frame in frames)


def test_a_recording_whose_source_does_not_answer_does_not_stop_detection(tmp_path: Path) -> None:
    nobody = f"rtsp://127.0.0.1:{free_port()}/main"
    with HttpCamera(tmp_path) as camera:
        run = detect(tmp_path / "out", f"{camera.address}/mjpeg", "--record", tmp_path / "rec", "--record-from", nobody, "--to", "3s")
    assert run.status == 0, run.err
    assert balanced(run.report["sources"][0])["inferred"] > 5
    assert "the source of the recording is lost" in run.err
    assert recorded(tmp_path / "out").files == ()


def test_an_alert_has_a_still_of_its_moment(tmp_path: Path) -> None:
    out, heard = tmp_path / "out", tmp_path / "heard"
    program = tmp_path / "command.py"
    program.write_text("import sys\nopen(sys.argv[1], 'a').write(sys.stdin.read())\n")
    with HttpCamera(tmp_path) as camera:
        words = ["--confidence", "0.1", "--alert", "class=0, quiet=1s", "--alert-command", f"{sys.executable} {program} {heard}"]
        run = detect(out, f"{camera.address}/mjpeg", "--to", "2.5s", *words)
    assert run.status == 0, run.err
    assert "(class=0, quiet=1s)" in run.err
    lines = read_lines(out / "alerts.jsonl")
    assert read_lines(heard) == lines
    assert 2 <= len(lines) <= 3
    stored = {line["frame"]: line for line in read_lines(out / f"127-0-0-1-{camera.address.rpartition(':')[2]}-mjpeg.jsonl")}
    for line in lines:
        assert line["pts"] == pytest.approx(stored[line["frame"]]["pts"])
        assert line["detections"]
        with av.open(line["still"]) as picture:
            assert (picture.streams.video[0].width, picture.streams.video[0].height) == (320, 240)


def test_stills_of_alerts_are_no_sources_unless_they_are_named(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with HttpCamera(tmp_path) as camera:
        for _ in range(2):  # the second run begins a new session
            run = detect(out, f"{camera.address}/mjpeg", "--to", "2s", "--confidence", "0.1", "--alert", "class=0")
            assert run.status == 0, run.err
    assert len([*(out / "alerts").glob("*.jpg")]) > 1
    video = make_video(out / "mine.mp4", frames=4)
    again = detect(tmp_path / "again", out)
    assert [source["path"] for source in again.report["sources"]] == [str(video)]
    assert "left out, because Framefleet wrote them: 1 folder of pictures" in again.err
    (named,) = detect(tmp_path / "named", out / "alerts").report["sources"]
    assert named["path"] == str(out / "alerts")


def test_alerts_that_are_not_written_fail_the_run_and_the_last_command_is_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "alerts.jsonl").mkdir(parents=True)
    with HttpCamera(tmp_path) as camera:
        words = ["--confidence", "0.1", "--alert", "class=0", "--alert-command", f"{sys.executable} -c 'raise SystemExit(3)'"]
        run = detect(out, f"{camera.address}/file.ts", *words)
    assert (run.status, run.report["exit"]) == (1, "failed")
    assert "the alert could not be written" in run.err
    assert "ended with status 3" in run.err


def test_the_oldest_files_are_removed_and_no_others(tmp_path: Path) -> None:
    out, place = tmp_path / "out", tmp_path / "rec"
    place.mkdir()
    foreign = place / "foreign_2020-01-01_00-00-00.mkv"
    foreign.write_bytes(bytes(10_000_000))
    with HttpCamera(tmp_path) as camera:
        kept = []
        for _ in range(3):
            run = detect(out, f"{camera.address}/file.ts", "--record", place, "--record-gib", "0.00005")
            assert run.status == 0, run.err
            kept.append({path.name for path in place.iterdir()} - {foreign.name})
    assert foreign.exists()
    assert len(kept[0]) == 1
    assert len(kept[2]) < 3
    assert not kept[2] >= kept[0]
    sizes = sum((place / name).stat().st_size for name in kept[2])
    assert sizes <= 0.00005 * 2**30
    assert {Path(file.path).name for number in range(3) for file in recorded(out, number).files} == kept[2]


def test_recorded_files_that_are_too_old_are_removed(tmp_path: Path) -> None:
    out, place = tmp_path / "out", tmp_path / "rec"
    with HttpCamera(tmp_path) as camera:
        words = f"{camera.address}/file.ts", "--record", place, "--record-days", "1"
        assert detect(out, *words).status == 0
        (old,) = place.iterdir()
        (file,) = recorded(out).files
        earlier = (datetime.fromisoformat(file.began) - timedelta(days=2)).isoformat()
        changed = RecordedFiles((replace(file, began=earlier),)).text()
        with closing(sqlite3.connect(out / "session.sqlite")) as connection, connection:
            connection.execute("UPDATE session SET value = ? WHERE key = ?", (changed, RecordedFiles.key(0)))
        assert detect(out, *words).status == 0
    (new,) = place.iterdir()
    assert new != old
    assert recorded(out).files == ()
    assert [file.path for file in recorded(out, 1).files] == [str(new)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rtsp://", "--to", "1s"], "not an address of a stream"),
        (["rtsp://me:s3cret@cam/a", "street.mp4"], "detect in them with two commands"),
        (["rtsp://cam/a", "--every", "1s"], "--every is for files"),
        (["rtsp://cam/a", "--shard", "1/2"], "--shard is for files"),
        (["rtsp://cam/a", "--parallel", "tiles"], "leave out --parallel"),
        (["rtsp://cam/a", "--to", "100"], "--to has to be a time"),
        (["street.mp4", "--retries", "3"], "the sources are files"),
        (["--follow", "nothing.ts"], "is not a file"),
        (["rtsp://cam/a", "--netrc", "nothing"], "cannot be read as a netrc file"),
        (["street.mp4", "--password-from", "keyring"], "--password-from is for streams"),
        (["street.mp4", "--alert", "class=0"], "--alert is for streams"),
        (["rtsp://cam/a", "--alert-command", "true"], "say when with --alert"),
        (["rtsp://cam/a", "--alert", "zone=door"], "there is no zone 'door' for alerts: give --zones FILE"),
        (["street.mp4", "--record", "rec"], "--record is for streams"),
        (["rtsp://cam/a", "--record-from", "rtsp://cam/b"], "say where with --record DIR"),
        (["rtsp://cam/a", "rtsp://cam/b", "--record", "rec", "--record-from", "rtsp://cam/c"], "once for each stream"),
    ],
)
def test_what_does_not_suit_a_stream_is_refused(arguments: list[str], words: str, tmp_path: Path) -> None:
    try:
        run = run_main("detect", *arguments, *FAST, "--out", tmp_path)
    except SystemExit:
        pytest.fail("argparse ended the program")
    assert run.status == 2
    assert words in run.err
    assert "s3cret" not in run.err


@pytest.mark.parametrize(("retries", "attempts"), [("0", "1 attempt"), ("1", "2 attempts")])
def test_nobody_answers(tmp_path: Path, retries: str, attempts: str) -> None:
    """The first attempt to connect is not a retry."""
    run = detect(tmp_path, "http://127.0.0.1:9/mjpeg", "--retries", retries)
    assert run.status == 2
    assert f"the source was given up after {attempts}:" in run.err
