import os
from collections.abc import Callable
from pathlib import Path

from framefleet.plugins.cache import FileCache


class Maker:
    def __init__(self, content: bytes = b"plan") -> None:
        self.content, self.calls = content, 0

    def __call__(self) -> bytes:
        self.calls += 1
        return self.content


def only_entry(folder: Path) -> Path:
    (entry,) = folder.iterdir()
    return entry


def test_a_plan_is_made_once(tmp_path: Path) -> None:
    make = Maker()
    assert FileCache(tmp_path).get("model", make) == b"plan"
    assert FileCache(tmp_path).get("model", make) == b"plan"
    assert make.calls == 1


def test_another_key_is_another_plan(tmp_path: Path) -> None:
    cache = FileCache(tmp_path)
    cache.get("driver 580", Maker(b"old"))
    assert cache.get("driver 590", Maker(b"new")) == b"new"
    assert cache.get("driver 580", Maker(b"never")) == b"old"


def test_what_is_damaged_is_made_anew(tmp_path: Path) -> None:
    cache = FileCache(tmp_path)
    damages: list[Callable[[bytes], bytes]] = [
        lambda old: old[:-1],
        lambda old: old[:-1] + b"?",
        lambda old: old[:0],
        lambda old: old[:32],
        lambda old: b"?" + old[1:],
    ]
    for damage in damages:
        cache.get("model", Maker(b"plan"))
        entry = only_entry(tmp_path)
        entry.write_bytes(damage(entry.read_bytes()))
        make = Maker(b"plan")
        assert cache.get("model", make) == b"plan"
        assert make.calls == 1


def test_a_plan_stored_under_another_key_is_not_taken(tmp_path: Path) -> None:
    cache = FileCache(tmp_path)
    cache.get("foreign", Maker(b"foreign"))
    foreign = only_entry(tmp_path)
    cache.get("mine", Maker(b"mine"))
    mine = next(entry for entry in tmp_path.iterdir() if entry != foreign)
    mine.write_bytes(foreign.read_bytes())
    assert cache.get("mine", Maker(b"made anew")) == b"made anew"


def test_no_half_written_file_stays(tmp_path: Path) -> None:
    FileCache(tmp_path).get("model", Maker())
    assert [entry.suffix for entry in tmp_path.iterdir()] == [".built"]


def test_a_folder_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    make = Maker()
    cache = FileCache(blocked / "plans")
    assert (cache.get("model", make), cache.get("model", make), make.calls) == (b"plan", b"plan", 2)


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, limit=250)
    for number, key in enumerate(("a", "b")):
        cache.write(key, bytes([number + 1]) * 80)
    a = next(entry for entry in tmp_path.iterdir() if entry.read_bytes()[32] == 1)
    b = next(entry for entry in tmp_path.iterdir() if entry.read_bytes()[32] == 2)
    for age, entry in ((200, a), (100, b)):
        stat = entry.stat()

        os.utime(entry, (stat.st_atime - age, stat.st_mtime - age))
    assert cache.read("a") is not None  # used now
    cache.write("c", b"c" * 80)
    assert (cache.read("a") is None, cache.read("b") is None, cache.read("c") is None) == (False, True, False)


def test_of_several_that_find_a_value_at_once_all_take_the_first(tmp_path: Path) -> None:
    cache = FileCache(tmp_path)

    def find() -> list[int]:
        assert cache.remember("batch", lambda: [32]) == [32]  # another process, meanwhile
        return [64]

    assert cache.remember("batch", find) == [32]
    only_entry(tmp_path).write_bytes(b"damaged")
    assert cache.remember("batch", lambda: [16]) == [16]
    assert cache.remember("batch", lambda: [8]) == [16]
