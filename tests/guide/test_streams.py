"""The commands of the guide's pages about cameras work as they are printed there, for a shorter time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import TINY, run_main
from tests.support.guide import GUIDE, commands
from tests.support.live.servers import RtspServer

COMMANDS = [words for page in ("rtsp-camera", "camera-wall") for words in commands(GUIDE / f"{page}.md")]


@pytest.mark.slow  # tests/app/cli/test_streams.py has the options of these commands
@pytest.mark.parametrize("words", COMMANDS)
def test_the_commands_of_the_pages(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    netrc = tmp_path / "cameras.netrc"
    netrc.write_text("machine 127.0.0.1 login me password s3cret\n")
    netrc.chmod(0o600)
    named = "--netrc" in words
    with RtspServer(**({"user": "me", "password": "s3cret"} if named else {})) as server:
        places = {"ADDRESS": [server.address], "MODEL": [*TINY[1:], "--precision", "fp32"], "60s": ["2s"]}
        arguments = [part for word in words for part in places.get(word, [word])]
        run = run_main(*arguments, "--json")
    assert run.status == 0, run.err
    for source in run.report["sources"]:
        frames = source["frames"]
        assert frames["received"] == frames["inferred"] + frames["dropped"] + frames["failed"]
        assert frames["inferred"]


@pytest.mark.skipif(Path("/dev/video0").exists(), reason="this machine has a camera, which belongs to its user")
def test_a_webcam_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (words,) = commands(GUIDE / "webcam.md")
    places = {"MODEL": [*TINY[1:], "--precision", "fp32"]}
    run = run_main(*(part for word in words for part in places.get(word, [word])), "--retries", "0")
    assert run.status == 2
    assert "/dev/video0 does not exist; cameras of this machine: " in run.err
