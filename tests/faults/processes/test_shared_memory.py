"""Too little shared memory, as in a container with Docker's default or less."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from framefleet.engine.media.preview.messages import SHARED_MEMORY, create_shared_memory
from tests.support.paths import PROJECT

PLAYER = PROJECT / "tests/app/window/player/test_player.py"
WITH_SMALL_MEMORY = ("unshare", "--mount", "--map-root-user", "sh", "-c", 'mount -t tmpfs -o size=512k tmpfs /dev/shm && exec "$@"', "sh")


def _can_mount() -> bool:
    try:
        return subprocess.run([*WITH_SMALL_MEMORY, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not _can_mount(), reason="needs unshare and the right to mount in a namespace of its own")
def test_the_preview_plays_without_shared_memory(tmp_path: Path) -> None:
    test = f"{PLAYER}::test_playing_shows_all_frames_in_order_at_their_time_and_stops_at_the_end"
    # with a folder of its own: two runs of pytest that remove old folders at once leave an iterator open, which counts as a failure
    options = ("-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'inner'}")
    command = [*WITH_SMALL_MEMORY, sys.executable, "-m", "pytest", *options, test]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=PROJECT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not SHARED_MEMORY.is_dir(), reason="needs /dev/shm")
def test_memory_that_is_not_there_is_refused_and_leaves_nothing() -> None:
    before = set(SHARED_MEMORY.glob("psm_*"))
    assert create_shared_memory(1 << 45) is None
    assert set(SHARED_MEMORY.glob("psm_*")) <= before
    memory = create_shared_memory(1 << 16)
    assert memory is not None
    memory.close()
    memory.unlink()
