from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import av
import pytest

from framefleet.engine.bench import clip_process as benchmark_clip
from framefleet.engine.bench.clip_process import make, repeat
from framefleet.engine.media.probe import probe
from framefleet.engine.notices import Notice, SourceError
from tests.support.media import make_audio, make_video


def test_a_made_clip_is_1080p_h264_and_moves(tmp_path: Path) -> None:
    assert make(tmp_path / "clip.mp4", 4) == 4
    info = probe(tmp_path / "clip.mp4")
    assert (info.codec, info.width, info.height, info.frames) == ("h264", 1920, 1080, 4)
    with av.open(str(tmp_path / "clip.mp4")) as container:
        first, *_, last = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
    assert first.std() > 10
    assert abs(first.astype(int) - last).mean() > 1


@pytest.mark.parametrize("bframes", [0, 2])
def test_repeated_to_the_length_wanted(tmp_path: Path, bframes: int) -> None:
    video = make_video(tmp_path / "short.mp4", 50, gop=25, bframes=bframes)
    assert repeat(video, 230, tmp_path / "long.mp4") == 250
    info = probe(tmp_path / "long.mp4")
    assert info.frames == 250
    assert sum(segment.frames for segment in info.segments) == 250
    assert len(info.segments) == 3
    with av.open(str(tmp_path / "long.mp4")) as container:
        times = [frame.pts for frame in container.decode(video=0)]
    assert len(times) == 250
    assert len({after - before for before, after in pairwise(times)}) == 1


def test_what_cannot_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "text.mp4").write_text("no video")
    with pytest.raises(SourceError, match="cannot be repeated"):
        repeat(tmp_path / "text.mp4", 10, tmp_path / "long.mp4")
    with pytest.raises(SourceError, match=r"none\.mp4 cannot be repeated: No such file"):
        repeat(tmp_path / "none.mp4", 10, tmp_path / "long.mp4")


def test_the_process_tells_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark_clip.main(str(tmp_path / "long.mp4"), "5", str(tmp_path / "none.mp4")) == 1
    error = Notice.from_json(json.loads(capsys.readouterr().out)["error"])
    assert error.code == "bench.not_repeated"
    subprocess.run([sys.executable, "-m", "framefleet.engine.bench.clip_process", str(tmp_path / "clip.mp4"), "2"], check=True)
    assert probe(tmp_path / "clip.mp4").frames == 2


def test_videos_without_pictures_or_times(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"a\.m4a has no pictures"):
        repeat(make_audio(tmp_path / "a.m4a"), 10, tmp_path / "long.mp4")
    raw = make_video(tmp_path / "a.h264", 5)
    with pytest.raises(SourceError, match=r"a\.h264 has no frames with times"):
        repeat(raw, 10, tmp_path / "long.mp4")
