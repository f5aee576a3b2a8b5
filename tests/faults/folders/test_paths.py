"""Must hold: exports write nothing outside the chosen folder, and replace neither other files nor another source's results.

Long form: ``pytest tests/faults/folders/test_paths.py -m slow -s`` (50 sessions of 20 sources each, about a minute).
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

from framefleet.engine.store.export import export_session, file_stems
from framefleet.engine.store.session import SessionReader
from tests.support.faults.counts import short_and_long
from tests.support.faults.seeds import seeded
from tests.support.store import write_session

HOSTILE = (
    "../outside.mp4", "../../outside.mp4", "..", ".", "/", "/etc/passwd", "/dev/null", "a/../../outside.mp4", "-rf.mp4", "$(id).mp4",
    "new\nline.mp4", "quote'\".mp4", "con.mp4", "nul", "trailing. ", "x" * 250 + ".mp4", "ü" * 120 + ".mp4", "e\u0301.mp4", "\u00e9.mp4",
    "🦊.mp4", ".hidden", ".framefleet-export", "session.sqlite", "back\\slash.mp4", "C:\\Windows\\x.mp4", "%06d.mp4", "a.jsonl", "*?.mp4",
)  # fmt: skip
FORMATS = {"jsonl": ".jsonl", "coco": ".coco.json", "csv": ".detections.csv"}


def snapshot(folder: Path) -> dict[str, object]:
    """Type and content of everything in a folder."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        found[str(path)] = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else path.lstat().st_mode
    return found


def occupy(path: Path, treasure: Path, choice: random.Random) -> None:
    """Put something that is not ours where an export would write."""
    match choice.randrange(5):
        case 0:
            path.write_text("mine")
        case 1:
            path.symlink_to(treasure)
        case 2:
            path.symlink_to("/dev/null")
        case 3:
            os.link(treasure, path)
        case _:
            path.mkdir()


@pytest.mark.skipif(sys.platform == "win32", reason="names and links are POSIX")
@short_and_long(2, 50, "sessions")
def test_hostile_names_and_existing_files(tmp_path: Path, sessions: int) -> None:
    choice = seeded()
    for number in range(sessions):
        outer = tmp_path / str(number)
        treasure, out = outer / "treasure.txt", outer / "folder" / "out"
        out.mkdir(parents=True)
        treasure.write_text("treasure")
        names = [choice.choice(("", "a/", "b/", "../", "/videos/")) + choice.choice(HOSTILE) for _ in range(20)]
        sources = dict.fromkeys(names)
        session = write_session(outer / "s.sqlite", {name: index for index, name in enumerate(sources, 1)}, boxes=1)
        for stem in file_stems(list(sources)):
            for suffix in FORMATS.values():
                if choice.random() < 0.3 and not os.path.lexists(out / f"{stem}{suffix}"):
                    occupy(out / f"{stem}{suffix}", treasure, choice)
        (outer / "s.sqlite").rename(outer / "kept.sqlite")
        before = snapshot(outer)
        (outer / "kept.sqlite").rename(session)
        for _ in range(2):
            with SessionReader(session) as reader:
                written = export_session(reader, out, list(FORMATS))
        session.rename(outer / "kept.sqlite")
        after = snapshot(outer)
        before.pop(str(outer / "kept.sqlite"))
        after.pop(str(outer / "kept.sqlite"))
        assert {name: after.get(name) for name in before} == before
        new = [Path(name) for name in after if name not in before]
        assert {path.parent for path in new} == {out}
        per_source = [item for item in written if item.path.name not in ("counts.csv", "files.csv")]
        assert len({item.path for item in per_source}) == len(per_source) == 3 * len(sources)
        assert {item.path for item in written} == set(new), "the second export replaces the first one"
        for index, item in enumerate(per_source):
            if item.path.suffix == ".jsonl":
                assert len(item.path.read_text().splitlines()) == index // 3 + 1
