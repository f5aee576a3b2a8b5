"""Several jobs share the sources of one command, and ``merge`` joins their sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from framefleet.app.cli.detect import Shard
from framefleet.engine.notices import UsageError
from tests.support.cli import FAST, run_main
from tests.support.media import make_video

FORMATS = ("--format", "jsonl,csv,coco,mot,cvat,labelstudio,megadetector")


def contents(folder: Path) -> dict[str, bytes]:
    """The results in a folder."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".sqlite"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_merged_shards_equal_an_undivided_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clips" / "south").mkdir(parents=True)
    for number in range(6):
        make_video(tmp_path / "clips" / ("south" if number % 2 else "") / f"{number}.mp4", 4, (64, 48))
    make_video(tmp_path / "clips" / "south" / "0.mp4", 4, (64, 48))  # the name of another file
    monkeypatch.chdir(tmp_path)
    command = ("detect", "clips", *FAST, "--confidence", "0.05", "--quiet")
    assert run_main(*command, *FORMATS, "--out", "whole").status == 0
    for number in (2, 1):
        run = run_main(*command, "--out", "parts", "--shard", f"{number}/2", "--json")
        assert (run.status, run.report["exit"]) == (0, "ok"), run.err
    shards = [f"parts/shard-{number}-of-2" for number in (2, 1)]
    assert all((tmp_path / shard / "session.sqlite").exists() for shard in shards)
    assert run_main("merge", *shards, "--out", "joined").status == 0
    assert run_main("results", "joined", *FORMATS, "--quiet").status == 0
    expected = contents(tmp_path / "whole")
    assert len(expected) > 20
    assert contents(tmp_path / "joined") == expected


def test_a_shard_without_a_source_succeeds_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_video(tmp_path / "a.mp4", 3, (64, 48))
    monkeypatch.chdir(tmp_path)
    runs = [run_main("detect", "a.mp4", *FAST, "--shard", f"{number}/3", "--json") for number in (1, 2, 3) for _ in range(2)]
    assert [run.status for run in runs] == [0] * 6, runs[0].err
    counts = [len(run.report["sources"]) for run in runs]
    assert sorted(counts[::2]) == [0, 0, 1]
    assert counts[::2] == counts[1::2]
    assert any("1 source finished by an earlier run" in run.err for run in runs)
    assert run_main("merge", *(f"detections/shard-{number}-of-3" for number in (1, 2, 3)), "--out", "joined").out.endswith("1 source\n")


def test_every_source_is_in_one_shard_which_depends_on_its_path_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [tmp_path / "clips" / f"cam{number % 7}" / f"{number}.mp4" for number in range(300)]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clips").mkdir()
    shards = [Shard(number, 4).choose(sources, [Path("clips")]) for number in range(1, 5)]
    assert sorted(position for shard in shards for position in shard) == list(range(300))
    assert all(50 < len(shard) < 100 for shard in shards)
    assert all(sources[position] == path for shard in shards for position, path in shard.items())
    fewer = Shard(2, 4).choose(sources[10:], [tmp_path / "clips"])
    assert set(fewer.values()) == set(shards[1].values()) & set(sources[10:])
    elsewhere = tmp_path / "other" / "clips"
    elsewhere.mkdir(parents=True)
    moved = [elsewhere / path.relative_to(tmp_path / "clips") for path in sources]
    assert Shard(2, 4).choose(moved, [elsewhere]).keys() == shards[1].keys()


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "a/b", "-1/3", "1/3/5"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="such as 2/8"):
        Shard.read(text)
