"""The commands of docs/guide/part-of-a-video.md work as they are printed there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import TINY, read_lines, run_main
from tests.support.guide import GUIDE, commands
from tests.support.media import make_video

FRAMES = 150
TAKEN = [range(0, FRAMES, 30), range(60, 90), range(0, 100, 10)]


@pytest.mark.parametrize(("words", "taken"), [*zip(commands(GUIDE / "part-of-a-video.md"), TAKEN, strict=True)])
def test_the_commands_of_the_page(words: list[str], taken: range, tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", FRAMES, (160, 120))
    places = {"VIDEO": [video], "MODEL": [*TINY[1:], "--precision", "fp32"]}
    arguments = [part for word in words for part in places.get(word, [word])]
    run = run_main(*arguments, "--out", tmp_path / "out", "--json")
    assert run.status == 0, run.err
    assert [line["frame"] for line in read_lines(tmp_path / "out" / "a.jsonl")] == [*taken]
    (source,) = run.report["sources"]
    assert source["frames"] == {"decoded": len(taken), "inferred": len(taken), "skipped": FRAMES - len(taken), "dropped": 0, "failed": 0}
