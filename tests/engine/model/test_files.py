from __future__ import annotations

from pathlib import Path

from framefleet.engine.model.files import find_cfg, find_weights


def test_the_other_file_of_a_model(tmp_path: Path) -> None:
    cfg = tmp_path / "yolo-fastest-1.1.cfg"
    assert find_weights(cfg) is None
    for suffix in ("_last", "_final", "_best", ""):
        weights = tmp_path / f"yolo-fastest-1.1{suffix}.weights"
        assert find_cfg(weights) is None
        weights.touch()
        assert find_weights(cfg) == weights
    cfg.touch()
    for suffix in ("_last", "_final", "_best", ""):
        assert find_cfg(tmp_path / f"yolo-fastest-1.1{suffix}.weights") == cfg
    own = tmp_path / "yolo-fastest-1.1_best.cfg"
    own.touch()
    assert find_cfg(tmp_path / "yolo-fastest-1.1_best.weights") == own


def test_folders_do_not_count_as_files(tmp_path: Path) -> None:
    (tmp_path / "a.weights").mkdir()
    assert find_weights(tmp_path / "a.cfg") is None
