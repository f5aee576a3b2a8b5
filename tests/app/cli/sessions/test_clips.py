"""Clips and pictures are cut out of the videos of an earlier run."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import av
import cv2
import pytest

from framefleet.engine.media.sources import stamp_of
from framefleet.engine.media.types import SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.store.tracks import track_session
from tests.support.cli import run_main
from tests.support.media import make_video, number_of
from tests.support.store import LABELS, make_frame, video_info

FRAMES, RATE, GOP = 150, 25, 25
SEEN = {*range(40, 60), *range(100, 110)}
"""The frames with a person; frames 55 to 110 have a bicycle, too."""


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A video of 6 s with a keyframe each second, whose pictures show their number."""
    video = make_video(tmp_path / "street.mp4", FRAMES, rate=RATE, gop=GOP, bframes=2)
    with SessionWriter(tmp_path / "session.sqlite", LABELS, {"model": "tiny"}) as writer:
        writer.add_source(0, str(video), video_info("", FRAMES), stamp_of(video))
        writer.add_frames(make_frame(0, index, int(index in SEEN) * (2 if index >= 55 else 1)) for index in range(FRAMES))
        writer.finish_source(0, str(video), Ledger(FRAMES, FRAMES), 1.0)
    return tmp_path


def numbers(path: Path) -> list[int]:
    with av.open(str(path)) as container:
        return [number_of(frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


FIRST, SECOND = "street.person+bicycle.00-00-01.40", "street.person+bicycle.00-00-03.80"


def test_exact_clips_have_the_frames_around_the_appearances(session: Path) -> None:
    run = run_main("clips", session, "--padding", "0.2s", "--exact", "--stills")
    assert run.status == 0, run.err
    folder = session / "clips"
    stills = [f"street.person+bicycle.{time}.jpg" for time in ("00-00-01.60", "00-00-02.20", "00-00-04.00")]
    assert sorted(run.out.split()) == sorted(str(folder / name) for name in (f"{FIRST}.mp4", f"{SECOND}.mp4", *stills))
    assert numbers(folder / f"{FIRST}.mp4") == [*range(35, 65)]
    assert numbers(folder / f"{SECOND}.mp4") == [*range(95, 115)]
    picture = cv2.imread(str(folder / stills[0]))
    assert picture is not None
    assert number_of(picture[..., ::-1]) == 40


def test_copied_clips_begin_at_the_keyframe_before_and_are_not_encoded_again(session: Path) -> None:
    run = run_main("clips", session, "--padding", "0.2s", "--class", "person")
    assert run.status == 0, run.err
    path = session / "clips" / "street.person.00-00-01.40.mp4"
    found = numbers(path)
    assert found[:40] == [*range(25, 65)]
    assert len(found) <= 44, "frames that others refer to may follow"
    with av.open(str(path)) as clip, av.open(str(session / "street.mp4")) as video:
        first = next(packet for packet in video.demux(video=0) if packet.pts is not None and packet.pts * packet.time_base == 1)
        assert bytes(next(clip.demux(video=0))) == bytes(first)
        assert clip.start_time == 0


def test_folders_of_pictures_that_are_left_out_are_counted(session: Path) -> None:
    with closing(sqlite3.connect(session / "session.sqlite")) as connection:
        connection.execute("INSERT INTO sources (source, path, kind, finished) VALUES (1, 'trap', ?, 1)", (SourceKind.IMAGES,))
        connection.commit()
    for chosen, said in (((), 1), (("--source", "street.mp4"), 0)):
        run = run_main("clips", session, "--overwrite", *chosen)
        assert run.status == 0, run.err
        assert run.err.count("left out: 1 source of pictures; clips are cut out of videos") == said


def test_a_longer_gap_joins_appearances(session: Path) -> None:
    """Between frame 59 and frame 100 are 1.64 s."""
    run = run_main("clips", session, "--padding", "0s", "--class", "person", "--gap", "1.7s")
    assert run.status == 0, run.err
    assert names(session / "clips") == ["street.person.00-00-01.60.mp4"]


def test_a_second_call_replaces_its_own_files_only(session: Path) -> None:
    run_main("clips", session, "--padding", "0.2s")
    before = names(session / "clips")
    (session / "clips" / f"{FIRST}.mp4").write_bytes(b"mine")
    run = run_main("clips", session, "--padding", "0.2s")
    assert run.status == 0, run.err
    assert names(session / "clips") == sorted([*before, f"{FIRST}-2.mp4"])
    assert (session / "clips" / f"{FIRST}.mp4").read_bytes() == b"mine"


def test_each_track_has_its_clip(session: Path) -> None:
    run = run_main("clips", session, "--by", "track")
    assert run.status == 2
    assert "run 'framefleet track" in run.err
    track_session(session / "session.sqlite")
    run = run_main("clips", session, "--by", "track", "--padding", "0s", "--exact", "--out", session / "tracks")
    assert run.status == 0, run.err
    assert names(session / "tracks") == ["street.person-1.00-00-01.60.mp4"]
    assert numbers(session / "tracks" / "street.person-1.00-00-01.60.mp4") == [*range(40, 110)]


def test_what_cannot_be_cut_is_said(session: Path) -> None:
    run = run_main("clips", session, "--padding", "5")
    assert (run.status, "--padding is a time: write 5s" in run.err) == (2, True)
    run = run_main("clips", session, "--class", "car")
    assert (run.status, "nothing appears" in run.err) == (1, True)
    make_video(session / "street.mp4", 20)
    run = run_main("clips", session)
    assert (run.status, "has changed since the detection" in run.err) == (1, True)
    (session / "street.mp4").unlink()
    run = run_main("clips", session)
    assert (run.status, "street.mp4 does not exist" in run.err) == (1, True)
    assert not (session / "clips").exists()
