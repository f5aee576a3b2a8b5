"""Child processes: messages, frozen ones, the staged stop, and what becomes of them when their parent dies."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from framefleet.engine.processes import child
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.processes.child_main import MIN_PATIENCE, Heartbeat, when_parent_ends
from framefleet.engine.processes.watchdog import Watchdog, start_clock, waiting_for_room
from tests.support.notices import words
from tests.support.paths import PYTHONPATH
from tests.support.pool import alive


def echo(connection: Any, greeting: str) -> None:
    connection.send(greeting)
    while True:
        try:
            connection.send(connection.recv())
        except EOFError:
            return


def test_messages_go_both_ways_and_closing_ends_it() -> None:
    process = ChildProcess("echo", echo, "hello", words=words("the echo"))
    assert process.receive() == "hello"
    process.send((1, "two"))
    assert process.receive() == (1, "two")
    outcome = process.end(10)
    assert (outcome.exit_code, outcome.crashed) == (0, True)
    assert process.end() is outcome
    process.kill()  # harmless: it has ended


def raising(connection: Any) -> None:
    raise ZeroDivisionError("by nought")


def test_an_exception_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    process = ChildProcess("raising", raising, words=words("the child"))
    assert list(process.messages()) == []
    outcome = process.end()
    assert (outcome.exit_code, str(outcome.reason), outcome.retry) == (1, "ZeroDivisionError: by nought", True)
    assert "Traceback" in capfd.readouterr().err


def test_what_a_quiet_one_prints_is_thrown_away(capfd: pytest.CaptureFixture[str]) -> None:
    process = ChildProcess("raising", raising, words=words("the child"), quiet=True)
    assert list(process.messages()) == []
    assert "by nought" in str(process.end().reason)
    assert capfd.readouterr().err == ""


LARGE = 64 << 20
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def gives_large_pages() -> bool:
    """Whether programs get large pages if they ask for them, and glibc can ask."""
    name, version = platform.libc_ver()
    asks = name == "glibc" and tuple(map(int, version.split("."))) >= (2, 35)
    return asks and HUGE_PAGES.exists() and "[madvise]" in HUGE_PAGES.read_text()


def tell_of_a_large_buffer(connection: Any) -> None:
    """Send the flags of the memory in which a large buffer lies, and the setting."""
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    middle, inside = library.malloc(ctypes.c_size_t(LARGE)) + LARGE // 2, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first, *others = line.split()
        if "-" in first and not first.endswith(":"):
            begin, end = (int(each, 16) for each in first.split("-"))
            inside = begin <= middle < end
        elif inside and first == "VmFlags:":
            connection.send((others, os.environ["GLIBC_TUNABLES"]))


@pytest.mark.skipif(not gives_large_pages(), reason="needs glibc 2.35 and Linux with large pages on request")
@pytest.mark.parametrize("users", [None, "glibc.malloc.perturb=0"])
def test_large_buffers_lie_in_large_pages(users: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the user has set something else. Only a process that is spawned reads the setting."""
    from tests.support.running.fork_server import SPAWN

    monkeypatch.setattr(child, "CONTEXT", SPAWN)
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if users is not None:
        monkeypatch.setenv("GLIBC_TUNABLES", users)
    process = ChildProcess("buffer", tell_of_a_large_buffer, words=words("the child"))
    flags, setting = process.receive()
    process.end()
    assert ("hg" in flags, setting) == (users is None, users or "glibc.malloc.hugetlb=1")
    assert os.environ.get("GLIBC_TUNABLES") == users


def test_a_process_that_is_stopped_is_noticed_and_killed() -> None:
    process = ChildProcess("echo", echo, "hello", words=words("the echo"), patience=0)
    messages = process.messages()
    assert next(messages) == "hello"
    os.kill(process.pid, signal.SIGSTOP)
    assert list(messages) == []
    outcome = process.end()
    assert outcome.exit_code == -signal.SIGKILL
    assert str(outcome.reason) == f"the echo gave no sign of life for {MIN_PATIENCE:.0f} s"
    assert outcome.retry


def deaf(connection: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    connection.send("ready")
    while True:
        time.sleep(1)


def test_a_process_that_does_not_react_is_killed_in_the_end() -> None:
    process = ChildProcess("deaf", deaf, words=words("the child"))
    assert process.receive() == "ready"
    assert process.end().exit_code == -signal.SIGKILL
    assert not alive(process.pid)


def leave_a_child() -> None:
    ChildProcess("echo", echo, "hello", words=words("the echo")).receive()


def test_a_program_that_leaves_a_child_ends() -> None:
    program = "from tests.engine.processes import test_child; test_child.leave_a_child()"
    environment = os.environ | {"PYTHONPATH": PYTHONPATH}
    assert subprocess.run([sys.executable, "-c", program], env=environment, timeout=60, check=False).returncode == 0


def test_it_ignores_what_is_sent_to_the_group_and_is_nicer() -> None:
    process = ChildProcess("echo", echo, "hello", words=words("the echo"), nice=3)
    os.kill(process.pid, signal.SIGINT)  # perhaps before it runs any code
    assert process.receive() == "hello"
    os.kill(process.pid, signal.SIGHUP)
    os.kill(process.pid, signal.SIGTERM)
    process.send("still here")
    assert process.receive() == "still here"
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == os.getpriority(os.PRIO_PROCESS, 0) + 3
    process.end(10)


def tidy(connection: Any, folder: Path) -> None:
    (folder / "temporary").touch()
    when_parent_ends((folder / "temporary").unlink)
    connection.send(os.getpid())
    time.sleep(3600)  # hangs, and does not look at its connection


OWNER = """
    import sys, time
    from pathlib import Path
    from framefleet.engine.notices import Notice
    from framefleet.engine.processes.child import ChildProcess
    from tests.engine.processes.test_child import tidy

    if __name__ == "__main__":
        process = ChildProcess("tidy", tidy, Path(sys.argv[1]), words=Notice("processes.worker"))
        print(process.receive(), flush=True)
        time.sleep(3600)
"""


def test_it_ends_with_its_parent_and_tidies_up(tmp_path: Path) -> None:
    script, folder = tmp_path / "owner.py", tmp_path / "folder"
    folder.mkdir()
    script.write_text(textwrap.dedent(OWNER))
    environment = os.environ | {"PYTHONPATH": PYTHONPATH}
    with subprocess.Popen([sys.executable, script, folder], stdout=subprocess.PIPE, text=True, env=environment) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert list(folder.iterdir())
        owner.kill()
    deadline = time.monotonic() + 30
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(pid)
    assert list(folder.iterdir()) == []


def hanging(connection: Any) -> None:
    clock = start_clock(connection, 0.5)
    clock.start(words("what is done in time"), 0.5)
    clock.stop()
    clock.start(words("counting"), 0.5)
    time.sleep(3600)


def test_work_that_hangs_is_noticed_in_the_child() -> None:
    process = ChildProcess("hanging", hanging, words=words("the child"))
    assert list(process.messages()) == []
    outcome = process.end()
    assert (outcome.exit_code, outcome.retry) == (1, True)
    assert str(outcome.reason).startswith("counting did not come to an end")


def test_no_time_passes_for_a_thread_that_waits_for_room() -> None:
    watchdog = Watchdog(0.3, lambda: False, sys.exit)
    clock = watchdog.add()
    clock.start(words("decoding"), 0.3)
    with waiting_for_room():
        assert clock.paused
    assert not clock.paused
    clock.stop()
    with waiting_for_room():
        assert not clock.paused


def test_a_long_pause_of_the_parent_is_not_the_childs_silence() -> None:
    now = 100.0
    heartbeat = Heartbeat(0, lambda: now)
    heartbeat.counter.value = 1
    assert not heartbeat.stopped(os.getpid())
    now += 1000  # this process was stopped, or the machine slept
    assert not heartbeat.stopped(os.getpid())
    silent = []
    for _ in range(10):
        now += 1
        silent.append(heartbeat.stopped(os.getpid()))
    assert silent == sorted(silent)
    assert silent.index(True) == pytest.approx(MIN_PATIENCE - 3, abs=1)
    heartbeat.counter.value += 1
    assert not heartbeat.stopped(os.getpid())
