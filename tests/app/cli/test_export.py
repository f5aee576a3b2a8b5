from __future__ import annotations

from pathlib import Path

import onnx

from tests.support.cli import TINY, run_main


def test_a_model_becomes_onnx(tmp_path: Path) -> None:
    target = tmp_path / "tiny.onnx"
    run = run_main("export", *TINY, "--size", "128x64", "-o", target)
    assert run.status == 0, run.err
    assert f"{target}: tiny, 128×64, 3 classes" in run.out
    model = onnx.load(target)
    onnx.checker.check_model(model, full_check=True)
    assert [size.dim_value for size in model.graph.input[0].type.tensor_type.shape.dim][1:] == [3, 64, 128]


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    run = run_main("export", *TINY, "-o", tmp_path / "none" / "tiny.onnx")
    assert run.status == 2
    assert f"{tmp_path / 'none' / 'tiny.onnx'} cannot be written: No such file or directory; choose another place" in run.err
    assert ".onnx-" not in run.err, "a name of ours"


def test_no_name(tmp_path: Path) -> None:
    run = run_main("export", *TINY, "-o", "")
    assert run.status == 2
    assert "argument -o/--output: '' names no file" in run.err
