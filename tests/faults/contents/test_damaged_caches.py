"""Plans, kernels, sessions and downloads that are damaged, swapped, or made for another GPU: refused before use, and made again."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.model.registry import download as downloading
from framefleet.engine.model.registry.catalogue import is_installed
from framefleet.engine.model.registry.download import download
from framefleet.engine.notices import DownloadError, ExportError
from framefleet.engine.store.session import SessionReader
from framefleet.plugins.cache import FileCache
from tests.support.faults.counts import short_and_long
from tests.support.faults.damage import damaged, memory_below, randomness
from tests.support.http import Site, publish_tiny
from tests.support.store import write_session

SITUATION = "TensorRT-RTX 1.6.1\ndriver 580\n{gpu}\nsm_90"


@pytest.fixture(scope="module")
def plan() -> bytes:
    """A real plan, built without a GPU, or other bytes of its size."""
    pytest.importorskip("tensorrt_rtx", reason="the extra 'rtx' is not installed")
    from framefleet.engine.backends.tensorrt.library import find_library
    from framefleet.engine.backends.tensorrt.plan import build_plan
    from framefleet.engine.model.split import split
    from tests.support.models import tiny_network

    network = tiny_network()
    return build_plan(find_library((9, 0)), network, split(network)[0], 1)


@pytest.fixture(scope="module")
def kernels() -> bytes:
    """A real cubin, which compiles faster than those of the project."""
    pytest.importorskip("cuda.core", reason="the extra 'cuda' is not installed")
    from framefleet.plugins.kernels import compile_source

    return compile_source('extern "C" __global__ void one(float* value) { *value += 1; }', "sm_90")


@short_and_long(12, 3000)
@pytest.mark.parametrize("kind", ["plan", "kernels"])
def test_damaged_plans_and_kernels_are_built_again(kind: str, rounds: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    content: bytes = request.getfixturevalue(kind)
    random, cache = randomness(), FileCache(tmp_path / "plans")
    cache.write("key", content)
    (entry,) = (tmp_path / "plans").iterdir()
    whole = entry.read_bytes()
    for _ in range(rounds):
        entry.write_bytes(damaged(whole, random))
        assert cache.read("key") is None
        assert cache.get("key", lambda: content) == content
        assert entry.read_bytes() == whole


def test_the_plan_of_another_gpu_is_refused_even_under_this_one_s_name(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "plans")
    here, there = (SITUATION.format(gpu=gpu) for gpu in ("NVIDIA H100", "NVIDIA H200"))
    cache.write(there, b"plan of the H200")
    (theirs,) = (tmp_path / "plans").iterdir()
    assert cache.read(here) is None
    cache.write(here, b"plan of the H100")
    (ours,) = set((tmp_path / "plans").iterdir()) - {theirs}
    ours.write_bytes(theirs.read_bytes())
    assert cache.get(here, lambda: b"built here") == b"built here"
    assert cache.read(there) == b"plan of the H200"


def read_everything(path: Path) -> list[object]:
    """All that a session gives to exports, the window and later runs."""
    with SessionReader(path) as reader:
        found: list[object] = [reader.device_names(), reader.class_ids(), reader.labels, reader.facts]
        for source in reader.sources():
            number = source.number
            for frame in reader.frames(number):
                boxes = None if frame.detections is None else frame.detections.boxes.tolist()
                found.append((frame.ref, frame.failure, boxes))
            found += [block.frames for block in reader.blocks(number, 50)]
            found += [replace(source, path="", file=path), reader.tracks(number)]
            found += [
                (block.frame.tolist(), block.class_ids.tolist(), block.scores.tolist(), block.boxes.tolist())
                for block in reader.blocks(number)
            ]
            found += [reader.times(number, 1 << 40).tolist(), reader.count(number), reader.first_pts(number), reader.last_pts(number)]
        return found


@short_and_long(30, 5000)
def test_damaged_sessions_are_refused_or_read_rightly(rounds: int, tmp_path: Path) -> None:
    """Some damage is harmless: it lies behind the last page."""
    random = randomness()
    whole = write_session(tmp_path / "session.sqlite", {"a.mp4": 120, "b.mp4": 30}).read_bytes()
    path, errors = tmp_path / "damaged.sqlite", list[str]()
    path.write_bytes(whole)
    expected = read_everything(path)
    with memory_below(10**9):
        for _ in range(rounds):
            path.write_bytes(damaged(whole, random))
            try:
                assert read_everything(path) == expected
            except ExportError as error:
                errors.append(str(error))
    print(f"{len(errors)} of {rounds} refused, the others read rightly")
    assert all(str(path) in error for error in errors)
    assert len(errors) > rounds / 2


@short_and_long(12, 500)
def test_damaged_downloads_are_refused_and_downloaded_again(
    rounds: int, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloading, "PAUSE_SECONDS", 0.01)
    random, folder = randomness(), tmp_path / "models"
    entry = publish_tiny(site, tmp_path)
    page = site.pages["/tiny.weights"]
    whole = page.body
    entry = replace(entry, weights=replace(entry.weights, sha256=hashlib.sha256(whole).hexdigest()))
    for number in range(rounds):
        page.body, page.mark = damaged(whole, random), f'"{number}"'
        with pytest.raises(DownloadError):
            download(entry, folder)
        assert not is_installed(entry, folder)
    page.body, page.mark = whole, '"whole"'
    assert Path(download(entry, folder).weights).read_bytes() == whole


def test_every_damage_is_a_damage() -> None:
    random, content = np.random.default_rng(0), bytes(range(256))
    kinds = {len(damaged(content, random)) - len(content) for _ in range(300)}
    assert 0 in kinds
    assert min(kinds) < 0 < max(kinds)
    assert all(damaged(content, random) != content for _ in range(300))
