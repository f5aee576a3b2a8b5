"""Contents on a node: found by path, cached within a bound, refused if the model differs."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from framefleet.engine.cluster.files import Cache, Content, Store, content_of, digest_of
from framefleet.engine.notices import ClusterError, FramefleetError, SourceError
from tests.support.clusters.ray import until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nodes on Windows are not supported")


def make(folder: Path, name: str, data: bytes, age: int = 0) -> Content:
    path = folder / name
    path.write_bytes(data)
    os.utime(path, (1e9 - age, 1e9 - age))
    return content_of(path)


def send(cache: Cache, content: Content, data: bytes, wrong: bytes = b"") -> None:
    cache.begin(content, [len(data)])
    half = len(data) // 2
    cache.write(content, "", half, data[half:])  # chunks may come in any order
    cache.write(content, "", 0, data[:half])
    if wrong:
        cache.write(content, "", 0, wrong)
    cache.finish(content, [("", len(data), digest_of(content.path))])


def entries(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*/*")}


def test_a_content_arrives_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "files"
    cache, content = Cache(folder), make(tmp_path, "a.mp4", b"0123456789" * 1000)
    assert cache.take(content) is None
    with pytest.raises(OSError, match="did not arrive as it was sent"):
        send(cache, content, b"0123456789" * 1000, wrong=b"x")
    assert not list(folder.iterdir())
    send(cache, content, b"0123456789" * 1000)
    path = cache.take(content)
    assert path is not None
    assert path.name == "a.mp4"
    assert path.read_bytes() == content.path.read_bytes()
    assert Cache(folder).take(content) == path, "for the next run"
    other = make(tmp_path, "b.mp4", b"0123456789" * 1000)
    other.path.write_bytes(b"abcdefghij" * 1000)
    with pytest.raises(SourceError, match="changed while it was sent"):
        send(cache, other, b"abcdefghij" * 1000)
    changed = make(tmp_path, "a.mp4", b"0123456789" * 1000, age=1)
    assert cache.take(changed) is None, "another time of change is another content"
    empty = make(tmp_path, "empty.mp4", b"")
    cache.begin(empty, [0])
    cache.finish(empty, [("", 0, digest_of(empty.path))])
    assert cache.take(empty) is not None


def test_the_cache_keeps_its_bound_and_what_is_in_use(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "files"
    cache = Cache(folder, limit=2500)
    contents = [make(tmp_path, f"{number}.mp4", b"x" * 1000) for number in range(4)]
    for number, content in enumerate(contents[:2]):
        send(cache, content, b"x" * 1000)
        os.utime(folder / content.key, (number, number))
    assert cache.take(contents[0]) is not None
    os.utime(folder / contents[0].key, (0, 0))  # the oldest, and in use
    send(Cache(folder, limit=2500), contents[2], b"x" * 1000)  # another run's agent
    assert entries(folder) == {"0.mp4", "2.mp4"}
    cache.release(contents[0])
    send(cache, contents[3], b"x" * 1000)
    assert entries(folder) == {"2.mp4", "3.mp4"}


def test_parts_of_an_agent_that_died_are_removed_and_those_of_another_one_stay(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "files"
    cache, content = Cache(folder), make(tmp_path, "a.mp4", b"x" * 100)
    cache.begin(content, [100])
    cache.write(content, "", 0, b"x" * 50)
    (folder / "dead.part").mkdir()
    Cache(folder)
    assert [path.name for path in folder.iterdir() if path.name == "dead.part"] == []
    cache.write(content, "", 50, b"x" * 50)
    cache.finish(content, [("", 100, digest_of(content.path))])
    assert cache.take(content) is not None


def test_a_transfer_survives_the_start_of_another_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, made = tmp_path / "cache" / "files", tempfile.mkdtemp
    cache, content, starts = Cache(folder), make(tmp_path, "a.mp4", b"x" * 100), iter([True])

    def make_and_start(suffix: str, **options: Any) -> str:
        path = made(suffix, **options)
        if next(starts, False):
            Cache(folder)  # removes the folder, which is not locked yet
        return path

    monkeypatch.setattr(tempfile, "mkdtemp", make_and_start)
    send(cache, content, b"x" * 100)
    assert cache.take(content) is not None


def test_an_entry_that_another_agent_evicts_meanwhile_leaves_no_open_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl  # Windows has none

    folder, lock = tmp_path / "cache" / "files", fcntl.flock
    cache, content = Cache(folder), make(tmp_path, "a.mp4", b"x" * 100)
    send(cache, content, b"x" * 100)

    def evict_and_lock(descriptor: int, operation: int) -> None:
        shutil.rmtree(folder / content.key)
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", evict_and_lock)
    before = sorted(path.name for path in Path("/dev/fd").iterdir())
    assert cache.take(content) is None
    assert sorted(path.name for path in Path("/dev/fd").iterdir()) == before


def test_only_its_user_can_read_the_cache_and_another_user_s_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "mine" / "files"
    Cache(mine)
    assert [folder.stat().st_mode & 0o777 for folder in (mine.parent, mine)] == [0o700, 0o700]
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    with pytest.raises(ClusterError, match=r"mine belongs to another user: set TMPDIR to another folder before 'ray start'"):
        Cache(mine)


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, content = Cache(tmp_path / "cache" / "files"), make(tmp_path, "a.mp4", b"x" * 100)
    with pytest.raises(OSError, match="do not fit into"):
        cache.begin(content, [shutil.disk_usage(tmp_path).free + 10**12])


def test_a_content_is_found_by_its_path_or_asked_for(tmp_path: Path) -> None:
    asked: list[Content] = []
    found: list[Path | FramefleetError] = []
    cache = Cache(tmp_path / "cache" / "files")
    store = Store(cache, asked.append)
    here, missing = make(tmp_path, "a.mp4", b"a" * 100), make(tmp_path, "b.mp4", b"b" * 100)
    missing.path.write_bytes(b"c" * 100)  # the node has another file there
    store.obtain(here, found.append)
    until(lambda: found == [here.path])
    for _ in range(2):
        store.obtain(missing, found.append)
    until(lambda: asked == [missing])
    missing.path.write_bytes(b"b" * 100)
    send(cache, missing, b"b" * 100)
    store.arrived(missing, None)
    assert found[1] == found[2] == tmp_path / "cache" / "files" / missing.key / "b.mp4"
    store.release(missing)
    full = Cache(tmp_path / "cache" / "files", limit=0)
    full.begin(here, [0])
    assert entries(tmp_path / "cache" / "files") == {"b.mp4"}, "one task still needs it"
    store.release(missing)
    full.begin(here, [0])
    assert entries(tmp_path / "cache" / "files") == set()


def test_another_model_at_the_same_path_is_refused(tmp_path: Path) -> None:
    weights = tmp_path / "m.weights"
    weights.write_bytes(b"a" * 300_000)
    mine = content_of(weights, whole=True)
    weights.write_bytes(b"a" * 150_000 + b"b" + b"a" * 149_999)  # the same size, start and end
    found: list[Path | FramefleetError] = []
    asked: list[Content] = []
    store = Store(Cache(tmp_path / "cache" / "files"), asked.append)
    store.obtain(mine, found.append)
    until(lambda: bool(found))
    assert isinstance(found[0], ClusterError)
    assert f"this node has another {weights}" in str(found[0])
    weights.unlink()
    store.obtain(mine, found.append)
    until(lambda: asked == [mine])
