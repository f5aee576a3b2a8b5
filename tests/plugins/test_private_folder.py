"""The cache of plans and kernels is native code: only its owner may be able to change it."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

import pytest

from framefleet.plugins import cache as cache_module
from framefleet.plugins.cache import FileCache, make_private, read_private

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")

as_root = pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root can give files to other users")

SOMEBODY = 54321


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder in which only its owner may write."""
    (tmp_path / "home").mkdir(mode=0o700)
    return tmp_path / "home"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_is_created_for_the_user_alone(home: Path) -> None:
    before = os.umask(0o022)
    try:
        assert make_private(home / "cache" / "plans") is None
    finally:
        os.umask(before)
    assert mode(home / "cache" / "plans") == 0o700


def test_a_folder_that_others_may_read_loses_the_permission(home: Path) -> None:
    (home / "plans").mkdir()
    (home / "plans").chmod(0o755)
    assert make_private(home / "plans") is None
    assert mode(home / "plans") == 0o700


@pytest.mark.parametrize("permissions", [0o777, 0o702, 0o1777])
def test_a_folder_that_others_may_write_to_is_refused(home: Path, permissions: int) -> None:
    (home / "plans").mkdir()
    (home / "plans").chmod(permissions)
    assert "others may write" in str(make_private(home / "plans"))
    assert mode(home / "plans") == permissions, "it is left as it is"


@pytest.mark.parametrize(("permissions", "safe"), [(0o755, True), (0o777, False), (0o757, False), (0o1777, True)])
def test_the_folders_above_count(home: Path, permissions: int, safe: bool) -> None:
    above = home / "above"
    (above / "inside").mkdir(parents=True)
    above.chmod(permissions)
    reason = make_private(above / "inside" / "plans")
    assert (reason is None) == safe
    assert safe or f"others may write to {above}" in str(reason)
    assert safe or not (above / "inside" / "plans").exists()


def test_a_link_is_refused(home: Path) -> None:
    (home / "elsewhere").mkdir(mode=0o700)
    (home / "plans").symlink_to(home / "elsewhere")
    assert "symbolic link" in str(make_private(home / "plans"))


def test_a_link_above_counts_with_its_target(home: Path) -> None:
    """Many users keep the cache on another disk."""
    target = home / "disk"
    target.mkdir(mode=0o700)
    (home / "link").symlink_to(target)
    assert make_private(home / "link" / "plans") is None
    target.chmod(0o777)
    assert f"others may write to {target}" in str(make_private(home / "link" / "plans"))


@as_root
def test_a_link_of_others_is_refused_whatever_it_points_to(home: Path) -> None:
    """They could let it point elsewhere later."""
    (home / "mine").mkdir(mode=0o700)
    (home / "open").mkdir()
    (home / "open").chmod(0o1777)
    link = home / "open" / "link"
    link.symlink_to(home / "mine")
    assert make_private(link / "plans") is None
    os.chown(link, SOMEBODY, SOMEBODY, follow_symlinks=False)
    assert f"{link} belongs to user {SOMEBODY}" in str(make_private(link / "plans"))


@as_root
def test_what_belongs_to_others_is_refused(home: Path) -> None:
    (home / "plans").mkdir(mode=0o700)
    os.chown(home / "plans", SOMEBODY, SOMEBODY)
    assert f"belongs to user {SOMEBODY}" in str(make_private(home / "plans"))
    above = home / "above"
    above.mkdir(mode=0o755)
    os.chown(above, SOMEBODY, SOMEBODY)
    assert f"{above} belongs to user {SOMEBODY}" in str(make_private(above / "plans"))


@as_root
def test_a_user_s_own_group_may_write(home: Path) -> None:
    """Some systems create all folders so, and give each user a group of the same name."""
    (home / "plans").mkdir()
    (home / "plans").chmod(0o770)
    assert make_private(home / "plans") is None
    assert mode(home / "plans") == 0o700
    (home / "plans").chmod(0o770)
    os.chown(home / "plans", -1, SOMEBODY)
    assert "others may write" in str(make_private(home / "plans"))


def test_entries_that_others_may_change_are_created_again(home: Path) -> None:
    cache = FileCache(home / "plans")
    cache.write("model", b"plan")
    (entry,) = (home / "plans").iterdir()
    assert mode(entry) == 0o600
    assert cache.read("model") == b"plan"
    entry.chmod(0o666)
    assert cache.read("model") is None
    assert cache.get("model", lambda: b"new") == b"new"
    assert (mode(entry), cache.read("model")) == (0o600, b"new")


def test_entries_that_are_links_or_pipes_are_created_again(home: Path) -> None:
    cache = FileCache(home / "plans")
    cache.write("model", b"plan")
    (entry,) = (home / "plans").iterdir()
    moved = entry.rename(home / "moved")
    entry.symlink_to(moved)
    assert cache.read("model") is None
    entry.unlink()
    os.mkfifo(entry, 0o600)
    assert cache.read("model") is None
    assert cache.get("model", lambda: b"new") == b"new"
    assert cache.read("model") == b"new"
    assert moved.read_bytes()[32:] == b"plan"


@as_root
def test_entries_of_others_are_not_read(home: Path) -> None:
    (home / "file").write_bytes(b"theirs")
    os.chown(home / "file", SOMEBODY, SOMEBODY)
    assert read_private(home / "file") is None


def test_a_refused_cache_costs_time_only_and_says_so_once(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = home / "plans"
    FileCache(folder).write("model", b"plan")
    folder.chmod(0o777)
    cache_module.warned.clear()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert FileCache(folder).get("model", lambda: b"built") == b"built"
    (record,) = caplog.records
    assert f"Engines are built without the cache, so every start takes longer: others may write to {folder}" in record.message
    assert "others may write" in str(FileCache(folder).refusal)
    folder.chmod(0o700)
    assert FileCache(folder).refusal is None
    assert FileCache(folder).get("model", lambda: b"built") == b"plan", "the earlier entry was not replaced"
