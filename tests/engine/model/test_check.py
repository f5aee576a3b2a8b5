from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from framefleet.engine.model.load import check_model
from framefleet.engine.notices import ModelError, UsageError
from framefleet.engine.settings import ModelFiles
from tests.support.models import TINY_CFG


def test_tiny() -> None:
    summary = check_model(ModelFiles(TINY_CFG, "random:1"))
    assert (summary.name, summary.width, summary.height) == ("tiny", 96, 96)
    assert (summary.classes, summary.labels) == (3, ("class 0", "class 1", "class 2"))
    assert summary.weights_bytes == 20 + 4 * summary.parameters
    assert 0.001 < summary.gflops < 0.01


def test_yolov4(data: Path) -> None:
    summary = check_model(ModelFiles(data / "models" / "yolov4.cfg", "random:1", size=(416, 416)))
    assert summary.weights_bytes == 257_717_640
    assert (round(summary.gflops, 1), round(summary.parameters / 1e6, 2)) == (60.1, 64.43)


def test_it_rejects_the_same_files_as_loading(data: Path, tmp_path: Path) -> None:
    models = data / "models"
    assert check_model(ModelFiles(models / "yolo-fastest-1.1.cfg", models / "yolo-fastest-1.1.weights")).labels[0] == "person"
    with pytest.raises(ModelError, match="does not belong to"):
        check_model(ModelFiles(models / "yolov4.cfg", models / "yolo-fastest-1.1.weights"))
    with pytest.raises(ModelError, match="does not exist"):
        check_model(ModelFiles(models / "yolov4.cfg", tmp_path / "yolov4.weights"))
    with pytest.raises(ModelError, match="3 classes"):
        check_model(ModelFiles(TINY_CFG, "random:1", models / "coco.names"))
    with pytest.raises(UsageError, match="random:SEED"):
        check_model(ModelFiles(TINY_CFG, "random:"))


def test_no_heavy_library_is_imported() -> None:
    code = (
        "import sys, framefleet.engine.model.load, framefleet.engine.model.files, framefleet.engine.model.load\n"
        "print([name for name in ('onnx', 'cv2', 'av', 'openvino', 'PySide6') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    assert found.stdout.strip() == "[]"
