from __future__ import annotations

from pathlib import Path

import pytest

from framefleet.engine.notices import UsageError
from framefleet.engine.settings import folders
from framefleet.engine.settings.folders import Folder, choose, stored


@pytest.fixture(autouse=True)
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    for folder in Folder:
        monkeypatch.setenv(folder.variable, "")


def test_a_choice_is_kept_and_the_default_comes_back(tmp_path: Path) -> None:
    assert Folder.MODELS.path == tmp_path / "DATA" / "framefleet" / "models"
    choose(Folder.MODELS, tmp_path / "disk" / "models")
    choose(Folder.CACHE, tmp_path / "fast")
    assert stored() == {Folder.MODELS: tmp_path / "disk" / "models", Folder.CACHE: tmp_path / "fast"}
    choose(Folder.MODELS, None)
    assert stored() == {Folder.CACHE: tmp_path / "fast"}


def test_a_variable_is_stronger_than_a_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(Folder.CACHE, tmp_path / "chosen")
    choose(Folder.SESSIONS, tmp_path / "runs")
    monkeypatch.setenv(Folder.CACHE.variable, str(tmp_path / "named"))
    monkeypatch.delenv(Folder.SESSIONS.variable)
    folders.apply()
    assert (Folder.CACHE.path, Folder.SESSIONS.path) == (tmp_path / "named", tmp_path / "runs")


@pytest.mark.parametrize("content", ["", "[]", "{", '{"models": 3}', '{"models": "relative", "other": "/x"}'])
def test_a_damaged_file_counts_as_no_choice(tmp_path: Path, content: str) -> None:
    (tmp_path / "CONFIG" / "framefleet").mkdir(parents=True)
    (tmp_path / "CONFIG" / "framefleet" / "folders.json").write_text(content)
    assert stored() == {}


def test_a_folder_that_cannot_be_made_is_refused_and_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file/models cannot be written to"):
        choose(Folder.MODELS, tmp_path / "file" / "models")
    assert stored() == {}
