"""Shared fixtures, and the rule that a test leaves no thread, process or shared memory behind."""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import hypothesis.internal.conjecture.providers as hypothesis_providers
import pytest

from tests.support.faults import seeds
from tests.support.goldens import Goldens
from tests.support.paths import PATIENCE_MS, PROJECT
from tests.support.running import codes
from tests.support.running.selection import may_select

HAS_QT = all(find_spec(name) is not None for name in ("PySide6", "pytestqt"))
"""A machine with GPUs may lack Qt. It runs the tests of everything but the window."""

if HAS_QT:
    from tests.support.desktop.bot import qtbot as qtbot

if TYPE_CHECKING:
    from framefleet.engine.model.registry.catalogue import ModelEntry
    from tests.support.http import Site

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's threads begin with busy loops, in each process that a test starts
for number in (signal.SIGINT, signal.SIGHUP):
    # nohup and background jobs start a process with these signals ignored, and all its children inherit that
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

TOGETHER = {
    "a cluster": ("tests/engine/cluster/",),
    "rendered streets": ("tests/tools/",),
    "compiled kernels": ("tests/plugins/test_emulated", "tests/plugins/test_first_convolution.py"),
    "syntax trees": ("tests/test_layers.py", "tests/test_sentences.py", "tests/engine/test_notices.py"),
}
"""Tests that share what takes seconds to make, by what they share: one process runs them."""
_ABSENT = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    if not HAS_QT:
        for name in ("qt_api", "qt_log_level_fail"):
            parser.addini(name, "read by pytest-qt, which this machine lacks")
    parser.addoption("--record-goldens", action="store_true", help="replace the files in tests/goldens by what the program gives now")
    parser.addoption(
        "--spawn", action="store_true", help="start all child processes as the program does (tests/support/running/fork_server.py)"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Let Hypothesis try the same examples each time, except in the long forms, and without a limit of time.

    Its examples would also depend on the modules that a process has imported: it searches their sources for constants.
    """
    if codes.is_whole_suite(config) and not hasattr(config, "workerinput"):
        descriptor, os.environ[codes.VARIABLE] = tempfile.mkstemp()
        os.close(descriptor)
    codes.record()
    same = "not slow" in config.getoption("markexpr")
    slow = [hypothesis.HealthCheck.too_slow]
    hypothesis.settings.register_profile("framefleet", deadline=None, derandomize=same, suppress_health_check=slow)
    hypothesis.settings.load_profile("framefleet")
    if same:
        hypothesis_providers._get_local_constants = lambda: hypothesis_providers._local_constants
    # A machine with GPUs may lack OpenVINO, which the fork server loads.
    if same and sys.platform == "linux" and not config.getoption("--spawn") and find_spec("openvino") is not None:
        from tests.support.running import fork_server

        fork_server.install()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a run of all tests fail if a code of ``engine/notices`` has not appeared in it."""
    config = session.config
    if hasattr(config, "workerinput") or not codes.is_whole_suite(config) or session.shouldstop or session.shouldfail or not HAS_QT:
        return
    if absent := codes.missing(Path(os.environ[codes.VARIABLE])):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        config.stash[_ABSENT] = absent


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name the codes that no test made appear."""
    for code in config.stash.get(_ABSENT, ()):
        terminalreporter.write_line(f"ABSENT {code}: no test makes this notice appear (see tests/support/running/codes.py)")


def pytest_unconfigure(config: pytest.Config) -> None:
    if codes.is_whole_suite(config) and not hasattr(config, "workerinput"):
        Path(os.environ.pop(codes.VARIABLE)).unlink(missing_ok=True)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files from which ``-k`` selects no test."""
    return None if may_select(config.getoption("keyword"), collection_path, PROJECT) else True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files of few tests, whose tests take longest: with several processes, no long file begins when the others end."""
    sizes = Counter(item.path for item in items)
    items.sort(key=lambda item: sizes[item.path])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """With ``--dist loadfile``, let one process run all files of ``TOGETHER`` that share something."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            shared = next((name for name, places in TOGETHER.items() if nodeid.startswith(places)), None)
            return shared or super()._split_scope(nodeid)

    return Scheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Let the garbage collector leave alone what collecting the tests creates: all of it stays until the end."""
    gc.disable()
    try:
        _import_tests(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_tests(config: pytest.Config) -> None:
    """Import all tests, each of several processes from another file on: in a fresh clone, each file is then compiled by one of them."""
    process = getattr(config, "workerinput", None)
    if process is None or config.args != config.getini("testpaths"):
        return
    files = sorted((PROJECT / "tests").rglob("test_*.py"))
    first = len(files) * int(process["workerid"].removeprefix("gw")) // process["workercount"]
    for file in (*files[first:], *files[:first]):
        with suppress(Exception, pytest.skip.Exception):  # pytest imports the file once more and reports it
            importlib.import_module(".".join(file.relative_to(PROJECT).with_suffix("").parts))


@pytest.fixture(scope="session", autouse=True)
def _own_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what the program notes about its sessions out of the user's own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    seeds.begin(item)


@pytest.fixture(scope="session")
def goldens(pytestconfig: pytest.Config) -> Goldens:
    """What was recorded earlier: see tests/goldens/README.md."""
    return Goldens(pytestconfig.getoption("--record-goldens"))


@pytest.fixture
def short_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure scaling with videos of a few hundred frames."""
    monkeypatch.setattr("framefleet.engine.bench.scaling.SEGMENTS", 2)
    monkeypatch.setattr("framefleet.engine.bench.scaling.CPU_TRIAL_FRAMES", 100)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder with real models, pictures and videos, which is no part of the project."""
    folder = Path(os.environ.get("FRAMEFLEET_TEST_DATA", PROJECT.parent / "shared" / "data"))
    if not (folder / "models").is_dir():
        pytest.skip(f"no test data in {folder}: set FRAMEFLEET_TEST_DATA")
    return folder


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A web server on this machine, which programs reach directly."""
    from tests.support.http import running_site

    for name in ("http_proxy", "https_proxy", "all_proxy", "FRAMEFLEET_MODELS_URL"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with running_site() as site:
        yield site


@pytest.fixture
def entry(site: Site, tmp_path: Path) -> ModelEntry:
    """The tiny detector in the catalogue, published on the server."""
    from tests.support.http import publish_tiny

    return publish_tiny(site, tmp_path)


def _shared_memory() -> set[str]:
    folder = Path("/dev/shm")  # the audio library JACK, where it is installed, leaves a file there
    return {entry.name for entry in folder.iterdir() if not entry.name.startswith("jack")} if folder.is_dir() else set()


def _used_by_others(name: str) -> bool:
    """Whether another living process has this shared memory mapped: then it is that one's, not left behind."""
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            if maps.parent.name != str(os.getpid()) and f"/dev/shm/{name}" in maps.read_text(errors="replace"):
                return True
    return False


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[set[str]]:
    """Yields the names of threads and processes that may stay, empty at first: tests that share a window share its preview process."""
    threads, processes, memory, stay = set(threading.enumerate()), set(multiprocessing.active_children()), _shared_memory(), set[str]()
    yield stay
    deadline, pause = time.monotonic() + PATIENCE_MS / 1000, 0.02
    while True:
        left = [thread.name for thread in set(threading.enumerate()) - threads if thread.is_alive() and thread.name not in stay]
        left += [str(process) for process in set(multiprocessing.active_children()) - processes if process.name not in stay]
        left += sorted(name for name in _shared_memory() - memory if not _used_by_others(name))
        if not left or time.monotonic() > deadline:
            break
        gc.collect()  # only now: collecting after every test took a tenth of the suite's time
        time.sleep(pause)
        pause = min(2 * pause, 0.5)
    assert not left, f"left behind: {left}"
