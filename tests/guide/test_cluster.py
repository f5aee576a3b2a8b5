"""The commands of docs/guide/cluster.md run as they are printed there, on a cluster that the page's own ``ray start`` commands make.

What stands in: this machine's address for the head's name, as the page says for a trial; CPU devices for CUDA devices, which tests/gpu
tries; the tests' small model for yolov4.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from framefleet.engine.store.session import SessionReader
from tests.support.cli import TINY, run_main
from tests.support.clusters.ray import MEMORY, NEEDS_RAY, VARIABLES, facts, until
from tests.support.guide import GUIDE, commands
from tests.support.media import make_video

pytestmark = [
    NEEDS_RAY,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux machines are nodes"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.timeout(240),
    pytest.mark.slow,  # tests/engine/cluster detects on a cluster that starts faster
]
PAGE = GUIDE / "cluster.md"
FRAMES = 20
NAMES = "afn"
"""The videos. Each shard of two has some."""
SMALL = ("--block", f"--object-store-memory={MEMORY}", "--disable-usage-stats", "--include-log-monitor=false")
"""Options that the page leaves out: the node ends with the command, and takes little memory and time."""


@contextmanager
def node(words: list[str], log: Path) -> Iterator[str]:
    """A node that one of the page's ``ray start`` commands starts. Yields the address that others join, "" if it is not the head."""
    head = "--head" in words
    small = (*SMALL, "--include-dashboard=false", "--no-monitor") if head else SMALL
    processors = () if "--num-cpus=0" in words else ("--num-cpus=1",)
    with log.open("w") as file:
        program = [str(Path(sys.executable).with_name("ray")), *words, *small, *processors]
        process = subprocess.Popen(program, stdout=file, stderr=subprocess.STDOUT)
    try:
        until(lambda: "block forever" in log.read_text() or process.poll() is not None, 100)
        assert process.poll() is None, log.read_text()
        yield re.findall(r"ray start --address='(.+?)'", log.read_text())[0] if head else ""
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page's cluster: the head alpha, beta, and the driver without processors."""
    ray_folder, folder = Path(tempfile.mkdtemp(prefix="ff", dir="/tmp")), tmp_path_factory.mktemp("nodes")
    with pytest.MonkeyPatch.context() as environment, ExitStack() as nodes:
        for name, value in {"RAY_TMPDIR": ray_folder, "TMPDIR": folder, **VARIABLES}.items():
            environment.setenv(name, str(value))
        head, *others = commands(PAGE, "ray")
        assert [words[0] for words in (head, *others)] == ["start"] * 3
        free_port = [word.replace("--port=6379", "--port=0") for word in head]
        address = nodes.enter_context(node(free_port, folder / "head.log"))
        for number, words in enumerate(others):
            joining = [word.replace("alpha:6379", address) for word in words]
            nodes.enter_context(node(joining, folder / f"{number}.log"))
        yield address
    shutil.rmtree(ray_folder, ignore_errors=True)


def test_the_commands_of_the_page(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "archive").mkdir()
    sources = [tmp_path / "archive" / f"{name}.mp4" for name in NAMES]
    for source in sources:
        make_video(source, FRAMES, (96, 64))
    printed = []
    for command, *words in commands(PAGE):
        options = [word.replace("alpha:6379", address).replace("/cuda:", "/cpu:") for word in words]
        if command == "detect":
            options[1:3] = [*TINY, "--precision", "fp32", "--quiet"]
        run = run_main(command, *options)
        assert run.status == 0, run.err
        printed.append(run.out)
    assert re.findall(r"^\S+/cpu:\d", printed[0], re.MULTILINE) == ["alpha/cpu:0", "beta/cpu:0"], "the driver does not detect"
    assert {*found("detections")} == {str(source) for source in sources}
    assert found("all") == found("detections"), "the shards together find what one run finds"


def found(folder: str) -> dict[str, list[tuple[object, ...]]]:
    """What the session in a folder holds of each source."""
    with SessionReader(Path(folder) / "session.sqlite") as reader:
        return {str(source.file): [fact[1:] for fact in facts([*reader.frames(source.number)])] for source in reader.sources()}


def test_auto_is_the_cluster_of_this_machine(address: str) -> None:
    listed = run_main("devices", "--cluster", "auto", "--json")
    assert [device["id"] for device in listed.report["devices"]] == ["alpha/cpu:0", "beta/cpu:0"]
