"""The commands of docs/guide/streams.md work as they are printed there, for a shorter time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import TINY, run_main
from tests.support.guide import GUIDE, commands
from tests.support.live.servers import RtspServer


@pytest.mark.parametrize("words", commands(GUIDE / "streams.md"))
def test_the_commands_of_the_page(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
