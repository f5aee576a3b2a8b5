"""The commands of docs/guide/recording.md work one after the other, as they are printed there, for a shorter time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.cli import TINY, run_main
from tests.support.guide import GUIDE, commands
from tests.support.live.servers import RtspServer


@pytest.mark.slow
def test_the_commands_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with RtspServer(audio=True, group=10) as server:
        places = {"ADDRESS": [server.address], "MODEL": [*TINY[1:], "--precision", "fp32", "--confidence", "0.01"], "60s": ["2s"]}
        person = {"person": ["0"], "class=person, for=2s, quiet=60s": ["class=0, quiet=60s"]}  # of the test's model
        places |= person | {"python3 notify.py": [f"{sys.executable} notify.py"]}
        (tmp_path / "notify.py").write_text("import sys\nopen('heard', 'w').write(sys.stdin.read())\n")
        for words in commands(GUIDE / "recording.md"):
            run = run_main(*[part for word in words for part in places.get(word, [word])])
            assert run.status == 0, (words, run.err)
    assert (tmp_path / "heard").read_text() == (tmp_path / "detections" / "alerts.jsonl").read_text()
    names = [path.name for path in (tmp_path / "recordings").iterdir()]
    assert len(names) >= 2
    assert all(name.startswith(f"127-0-0-1-{server.port}-cam_20") for name in names)
    assert [path for path in (tmp_path / "detections" / "clips").iterdir() if path.suffix == ".jpg"]
