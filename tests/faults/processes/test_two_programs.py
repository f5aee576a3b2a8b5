"""Must hold: of several programs on one output folder one works; the others refuse or wait, in words, and nothing is torn.

Long form: ``pytest tests/faults/processes/test_two_programs.py -m slow -s`` (300 starts, about 3 minutes).
"""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from framefleet.engine.model.registry.catalogue import ModelEntry, is_installed
from framefleet.engine.processes.file_lock import FileLock
from framefleet.engine.store.exporters.base import STAGE
from framefleet.engine.store.files import lock_session
from framefleet.engine.store.session import SessionReader
from tests.support.cli import FAST, run_main
from tests.support.faults.counts import short_and_long
from tests.support.faults.seeds import is_long
from tests.support.http import Site
from tests.support.media import make_video
from tests.support.paths import PROJECT
from tests.support.store import write_session

START = """
import sys
from pathlib import Path
from framefleet.engine.notices import ExportError
from framefleet.engine.store.session import SessionWriter
from tests.support.store import LABELS, make_frame, video_info
print("ready", flush=True)
for line in sys.stdin:
    try:
        writer = SessionWriter(Path(line.strip()), LABELS, {})
    except ExportError as error:
        print(f"refused {error}", flush=True)
        continue
    writer.add_source(0, "a.mp4", video_info("a.mp4", 1))
    writer.add_frames([make_frame(0, 0)])
    print("won", flush=True)
    sys.stdin.readline()
    writer.close(complete=True)
    print("closed", flush=True)
"""


@short_and_long(3, 60, "rounds")
def test_of_several_starts_at_once_exactly_one_wins(tmp_path: Path, rounds: int) -> None:
    count = 5 if is_long() else 3
    command = [sys.executable, "-c", START]
    programs = [subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)]

    def answers() -> list[str]:
        return [program.stdout.readline().strip() for program in programs if program.stdout]

    def tell(program: subprocess.Popen[str], text: str) -> None:
        assert program.stdin is not None
        program.stdin.write(f"{text}\n")
        program.stdin.flush()

    try:
        assert answers() == ["ready"] * count
        for number in range(rounds):
            path = tmp_path / f"{number % 2}.sqlite"  # new files, and from the third round on existing ones
            for program in programs:
                tell(program, str(path))
            said = answers()
            assert sorted(answer.split()[0] for answer in said) == ["refused"] * (count - 1) + ["won"], said
            winner = programs[said.index("won")]
            assert all(f"process {winner.pid}" in answer or "another process" in answer for answer in said if answer != "won")
            tell(winner, "close")
            assert winner.stdout is not None
            assert winner.stdout.readline() == "closed\n"
            with SessionReader(path) as reader:
                assert reader.count(0) == 1
    finally:
        for program in programs:
            program.communicate()


def test_a_second_run_refuses_and_leaves_the_first_one_alone(tmp_path: Path) -> None:
    video, out = make_video(tmp_path / "a.mp4", frames=12), tmp_path / "out"
    with lock_session(out / "session.sqlite"):  # as a run holds it from its start to the end of its export
        second = run_main("detect", video, "--out", out, "--json", *FAST)
        assert (second.status, second.report["exit"]) == (2, "unusable")
        assert "another run uses it, process" in second.err
        assert "wait until it has ended, or choose another folder" in second.err
        assert [path.name for path in out.iterdir()] == [".session.sqlite.lock"]
    assert run_main("detect", video, "--out", out, *FAST).status == 0
    assert sorted(path.name for path in out.iterdir()) == ["a.jsonl", "session.sqlite"]


def test_a_second_export_waits_for_the_first_one(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_session(out / "session.sqlite", {"a.mp4": 3})
    lock = FileLock(out / f"{STAGE}.lock")
    command = [sys.executable, "-m", "framefleet.app", "results", out]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
        assert waiting.stderr is not None
        assert "waiting until process" in waiting.stderr.readline()
        assert not (out / "a.jsonl").exists()
        lock.close()
        assert waiting.wait(60) == 0
    assert [json.loads(line)["frame"] for line in (out / "a.jsonl").read_text().splitlines()] == [0, 1, 2]


CACHE = """
import sys
from pathlib import Path
from framefleet.plugins.cache import FileCache
cache, letter, size = FileCache(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
sys.stdin.readline()
for turn in range(20):
    cache.write("a plan", letter.encode() * size)
    found = cache.get("a plan", lambda: b"missing")
    assert len(found) == size and len(set(found)) == 1, (len(found), set(found))
    assert cache.remember(f"a trial {turn}", lambda: letter) == cache.remember(f"a trial {turn}", lambda: "?")
"""

PREFERENCES = """
import sys
from PySide6.QtCore import QSettings
sys.stdin.readline()
for turn in range(20):
    store = QSettings(sys.argv[1], QSettings.Format.IniFormat)
    store.setValue(f"{sys.argv[2]}/{turn}", "x" * 2000)
    store.sync()
    assert store.status() == QSettings.Status.NoError
"""

DOWNLOAD = """
import pickle, sys
from pathlib import Path
from framefleet.engine.notices import DownloadError
from framefleet.engine.model.registry.download import download
sys.stdin.readline()
try:
    download(pickle.loads(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2]))
except DownloadError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""

WINDOW = """
import sys
from pathlib import Path
from PySide6.QtCore import QSettings
from framefleet.app.window.main import make_application
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.settings import choices
from framefleet.app.window.settings.preferences import Preferences, save
from framefleet.engine.settings import Precision
from framefleet.engine.types import DeviceId
from tests.support.models import tiny_files
folder, video = map(Path, sys.argv[1:])
choices.discover = tuple  # no search for devices, which takes two processes
application = make_application()
store = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
save(Preferences.of(tiny_files(), devices=(DeviceId("cpu", "0"),), precision=Precision.FP32), store)
window = MainWindow(store, folder / "sessions")
window.show()
window.context.run.item_changed.connect(lambda key: application.quit() if window.context.queue.get(key).ended else None)
sys.stdin.readline()
window.open_paths([video])
application.exec()
(item,) = window.context.queue
print(item.state, item.progress.frames, item.results.database, flush=True)
window.close()
"""


def at_once(script: str, *arguments: tuple[object, ...]) -> list[tuple[int, str, str]]:
    """Run a script in several programs that begin at the same time. Returns status, output and errors of each."""
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", script, *map(str, each)],
            cwd=PROJECT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for each in arguments
    ]
    with ThreadPoolExecutor(len(programs)) as threads:
        spoken = threads.map(lambda program: program.communicate("begin\n", timeout=100), programs)
        return [(program.returncode, *words) for program, words in zip(programs, spoken, strict=True)]


def test_several_programs_share_a_cache(tmp_path: Path) -> None:
    ends = at_once(CACHE, *((tmp_path / "plans", letter, 1_000_000) for letter in "ab"))
    assert [status for status, *_ in ends] == [0, 0], ends
    assert not [*(tmp_path / "plans").glob("*.part")]


def test_several_programs_share_their_settings(tmp_path: Path) -> None:
    store = tmp_path / "settings.ini"
    ends = at_once(PREFERENCES, (store, "one"), (store, "other"))
    assert [status for status, *_ in ends] == [0, 0], ends
    lines = store.read_text().splitlines()
    assert sorted(line for line in lines if line.startswith("[")) == ["[one]", "[other]"]
    assert sum(line.endswith("=" + "x" * 2000) for line in lines) == 40


def test_of_two_downloads_of_a_model_one_works_and_the_other_one_says_so(site: Site, entry: ModelEntry, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    site.pages["/tiny.weights"].pause = 0.01
    (tmp_path / "entry").write_bytes(pickle.dumps(entry))
    ends = at_once(DOWNLOAD, *[(tmp_path / "entry", folder)] * 2)
    assert 0 in {status for status, *_ in ends}, ends
    refused = re.compile("tiny is being downloaded already, by (another )?process")
    assert all(status == 0 or refused.search(words) for status, _, words in ends), ends
    assert is_installed(entry, folder)
    assert [path.name for path in folder.iterdir()] == ["tiny"]


@pytest.mark.slow
def test_two_windows_with_the_same_settings_detect_in_the_same_video(tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", frames=30, size=(64, 48))
    ends = at_once(WINDOW, *[(tmp_path, video)] * 2)
    assert [status for status, *_ in ends] == [0, 0], ends
    databases = set()
    for _, words, errors in ends:
        state, frames, database = words.splitlines()[-1].split(maxsplit=2)
        assert (state, frames) == ("done", "30"), errors
        databases.add(database)
        with SessionReader(Path(database)) as reader:
            assert reader.count(0) == 30
    assert len(databases) == 2, "the windows wrote to one session"
    assert sorted(map(str, (tmp_path / "sessions").iterdir())) == sorted(databases)
    assert "tiny" in (tmp_path / "settings.ini").read_text()


@pytest.mark.slow
def test_two_runs_at_once_into_one_folder(tmp_path: Path) -> None:
    """Two real programs start at about the same time: one completes, the other one refuses or finds the work done."""
    videos = [make_video(tmp_path / f"{name}.mp4", frames=20) for name in "ab"]
    command = [sys.executable, "-m", "framefleet.app", "detect", *map(str, videos), "--out", str(tmp_path / "out"), *FAST]
    programs = [subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ends = [(program.communicate(timeout=100)[1], program.returncode) for program in programs]
    assert 0 in {status for _, status in ends}, ends
    assert all(status == 0 or "another run uses it" in words for words, status in ends), ends
    assert [len((tmp_path / "out" / f"{name}.jsonl").read_text().splitlines()) for name in "ab"] == [20, 20]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.jsonl", "b.jsonl", "session.sqlite"]
