from __future__ import annotations

import logging
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

import framefleet.app.cli.detect
import framefleet.app.cli.doctor
from framefleet.app.cli import window as cli_window
from framefleet.app.cli.interrupt import Interrupted
from framefleet.app.display import PACKAGES
from framefleet.app.main import COMMANDS, main
from framefleet.engine import logs
from tests.support.cli import FAST, run_main
from tests.support.media import make_video

LONG = "n" * 300
HEAVY = ("PySide6", "numpy", "openvino", "av", "cv2", "argparse", "multiprocessing", "sqlite3", "tqdm")


def test_what_every_worker_imports_again_is_light() -> None:
    code = f"import sys, framefleet.app.main; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    for command, text in COMMANDS.items():
        assert f"{command:15} {text}" in printed


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_refuses_unknown_options(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"usage: framefleet {command}")
    assert f"examples:\n  framefleet {command}" in printed
    arguments = {
        "export": ["-o", "m.onnx"],
        "merge": ["a", "b", "--out", "c"],
        "evaluate": ["a", "--truth", "b"],
        "correct": ["a", "list"],
    }
    needed = arguments.get(command, ["model"] if command in ("bench", "detect", "results", "track", "clips") else [])
    assert main([command, *needed, "--halp"]) == 2
    errors = capsys.readouterr().err
    assert "unrecognized arguments: --halp; did you mean --help?\n'framefleet " in errors
    assert len(errors.splitlines()) == 2, "no list of all options"


@pytest.mark.parametrize(
    ("command", "wrong", "hint"),
    [("results", "--json", ""), ("results", "--class", "; did you mean --classes?"), ("clips", "--output", "; did you mean --out?")],
)
def test_a_suggestion_resembles_the_unknown_option(command: str, wrong: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "session", wrong]) == 2
    assert f"unrecognized arguments: {wrong}{hint}\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "entry"),
    [
        (("detect", "a.mp4", "--track"), "  --track {none,bytetrack}\n"),
        (("detect", "a.mp4", "--parallel", "--json"), "  --parallel HOW  how devices share the work: auto, streams, "),
        (("results", "a", "--pictures"), "  --pictures {jpeg,png,none}\n"),
        (("export", "-o"), "  -o "),
    ],
)
def test_an_option_without_its_value_is_explained(given: tuple[str, ...], entry: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(given) == 2
    errors = capsys.readouterr().err
    assert f": expected one argument\n{entry}" in errors
    assert errors.splitlines()[-1] == f"'framefleet {given[0]} --help' explains its options"


@pytest.mark.parametrize("arguments", [["--version"], ["detect", "--version"], ["doctor", "--version"]])
def test_version(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"framefleet {version('framefleet')}\n"


def test_a_mistyped_command_is_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["detcet", "a.mp4"]) == 2
    assert "detcet does not exist; did you mean 'framefleet detect …'?" in capsys.readouterr().err


def test_a_missing_file_beside_others_does_not_keep_the_window_from_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(cli_window, "open_window", lambda files, *_, **__: opened.extend(files) or 0)
    there = tmp_path / "a.mp4"
    there.touch()
    files = [tmp_path / "missing.mp4", there]
    assert main([*map(str, files)]) == 0
    assert opened == files
    assert main([str(tmp_path / "missing.mp4")]) == 2


def test_an_address_is_no_file_for_the_window(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rtsp://camera/1"]) == 2
    assert "rtsp://camera/1 is the address of a camera or stream, and only files and folders are read" in capsys.readouterr().err


def _break_down(_: object) -> int:
    raise ZeroDivisionError("by nought")


@pytest.fixture
def _log_levels() -> Iterator[None]:
    """--debug changes the log levels of this process and of its children; afterwards they are as before."""
    logger = logging.getLogger(logs.PACKAGE)
    before = logger.level
    yield
    os.environ.pop(logs.VARIABLE, None)
    logger.setLevel(before)


def _interrupted(_: object) -> int:
    raise Interrupted(signal.SIGTERM)


def test_a_run_that_a_signal_ends_before_it_begins_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal may come while the command is being imported."""
    monkeypatch.setattr(framefleet.app.cli.detect, "run", _interrupted)
    ended = run_main("detect", "a.mp4", "--json")
    assert (ended.status, ended.report) == (128 + signal.SIGTERM, {"sources": [], "devices": [], "exit": "interrupted"})
    assert run_main("detect", "a.mp4").out == ""


def test_wrong_usage_is_reported() -> None:
    ended = run_main("detect", "a.mp4", "--confidence", "2", "--json")
    error = ended.err.splitlines()[0].removeprefix("framefleet detect: ")
    assert error.startswith("argument --confidence: ")
    assert (ended.status, ended.report) == (2, {"sources": [], "devices": [], "exit": "unusable", "error": error})
    assert run_main("detect", "a.mp4", "--confidence", "2").out == ""
    assert run_main("detect", "--json", "--help").status == 0
    ended = run_main("evaluate", "a", "--json")
    assert (ended.status, ended.report["exit"]) == (2, "unusable")
    assert "--truth" in ended.report["error"]


@pytest.mark.parametrize(
    "command", [("evaluate", "missing", "--truth", "truth.json"), ("models", "none"), ("devices", "--recording", "none.json")]
)
def test_json_has_the_error_of_every_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run_main(*command, "--json")
    assert (ended.status, ended.report) == (2, {"exit": "unusable", "error": ended.err.removeprefix("framefleet: ").rstrip()})
    assert run_main(*command).out == ""


@pytest.mark.usefixtures("_log_levels")
def test_a_mistake_of_ours_is_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(framefleet.app.cli.doctor, "run", _break_down)
    assert main(["doctor", "rtsp://me:h1dden@cam/a", "http://cam/b?token=h1dden"]) == 2
    message = capsys.readouterr().err
    assert len(message.splitlines()) == 1
    assert "ZeroDivisionError: by nought" in message
    assert "Traceback" not in message
    if sys.platform.startswith("linux"):
        (log,) = tmp_path.rglob("crash-*.log")
        assert str(log) in message
        assert "_break_down" in log.read_text()
        assert "rtsp://cam/a" in log.read_text()
        assert "h1dden" not in log.read_text()
    assert main(["doctor", "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.usefixtures("_log_levels")
def test_a_user_s_mistake_shows_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["export", "--model", "no/such.cfg", "--weights", "random:1", "-o", "x.onnx"]
    assert main(arguments) == 2
    message = capsys.readouterr().err
    assert message.startswith("framefleet: ")
    assert "no/such.cfg" in message
    assert len(message.splitlines()) == 1
    assert main([*arguments, "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m framefleet.app --help | head -c 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "u"
    assert done.stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="written for a POSIX shell")
def test_closed_standard_streams_change_nothing(tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", frames=5)
    detect = [sys.executable, "-m", "framefleet.app.main", "detect", video, *FAST, "--out", tmp_path]
    command = f"exec {shlex.join(map(str, detect))} <&- >&- 2>&-"
    assert subprocess.run(command, shell=True, timeout=60, check=False).returncode == 0
    assert len((tmp_path / "a.jsonl").read_text("utf-8").splitlines()) == 5


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_no_mistake_of_ours() -> None:
    command = f"{sys.executable} -m framefleet.app.main models > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stderr.splitlines()[0] == "framefleet: standard output cannot be written: the disk is full: free some space"
    assert "inside Framefleet" not in done.stderr
    assert done.returncode == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there always is a display")
def test_a_window_without_a_display_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    done = subprocess.run([sys.executable, "-m", "framefleet.app"], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 2
    assert "no display" in done.stderr
    assert "framefleet detect" in done.stderr
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setitem(PACKAGES, "libno-such-thing.so.9", "libno-such-thing9")
    assert main([]) == 2
    message = capsys.readouterr().err
    assert "libno-such-thing.so.9" in message
    assert "sudo apt-get install -y " in message


def test_parts_of_a_model_without_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--weights", "random:1"]) == 2
    assert "give --model M.cfg too" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are text")
@pytest.mark.parametrize(("encoding", "written"), [("utf-8", r"caf\xE9 ä" + "\n"), ("ascii", r"caf\xE9 \xe4" + "\n")])
def test_names_that_are_not_text_are_printed_as_results_write_them(encoding: str, written: str) -> None:
    code = r"from framefleet.app import terminal; terminal.prepare(); print('caf\udce9 ä')"
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, env=environment)
    assert done.stdout.decode() == written


@pytest.mark.parametrize("command", [("results", LONG), ("merge", LONG), ("detect", "a.mp4", "--model", LONG), (LONG,)])
def test_a_path_that_cannot_be_examined_is_no_mistake_of_ours(command: tuple[str, ...]) -> None:
    run = run_main(*command)
    assert (run.status, run.err) == (2, f"framefleet: {LONG} cannot be used: File name too long; check the name and the permissions\n")
