from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from onnx import TensorProto, helper

from framefleet.engine.media.sources import stamp_of
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.pool.events import DeviceReady, FramesDone, SourceFinished, SourceOpened
from framefleet.engine.pool.hosts import Hosts
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import EngineSettings, Isolation, Precision, RunSettings
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import DeviceId
from tests.support.media import make_video
from tests.support.models import small_files
from tests.support.onnx_models import save
from tests.support.store import LABELS, same_frame, write_session

CPU = DeviceId("cpu", "0")
SETTINGS = RunSettings(small_files(), (CPU,), engine=EngineSettings(stored_confidence=0.05))


def test_every_event_is_stored_before_it_is_told(tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", frames=40)
    told, opened = [], False
    with DetectionRun(SETTINGS, tmp_path / "s.sqlite", LABELS) as session, SessionReader(session.database) as reader:
        assert session.add(video) == 0
        assert session.add(tmp_path / "none.mp4") == 1
        session.finish()
        for event in session.events():
            match event:
                case SourceOpened():
                    opened = True
                    opened_one, queued = reader.sources()
                    assert (opened_one.path, opened_one.stamp) == (str(video), stamp_of(video))
                    assert (queued.path, queued.kind, queued.finished) == (str(tmp_path / "none.mp4"), None, False)
                case FramesDone(_, frames):
                    assert opened
                    told += frames
                case SourceFinished(source, ledger):
                    stored = {row.number: row for row in reader.sources()}[source]
                    assert stored.decoder == (Notice("media.decoded_by_cpu") if source == 0 else None)
                    assert stored.finished
                    assert stored.ledger == ledger == session.sources[source].ledger
                    assert reader.count(source) == ledger.inferred
                case DeviceReady(engine):
                    assert engine.device == CPU
        read = list(reader.frames(0))
        assert len(read) == 40
        assert all(map(same_frame, read, told))
        assert any(frame.detections for frame in read)
    report = session.report("failed")
    assert [source["frames"]["inferred"] for source in report["sources"]] == [40, 0]
    assert report["devices"][0]["frames"] == 40
    assert report["exit"] == "failed"
    assert session.sources[1].error is not None


def test_devices_join_and_leave_and_both_are_reported(tmp_path: Path) -> None:
    video, other = make_video(tmp_path / "a.mp4", frames=500, size=(64, 48)), DeviceId("cpu", "1")
    settings = RunSettings(small_files(), (CPU,), engine=EngineSettings(Precision.FP32), isolation=Isolation.THREAD)
    with DetectionRun(settings, tmp_path / "s.sqlite", LABELS) as session:
        session.add(video)
        session.finish()
        for event in session.events():
            match event:
                case FramesDone(_, frames) if frames[0].ref.index == 0:
                    session.add_device(other)
                case DeviceReady(engine) if engine.device == other:
                    session.remove_device(CPU)
        report = session.report("ok")
        with SessionReader(session.database) as reader:
            assert (reader.facts["isolation"], reader.facts["precision"]) == ("thread", "fp32")
            assert {str(frame.device) for frame in reader.frames(0)} == {"cpu:0", "cpu:1"}
    assert report["sources"][0]["frames"] == {"decoded": 500, "inferred": 500, "skipped": 0, "dropped": 0, "failed": 0}
    assert [device["id"] for device in report["devices"]] == ["cpu:0", "cpu:1"]
    assert sum(device["frames"] for device in report["devices"]) == 500


def test_the_window_may_add_and_cancel_from_another_thread(tmp_path: Path) -> None:
    long = make_video(tmp_path / "long.mp4", frames=2000, size=(64, 48))
    short = make_video(tmp_path / "short.mp4", frames=10)
    with DetectionRun(SETTINGS, tmp_path / "s.sqlite", LABELS) as session:

        def control() -> None:
            number = session.add(long)
            with SessionReader(session.database) as reader:
                while not reader.count(number):
                    time.sleep(0.02)
            session.cancel(number)
            session.add(short)
            session.finish()

        thread = threading.Thread(target=control)
        thread.start()
        for _ in session.events():
            pass
        thread.join()
    first, second = session.sources.values()
    assert not first.complete
    assert first.ledger.balanced
    assert first.frames == first.ledger.inferred < 2000
    assert (second.complete, second.frames) == (True, 10)
    with SessionReader(session.database) as reader:
        assert [source.complete for source in reader.sources()] == [False, True]
        assert reader.count(0) == first.frames


def test_a_session_that_was_closed_early_keeps_the_older_one(tmp_path: Path) -> None:
    write_session(tmp_path / "s.sqlite", {"old.mp4": 1})
    with DetectionRun(SETTINGS, tmp_path / "s.sqlite", LABELS) as session:
        session.add(make_video(tmp_path / "a.mp4", frames=40))
        next(session.events())
    with SessionReader(tmp_path / "s.previous.sqlite") as reader:
        assert reader.sources()[0].path == "old.mp4"


def test_an_unusable_database_starts_no_device(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ExportError, match="file"):
        DetectionRun(SETTINGS, tmp_path / "file" / "s.sqlite", LABELS)


@pytest.mark.parametrize("how", ["written over", "replaced", "touched"])
def test_a_video_that_changes_during_the_run_has_an_error(how: str, tmp_path: Path) -> None:
    """Its later segments may come from another video than the earlier ones, of the same length."""
    first, second = (make_video(tmp_path / f"{bframes}.mp4", 240, (96, 64), gop=12, bframes=bframes) for bframes in (0, 2))
    errors = list[str | None]()
    with DetectionRun(SETTINGS, tmp_path / "out.sqlite", LABELS) as session:
        session.add(first)
        session.finish()
        for event in session.events():
            match event:
                case SourceOpened() if how == "written over":
                    shutil.copyfile(second, first)
                case SourceOpened() if how == "replaced":
                    second.replace(first)
                case SourceOpened():
                    os.utime(first)
                case SourceFinished(error=error):
                    errors.append(error)
    with SessionReader(tmp_path / "out.sqlite") as reader:
        (source,) = reader.sources()
    assert errors == [source.error]
    if how == "touched":
        assert source.error is None
    else:
        assert source.error is not None
        assert f"{first} changed while it was read" in str(source.error)


class WithGpu(Hosts):
    """A machine with a GPU."""

    def devices(self, asked: Sequence[DeviceId] = ()) -> tuple[DeviceId, ...]:
        return tuple(asked) or (DeviceId("cuda", "0"),)


@pytest.mark.parametrize("operator", ["NonMaxSuppression", "NonZero"])
def test_a_model_with_operators_that_gpus_lack_runs_on_the_cpu(tmp_path: Path, operator: str) -> None:
    """Where the user has named the devices, they stay, and say what they lack."""
    nodes = [helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0), helper.make_node(operator, ["mean"], ["o"])]
    files = save(tmp_path / "a.onnx", nodes, [], [helper.make_tensor_value_info("o", TensorProto.FLOAT, ("n", 7))])
    model = replace(files, reading="nms-rows")
    model.cfg.with_suffix(".names").write_text("cat\n")
    expected = [f"the model has {operator}, which NVIDIA GPUs lack here: cuda:0 is not used"]
    for asked, notes in (((), expected), ((DeviceId("cuda", "0"),), [])):
        with DetectionRun(RunSettings(model, asked), tmp_path / f"{len(asked)}.sqlite", LABELS, hosts=WithGpu()) as run:
            assert [str(note) for note in run.notes] == notes
