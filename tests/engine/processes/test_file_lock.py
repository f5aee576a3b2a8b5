"""Locks between processes: one holds a lock, others learn which one, and no lock outlives its process."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from framefleet.engine.processes.file_lock import FileLock, LockedError

HOLD = """
import sys
from pathlib import Path
from framefleet.engine.processes.file_lock import FileLock
with FileLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder_of(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_lock_names_the_process_that_holds_it(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with holder_of(path) as process:
        with pytest.raises(LockedError) as refused:
            FileLock(path)
        assert str(refused.value.holder) == f"process {process.pid} (-c {path})"
        process.communicate()
    assert not path.exists()
    FileLock(path).close()


def test_a_killed_process_holds_no_lock(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with holder_of(path) as process:
        process.kill()
        process.wait()
        lock = FileLock(path)
    with pytest.raises(LockedError):
        FileLock(path)
    lock.close()
    lock.close()


def test_waiting_ends_when_the_lock_is_free(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    waited: list[str] = []
    with holder_of(path) as process:

        def waiting(holder: str) -> None:
            waited.append(holder)
            assert process.stdin is not None
            process.stdin.close()

        FileLock(path, waiting).close()
    assert len(waited) == 1


def test_many_that_take_and_delete_the_same_lock_never_hold_it_together(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    inside: list[int] = []

    def hold(number: int) -> int:
        for _ in range(50):
            with FileLock(path, lambda _: None):
                inside.append(number)
                assert inside == [number]
                inside.pop()
        return 50

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(hold, range(4))) == 200
    assert not path.exists()


def test_a_folder_that_cannot_be_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileLock(tmp_path / "none" / ".lock")
