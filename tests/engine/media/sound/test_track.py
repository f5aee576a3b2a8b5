"""Sound of real files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.errors import SourceError
from framefleet.engine.media.sound.track import RATE, SoundTrack
from tests.support.media import make_sound, make_video


def positions(path: Path, pts: float) -> tuple[float, float]:
    """The pts of the first sample, and where the tone jumps from silence, seconds."""
    with SoundTrack(path) as track:
        parts = list(track.samples(pts))
    whole = np.concatenate([samples for _, samples in parts])
    loud = np.flatnonzero(np.abs(whole[:, 0].astype(int)) > 4000)
    return parts[0][0], parts[0][0] + float(loud[0]) / RATE


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "webm", "avi"])
@pytest.mark.parametrize("start", [0.0, 0.5])
def test_a_tone_is_where_the_file_has_it(tmp_path: Path, suffix: str, start: float) -> None:
    path = make_sound(tmp_path / f"tone.{suffix}", 2.0, begins=1.0)
    first, tone = positions(path, start)
    assert first == pytest.approx(start, abs=0.03)
    assert tone == pytest.approx(1.0, abs=0.03)


def test_a_video_without_sound_is_explained(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"silent\.mp4 has no sound"):
        SoundTrack(make_video(tmp_path / "silent.mp4", 3))
