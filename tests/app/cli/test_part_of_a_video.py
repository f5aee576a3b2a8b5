"""The commands of docs/guide/part-of-a-video.md work as they are printed there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.cli import read_lines, run_program
from tests.support.media import make_video

PROJECT = Path(__file__).parents[3]
PAGE = PROJECT / "docs" / "guide" / "part-of-a-video.md"
COMMANDS = re.findall(r"^```\nframefleet (.*)\n```", PAGE.read_text("utf-8"), re.MULTILINE)
FRAMES = 150
TAKEN = [range(0, FRAMES, 30), range(60, 90), range(0, 100, 10)]


@pytest.mark.parametrize(("command", "taken"), [*zip(COMMANDS, TAKEN, strict=True)])
def test_the_commands_of_the_page(command: str, taken: range, tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", FRAMES, (160, 120))
    model = PROJECT / "tests" / "fixtures" / "tiny.cfg"
    places = {"VIDEO": [video], "MODEL": [model, "--weights", "random:1", "--precision", "fp32"]}
    arguments = [part for word in shlex.split(command) for part in places.get(word, [word])]
    run = run_program(*arguments, "--out", tmp_path / "out", "--json")
    assert run.status == 0, run.err
    assert [line["frame"] for line in read_lines(tmp_path / "out" / "a.jsonl")] == [*taken]
    (source,) = run.report["sources"]
    assert source["frames"] == {"decoded": len(taken), "inferred": len(taken), "skipped": FRAMES - len(taken), "dropped": 0, "failed": 0}
