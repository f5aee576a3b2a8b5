"""The commands of docs/guide/recording.md work one after the other, as they are printed there, for a shorter time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import TINY, run_main
from tests.support.guide import GUIDE, commands
from tests.support.live.servers import RtspServer


def test_the_commands_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with RtspServer(audio=True, group=10) as server:
        places = {"ADDRESS": [server.address], "MODEL": [*TINY[1:], "--precision", "fp32", "--confidence", "0.01"], "60s": ["2s"]}
        places |= {"person": ["0"]}  # of the test's model
        for words in commands(GUIDE / "recording.md"):
            run = run_main(*[part for word in words for part in places.get(word, [word])])
            assert run.status == 0, (words, run.err)
    names = [path.name for path in (tmp_path / "recordings").iterdir()]
    assert len(names) >= 2
    assert all(name.startswith(f"127-0-0-1-{server.port}-cam_20") for name in names)
    assert [path for path in (tmp_path / "detections" / "clips").iterdir() if path.suffix == ".jpg"]
