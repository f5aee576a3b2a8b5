from pathlib import Path

import pytest

from framefleet.engine.model.describe import describe
from framefleet.engine.model.registry.catalogue import (
    FAMILY,
    MIRROR,
    ModelEntry,
    entry_named,
    files_of,
    find_entry,
    is_installed,
    locked,
    model_named,
    partial_bytes,
    remove_model,
)
from framefleet.engine.notices import DownloadError, UsageError


@pytest.mark.parametrize("entry", FAMILY, ids=lambda entry: entry.name)
def test_the_list_agrees_with_the_published_networks(entry: ModelEntry, data: Path) -> None:
    cfg = data / "models" / f"{entry.name}.cfg"
    if not cfg.is_file():
        pytest.skip(f"{cfg.name} is not among the test data")
    found = describe(cfg)
    assert (found.width, found.height, found.classes) == (entry.side, entry.side, 80)
    assert (len(found.layers), found.float_count, found.weights_bytes) == (entry.layers, entry.parameters, entry.weights_bytes)
    assert entry.gflops == pytest.approx(found.flops / 1e9, abs=0.05)


def test_sizes_are_those_that_are_published() -> None:
    sizes = {entry.name: entry.weights_bytes for entry in FAMILY}
    assert sizes["yolov4"] == 257_717_640  # as in Intel's open_model_zoo
    assert sizes["yolov4-tiny"] == 24_251_276
    assert {name: int(size / 2**20) for name, size in sizes.items()} == {  # as in AlexeyAB's README, which counts in MiB
        "yolov4-tiny": 23,
        "yolov4-csp": 202,
        "yolov4": 245,
        "yolov4-csp-swish": 202,
        "yolov4x-mish": 380,
        "yolov4-csp-x-swish": 380,
        "yolov4-p5": 270,
        "yolov4-p6": 487,
    }


def test_every_model_has_its_own_name_and_official_addresses() -> None:
    assert len({entry.name for entry in FAMILY}) == len(FAMILY)
    for entry in FAMILY:
        assert (entry.cfg.name, entry.weights.name) == (f"{entry.name}.cfg", f"{entry.name}.weights")
        assert entry.cfg.address.startswith("https://raw.githubusercontent.com/AlexeyAB/darknet/")
        assert entry.weights.address.startswith("https://github.com/AlexeyAB/darknet/releases/download/")
        for file in (entry.cfg, entry.weights):
            assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32


def test_models_are_found_by_name() -> None:
    assert entry_named("YOLOv4-tiny") is find_entry("yolov4-tiny")
    assert find_entry("yolov9") is None
    with pytest.raises(UsageError, match="no model 'resnet' to download; models to download: yolov4-tiny, "):
        entry_named("resnet")


def test_a_mirror_replaces_the_place_but_not_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = entry_named("yolov4").weights
    assert weights.source == weights.address
    monkeypatch.setenv(MIRROR, "https://mirror.example/models/ ")
    assert weights.source == "https://mirror.example/models/yolov4.weights"


def test_only_complete_files_make_a_model(tmp_path: Path) -> None:
    entry = entry_named("yolov4-tiny")
    files = files_of(entry, tmp_path)
    weights = Path(files.weights)
    with pytest.raises(UsageError, match=r"'framefleet models download yolov4-tiny' does it \(24 MB\)"):
        model_named("yolov4-tiny", tmp_path)
    files.cfg.parent.mkdir()
    files.cfg.touch()
    weights.write_bytes(b"too short")
    assert not is_installed(entry, tmp_path)
    with weights.open("wb") as file:
        file.truncate(entry.weights_bytes)
    assert is_installed(entry, tmp_path)
    assert model_named("yolov4-tiny", tmp_path) == files
    with pytest.raises(UsageError, match=r"'yolov9' is neither a file nor a model to download; did you mean yolov4\? models"):
        model_named("yolov9", tmp_path)


def test_a_model_that_cannot_be_deleted(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "yolov4").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DownloadError, match="yolov4 cannot be deleted: "):
        remove_model(entry_named("yolov4"), tmp_path)
    assert (tmp_path / "elsewhere").is_dir()


def test_removing_takes_all_of_a_model_and_nothing_else(tmp_path: Path) -> None:
    entry = entry_named("yolov4")
    assert not remove_model(entry, tmp_path)
    other = tmp_path / "mine" / "mine.cfg"
    for path in (tmp_path / "yolov4" / "yolov4.cfg", tmp_path / "yolov4" / "yolov4.weights.part", other):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"12345")
    assert partial_bytes(entry, tmp_path) == 5
    with locked(tmp_path, "yolov4"), pytest.raises(DownloadError, match="is being downloaded already"):
        remove_model(entry, tmp_path)
    assert remove_model(entry, tmp_path)
    assert not (tmp_path / "yolov4").exists()
    assert other.is_file()
    assert partial_bytes(entry, tmp_path) == 0
