from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from framefleet.engine.notices import ModelError
from framefleet.engine.settings import EngineSettings, ModelFiles, Parallel, RunSettings, Tiles
from framefleet.engine.store.facts import DECIDING, differences, run_facts
from framefleet.engine.types import DeviceId
from framefleet.plugins.cache import FOLDER_VARIABLE
from tests.support.models import tiny_files


def _deciding(settings: RunSettings) -> dict[str, str]:
    facts = run_facts(settings)
    return {name: facts[name] for name in DECIDING}


def test_what_decides_the_results_changes_the_facts_and_nothing_else() -> None:
    base = RunSettings(tiny_files())
    same = replace(base, devices=(DeviceId("cpu", "1"),), parallel=Parallel.STREAMS, engine=EngineSettings(batch=7, threads=1))
    assert _deciding(same) == _deciding(replace(same, tiles=Tiles(overlap=0.4))) == _deciding(base)
    for changed in (
        replace(base, engine=EngineSettings(stored_confidence=0.3)),
        replace(base, engine=EngineSettings(iou=0.3)),
        replace(base, engine=EngineSettings(classes=frozenset((1, 0)))),
        replace(base, parallel=Parallel.TILES),
        replace(base, model=replace(tiny_files(), size=(96, 64))),
        replace(base, model=replace(tiny_files(), weights="random:2")),
    ):
        assert _deciding(changed) != _deciding(base), changed
    tiled = replace(base, parallel=Parallel.TILES)
    assert _deciding(tiled) != _deciding(replace(tiled, tiles=Tiles(overlap=0.4)))


def test_a_model_is_known_by_its_content(tmp_path: Path) -> None:
    files = tiny_files()
    cfg, weights = shutil.copy(files.cfg, tmp_path / "copy.cfg"), tmp_path / "copy.weights"
    weights.write_bytes(bytes(5000))
    before = run_facts(RunSettings(ModelFiles(cfg, weights)))["model_digest"]
    weights.write_bytes(bytes(4999) + b"\1")
    assert run_facts(RunSettings(ModelFiles(cfg, weights)))["model_digest"] != before


def test_what_differs_is_said_in_words() -> None:
    base = run_facts(RunSettings(tiny_files()))
    other = run_facts(RunSettings(tiny_files(), engine=EngineSettings(classes=frozenset((1, 0)), stored_confidence=0.3)))
    assert [*map(str, differences(base, other))] == ["confidence is 0.3, it was 0.25", "classes is 0,1, it was not given"]


def test_a_model_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.weights cannot be read: No such file"):
        run_facts(RunSettings(ModelFiles(tiny_files().cfg, tmp_path / "none.weights")))


def test_the_kept_digest_of_large_weights_follows_their_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    weights = tmp_path / "large.weights"
    weights.write_bytes(bytes(17 * 2**20))
    state = weights.stat()
    settings = RunSettings(ModelFiles(tiny_files().cfg, weights))
    first = run_facts(settings)["model_digest"]
    assert len([*(tmp_path / "cache" / "plans").iterdir()]) == 1
    assert run_facts(settings)["model_digest"] == first
    with weights.open("r+b") as file:  # a program may set the time of the change back
        file.write(b"x")
    os.utime(weights, ns=(state.st_atime_ns, state.st_mtime_ns))
    changed = run_facts(settings)["model_digest"]
    assert changed != first
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "another"))
    assert run_facts(settings)["model_digest"] == changed
