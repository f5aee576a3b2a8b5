import dataclasses
from pathlib import Path

import pytest

from framefleet.engine.model.registry import catalogue as installed
from framefleet.engine.model.registry import catalogue as registry
from framefleet.engine.model.registry.catalogue import FAMILY, ModelEntry
from tests.support.cli import run_main
from tests.support.http import Page, Site, publish_tiny
from tests.support.media import make_video


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return installed.models_folder()


@pytest.fixture
def entries(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ModelEntry, ...]:
    """Two small models in place of the large ones."""
    entries = publish_tiny(site, tmp_path), publish_tiny(site, tmp_path, "small")
    monkeypatch.setattr(registry, "FAMILY", entries)
    return entries


def test_the_list_names_every_model(folder: Path) -> None:
    done = run_main("models")
    assert done.status == 0
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[1 : 1 + len(FAMILY)]] == [entry.name for entry in FAMILY]
    assert "yolov4               balanced      608×608      64.4 M    258 MB   43.5 %  –" in lines
    assert str(folder) in lines[-1]
    report = run_main("models", "--json").report
    assert report["folder"] == str(folder)
    found = {model["name"]: model for model in report["models"]}
    assert len(found) == len(FAMILY)
    assert found["yolov4"]["weights_bytes"] == 257_717_640
    assert (found["yolov4"]["size"], found["yolov4"]["installed"], found["yolov4"]["path"]) == ([608, 608], False, None)


def test_a_model_is_downloaded_used_by_its_name_and_removed(entries: tuple[ModelEntry, ...], folder: Path, tmp_path: Path) -> None:
    video = make_video(tmp_path / "clip.mp4", 3, (64, 64))
    refused = run_main("detect", video, "--model", "tiny", "--out", tmp_path / "out")
    assert refused.status == 2
    assert "'framefleet models download tiny' does it" in refused.err

    done = run_main("models", "tiny", "--json")
    assert done.status == 0
    assert "tiny: 0.1 of 0.1 MB" in done.err
    (model,) = done.report["models"]
    assert (model["name"], model["installed"], model["path"]) == ("tiny", True, str(folder / "tiny"))
    assert "error" not in done.report
    assert "tiny is installed already" in run_main("models", "download", "tiny").err
    assert "installed" in run_main("models").out.splitlines()[1]

    detected = run_main("detect", video, "--model", "tiny", "--out", tmp_path / "out", "--quiet", "--json")
    assert detected.status == 0
    assert detected.report["sources"][0]["frames"]["inferred"] == 3

    assert "tiny is removed" in run_main("models", "remove", "tiny").err
    assert not (folder / "tiny").exists()
    assert "tiny is not installed" in run_main("models", "remove", "tiny").err


def test_one_that_fails_does_not_stop_the_others(site: Site, entries: tuple[ModelEntry, ...], folder: Path) -> None:
    site.pages["/tiny.weights"] = dataclasses.replace(site.pages["/tiny.weights"], breaks=[40_000, 0])
    done = run_main("models", "tiny", "small", "--json")
    assert done.status == 1
    assert "tiny.weights was interrupted after 40,000" in done.err
    assert "tiny.weights was interrupted after 40,000" in done.report["error"]
    assert [model["installed"] for model in done.report["models"]] == [False, True]
    assert "small is installed" in done.err
    assert "55 % downloaded" in run_main("models").out
    site.pages["/tiny.weights"] = Page(status=404)
    alone = run_main("models", "tiny")
    assert alone.status == 2
    assert "answers '404" in alone.err


def test_wrong_words_are_explained() -> None:
    unknown = run_main("models", "yolov9")
    assert unknown.status == 2
    assert "there is no model 'yolov9' to download; did you mean yolov4? models to download: yolov4-tiny" in unknown.err
    assert "there is no model 'yolov4-tinny' to download; did you mean yolov4-tiny?" in run_main("models", "yolov4-tinny").err
    assert "'yolov4-tinny' is neither a file nor" in (wrong := run_main("detect", "a.mp4", "--model", "yolov4-tinny").err)
    assert "did you mean yolov4-tiny?" in wrong
    assert "which model?" in run_main("models", "remove").err
