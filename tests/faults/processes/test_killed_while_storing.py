"""Must hold: SIGKILL during a download, or while a plan is built or stored, leaves a whole file or none, and nothing after the next start.

Long form: ``pytest tests/faults/processes/test_killed_while_storing.py -m slow -s`` (50 kills each, about 5 minutes).
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from framefleet.engine.model.registry.catalogue import is_installed
from framefleet.engine.model.registry.download import download
from framefleet.plugins.cache import FileCache
from tests.support.faults.counts import LONG_SECONDS, long_count, short_and_long
from tests.support.faults.killing import kill_at, start_python, times
from tests.support.faults.seeds import seeded
from tests.support.http import Site, publish_tiny
from tests.support.models import TINY_CFG

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for orphans in /proc")

DOWNLOAD = """
import pickle, sys
from pathlib import Path
from framefleet.engine.model.registry.download import download
download(pickle.loads(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2]))
"""

STORE = """
import sys
from pathlib import Path
from framefleet.plugins.cache import FileCache
cache = FileCache(Path(sys.argv[1]))
Path(sys.argv[2]).touch()
while True:
    for letter in "ab":
        cache.write("a plan", letter.encode() * int(sys.argv[3]))
"""
BYTES = 8_000_000

BYTES_OF_PLAN = 10_000
"""Any plan has more."""

BUILD = """
import os, sys
from pathlib import Path
os.environ["TMPDIR"] = sys.argv[3]
from framefleet.engine.backends.tensorrt.plan import build_plan
from framefleet.engine.backends.tensorrt.library import find_library
from framefleet.engine.model.load import load_network
from framefleet.engine.model.split import split
from framefleet.engine.settings import ModelFiles
from framefleet.plugins.cache import FileCache
network = load_network(ModelFiles(Path(sys.argv[4]), "random:1"))
library, cache = find_library((9, 0)), FileCache(Path(sys.argv[1]))
Path(sys.argv[2]).touch()
cache.get("a plan", lambda: build_plan(library, network, split(network)[0], 1))
"""


@short_and_long(1, 50, "kills")
def test_a_killed_download_leaves_no_damaged_model(kills: int, site: Site, tmp_path: Path) -> None:
    entry, folder, file = publish_tiny(site, tmp_path), tmp_path / "models", tmp_path / "entry"
    page = site.pages["/tiny.weights"]
    page.pause = 0.01  # so that many moments lie within the transfer
    file.write_bytes(pickle.dumps(entry))
    begun = time.monotonic()
    assert start_python("-c", DOWNLOAD, file, folder).wait(100) == 0
    moment, cut = times(seeded(), time.monotonic() - begun, kills), 0
    expected = {path.name: path.read_bytes() for path in (folder / "tiny").iterdir()}
    for number in range(kills):
        folder = tmp_path / str(number)
        killed = kill_at(moment(), start_python("-c", DOWNLOAD, file, folder))
        installed = is_installed(entry, folder)
        assert installed or killed
        cut += not installed
        for path in (folder / "tiny").glob("*"):
            assert ".part" in path.suffixes or path.read_bytes() == expected[path.name]
        download(entry, folder)
        assert {path.name: path.read_bytes() for path in (folder / "tiny").iterdir()} == expected
        assert [path.name for path in folder.iterdir()] == ["tiny"], "temporary files are left"
    print(f"{cut} of {kills} kills came before the end of the download")


@short_and_long(2, 50, "kills")
def test_a_program_killed_while_it_stores_a_plan_leaves_a_whole_one(kills: int, tmp_path: Path) -> None:
    folder, begun, choice, parts = tmp_path / "plans", tmp_path / "begun", seeded(), 0
    for _ in range(kills):
        program = start_python("-c", STORE, folder, begun, str(BYTES))
        while not begun.exists():
            assert program.poll() is None
            time.sleep(0.01)
        begun.unlink()
        assert kill_at(choice.uniform(0, 0.3), program)
        parts += len([*folder.glob("*.part")])
        stored = FileCache(folder).read("a plan")
        assert stored in (None, b"a" * BYTES, b"b" * BYTES)
        assert stored is not None or not [*folder.glob("*.built")]
        assert [path.name for path in folder.glob("*.part")] == [], "temporary files are left"
    print(f"{parts} of {kills} kills left a part, which the next start removed")


@pytest.mark.slow
@pytest.mark.timeout(LONG_SECONDS)
@pytest.mark.parametrize("kills", [long_count(50)])
def test_a_program_killed_while_it_builds_a_plan_leaves_a_whole_one_or_none(kills: int, tmp_path: Path) -> None:
    pytest.importorskip("tensorrt_rtx")
    begun, temporary = tmp_path / "begun", tmp_path / "temporary"
    temporary.mkdir()

    def build(folder: Path) -> subprocess.Popen[bytes]:
        begun.unlink(missing_ok=True)
        program = start_python("-c", BUILD, folder, begun, temporary, TINY_CFG)
        while not begun.exists():
            assert program.poll() is None
            time.sleep(0.01)
        return program

    program, since = build(tmp_path / "whole"), time.monotonic()
    assert program.wait(100) == 0
    moment, stored = times(seeded(), time.monotonic() - since, kills), 0
    for number in range(kills):
        folder = tmp_path / str(number)
        killed = kill_at(moment(), build(folder))
        found = FileCache(folder).read("a plan") is not None
        assert found or killed
        assert build(folder).wait(100) == 0, "the next start builds the plan, or takes the stored one"
        assert len(FileCache(folder).read("a plan") or b"") > BYTES_OF_PLAN
        assert [path.suffix for path in folder.iterdir()] == [".built"], "temporary files are left"
        stored += found
    assert not [*temporary.iterdir()], "temporary files of TensorRT-RTX are left"
    print(f"{kills} kills: {stored} after the plan was stored")
