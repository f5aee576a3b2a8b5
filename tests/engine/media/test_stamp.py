from __future__ import annotations

import os
from pathlib import Path

import pytest

from framefleet.engine.media.stamp import DIGESTED, stamp_of


@pytest.mark.parametrize("size", [0, 10, DIGESTED, DIGESTED + 10, 3 * DIGESTED])
def test_a_file_is_known_by_its_size_time_and_ends(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.mp4"
    content = bytes(index % 251 for index in range(size))
    path.write_bytes(content)
    stamp = stamp_of(path)
    assert stamp is not None
    assert (stamp.size, stamp.modified) == (size, path.stat().st_mtime_ns)
    digests = {stamp.digest}
    for position in {0, size - 1} if size else ():
        changed = bytearray(content)
        changed[position] ^= 1
        path.write_bytes(changed)
        os.utime(path, ns=(stamp.modified, stamp.modified))
        other = stamp_of(path)
        assert other is not None
        assert other != stamp
        digests.add(other.digest)
    assert len(digests) == (1 + len({0, size - 1}) if size else 1)


def test_a_folder_is_known_by_its_pictures(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"abc")
    (tmp_path / "notes.txt").write_text("one")
    stamp = stamp_of(tmp_path)
    assert stamp is not None
    assert stamp.size == 3
    (tmp_path / "notes.txt").write_text("two")
    assert stamp_of(tmp_path) == stamp
    (tmp_path / "a.png").rename(tmp_path / "b.png")
    assert stamp_of(tmp_path) != stamp


def test_what_cannot_be_read_has_no_stamp(tmp_path: Path) -> None:
    assert stamp_of(tmp_path / "none.mp4") is None
