"""ONNX files with TensorRT, without a GPU: what its parser gets, and the plans that TensorRT-RTX builds on any machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from framefleet.engine.backends.tensorrt.library import find_library
from framefleet.engine.model.load import load_model
from framefleet.engine.model.onnx.network import OnnxNetwork
from framefleet.engine.model.onnx.prepare import with_fixed_inputs
from framefleet.engine.notices import DeviceError, ModelError
from framefleet.engine.settings import ModelFiles, Precision
from tests.support.onnx_models import CELLS, KNOWN, SIDE, save, write_known, write_model, write_nms, write_red, write_several, write_yolox


@pytest.fixture
def rtx() -> Any:
    pytest.importorskip("tensorrt_rtx", reason="the extra 'rtx' is not installed")
    pytest.importorskip("cuda.core")
    return find_library((9, 0))


def network_of(files: ModelFiles) -> OnnxNetwork:
    network = load_model(files)
    assert isinstance(network, OnnxNetwork)
    return network


def built(rtx: Any, network: OnnxNetwork, batch: int = 1, precision: Precision = Precision.FP32) -> bytes:
    from framefleet.engine.backends.tensorrt.onnx import build_onnx_plan

    return build_onnx_plan(rtx, network, batch, precision)


@pytest.mark.parametrize(("reading", "outputs", "boxes"), KNOWN)
def test_each_reading_builds(rtx: Any, tmp_path: Path, reading: str, outputs: dict[str, NDArray[Any]], boxes: list[list[float]]) -> None:
    assert len(boxes) == 2
    network = network_of(write_known(tmp_path, reading, outputs))
    for precision in (Precision.FP32, Precision.FP16):
        assert len(built(rtx, network, 1, precision)) > 1000


def test_several_pictures_at_once(rtx: Any, tmp_path: Path) -> None:
    assert len(built(rtx, network_of(write_several(tmp_path / "a.onnx")), 4)) > 1000


def test_a_suppression_of_tensorrt_is_cut_off(rtx: Any, tmp_path: Path) -> None:
    assert len(built(rtx, network_of(write_nms(tmp_path / "a.onnx", 0)))) > 1000
    network = network_of(write_nms(tmp_path / "b.onnx", 0, of_classes=True, score_activation=1, background_class=0))
    for precision in (Precision.FP32, Precision.FP16):
        assert len(built(rtx, network, 1, precision)) > 1000


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.UINT8])
def test_bytes_and_channels_last(rtx: Any, tmp_path: Path, kind: int, channels_last: bool) -> None:
    network = network_of(write_red(tmp_path / "a.onnx", kind, channels_last))
    in_half(network)
    assert len(built(rtx, network)) > 1000
    picture = np.zeros((1, 3, SIDE, SIDE), np.float32)
    picture[0, 0] = 204.75 if kind == TensorProto.UINT8 else 0.8
    (found,) = ReferenceEvaluator(onnx.load_model_from_string(with_fixed_inputs(network, 1))).run(None, {"images": picture})
    np.testing.assert_allclose(found[0, 0, 4], 0.8, atol=1e-6)


def test_an_operator_that_the_library_lacks_is_named(rtx: Any, tmp_path: Path) -> None:
    nodes = [helper.make_node("NoSuchOperator", ["images"], ["o"])]
    files = save(tmp_path / "a.onnx", nodes, [], [helper.make_tensor_value_info("o", TensorProto.FLOAT, (1, 6, CELLS))])
    with pytest.raises(DeviceError, match=r"TensorRT-RTX.* cannot compute a \(.*NoSuchOperator.*\): use --devices cpu:0"):
        built(rtx, network_of(files))


def test_a_suppression_inside_the_network_is_refused(rtx: Any, tmp_path: Path) -> None:
    """The number of its boxes depends on the picture."""
    nodes = [
        helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0),
        helper.make_node("Mul", ["mean", "zero"], ["nothing"]),
        helper.make_node("Add", ["scores", "nothing"], ["s"]),
        helper.make_node("NonMaxSuppression", ["boxes", "s", "count"], ["chosen"]),
        helper.make_node("Cast", ["chosen"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Concat", ["numbers", "numbers", "numbers"], ["nine"], axis=1),
        helper.make_node("Slice", ["nine", "from", "to", "axis"], ["o"]),
    ]
    tensors = [
        numpy_helper.from_array(np.array(0, np.float32), "zero"),
        numpy_helper.from_array(np.zeros((1, 5, 4), np.float32), "boxes"),
        numpy_helper.from_array(np.ones((1, 2, 5), np.float32), "scores"),
        *(numpy_helper.from_array(np.array([value]), name) for name, value in (("count", 3), ("from", 0), ("to", 7), ("axis", 1))),
    ]
    files = save(tmp_path / "a.onnx", nodes, tensors, [helper.make_tensor_value_info("o", TensorProto.FLOAT, ("n", 7))])
    labels = tmp_path / "a.names"
    labels.write_text("cat\n")
    with pytest.raises(DeviceError, match=r"cannot compute a \(NonMaxSuppression\)"):
        built(rtx, network_of(replace(files, labels=labels)))


def test_outputs_of_other_shapes_are_refused(rtx: Any, tmp_path: Path) -> None:
    files = write_model(tmp_path / "a.onnx", {"o": np.zeros((1, 9, 5), np.float32)}, declared={"o": (1, 6, CELLS)})
    with pytest.raises(DeviceError, match=r"outputs \[1, 9, 5\]"):
        built(rtx, network_of(files))


# half precision


def in_half(network: OnnxNetwork) -> onnx.ModelProto:
    model = onnx.load_model_from_string(with_fixed_inputs(network, 1, half=True))
    onnx.checker.check_model(model, full_check=True)
    return model


def test_half_precision_gives_nearly_the_same(tmp_path: Path) -> None:
    network = network_of(write_yolox(tmp_path / "a.onnx"))
    picture = np.random.default_rng(0).integers(0, 256, (1, 3, SIDE, SIDE)).astype(np.float32)
    with np.errstate(over="ignore"):
        (exact,) = ReferenceEvaluator(onnx.load_model_from_string(with_fixed_inputs(network, 1))).run(None, {"images": picture})
        (half,) = ReferenceEvaluator(in_half(network)).run(None, {"images": picture.astype(np.float16)})
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, exact, atol=2e-3)


def test_what_needs_fp32_keeps_it(tmp_path: Path) -> None:
    """A range in FP16 would skip numbers above 2048; the scales of a resizing are FP32 by definition."""
    nodes = [
        helper.make_node("Constant", [], ["end"], value_float=4095.0),
        helper.make_node("Range", ["start", "end", "one"], ["numbers"]),
        helper.make_node("Mul", ["numbers", "small"], ["shares"]),
        helper.make_node("Resize", ["images", "", "scales"], ["smaller"], mode="nearest"),
        helper.make_node("ReduceMean", ["smaller"], ["mean"], keepdims=0),
        helper.make_node("Mul", ["mean", "start"], ["nothing"]),
        helper.make_node("Add", ["shares", "nothing"], ["values"]),
        helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
        helper.make_node("Cast", ["lengths"], ["more"], to=TensorProto.FLOAT),
        helper.make_node("Slice", ["values", "from", "to"], ["last"]),
        helper.make_node("Add", ["zeros", "last"], ["sum"]),
        helper.make_node("Add", ["sum", "more"], ["o"]),
    ]
    tensors = [
        numpy_helper.from_array(np.array(value, np.float32), name)
        for name, value in (("start", 0), ("one", 1), ("small", 1 / 4096), ("scales", [1, 1, 0.5, 0.5]))
    ]
    whole = {"shape": [1, 6, CELLS], "from": [4094], "to": [4095], "lengths": [0]}
    tensors += [numpy_helper.from_array(np.array(value), name) for name, value in whole.items()]
    network = network_of(save(tmp_path / "a.onnx", nodes, tensors, [helper.make_tensor_value_info("o", TensorProto.FLOAT, (1, 6, CELLS))]))
    (found,) = ReferenceEvaluator(in_half(network)).run(None, {"images": np.zeros((1, 3, SIDE, SIDE), np.float16)})
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, np.full((1, 6, CELLS), np.float16(4094 / 4096)))


@pytest.mark.parametrize("operator", ["Softplus", "Mish"])
@pytest.mark.parametrize("half", [False, True])
def test_mish_is_written_as_the_library_fuses_it(tmp_path: Path, operator: str, half: bool) -> None:
    """Also where a value between is read twice: then, the operators stay."""
    nodes = [helper.make_node("Mul", ["images", "factor"], ["x"])]
    if operator == "Mish":
        nodes.append(helper.make_node("Mish", ["x"], ["y"]))
    else:
        nodes += [
            helper.make_node("Softplus", ["x"], ["s"]),
            helper.make_node("Tanh", ["s"], ["t"]),
            helper.make_node("Mul", ["t", "x"], ["y"]),
        ]
    nodes += [
        helper.make_node("Softplus", ["y"], ["s2"]),
        helper.make_node("Tanh", ["s2"], ["t2"]),
        helper.make_node("Mul", ["y", "t2"], ["y2"]),
        helper.make_node("Add", ["y2", "t2"], ["sum"]),
        helper.make_node("Reshape", ["sum", "shape"], ["o"]),
    ]
    tensors = [numpy_helper.from_array(np.array(0.1, np.float32), "factor"), numpy_helper.from_array(np.array([1, 6, 2048]), "shape")]
    files = save(tmp_path / "a.onnx", nodes, tensors, [helper.make_tensor_value_info("o", TensorProto.FLOAT, (1, 6, "n"))])
    model = onnx.load(files.cfg)
    model.opset_import[0].version = 18
    files.cfg.write_bytes(model.SerializeToString())
    (tmp_path / "a.names").write_text("cat\ndog\n")
    network = network_of(replace(files, reading="yolov8"))
    written = onnx.load_model_from_string(with_fixed_inputs(network, 1, half))
    onnx.checker.check_model(written, full_check=True)
    kinds = [node.op_type for node in written.graph.node]
    assert (kinds.count("Mish"), kinds.count("Softplus"), kinds.count("Exp")) == (0, 1, 1)
    given = np.random.default_rng(1).uniform(-200, 200, (1, 3, SIDE, SIDE)).astype(np.float16).astype(np.float32)
    (expected,) = ReferenceEvaluator(model).run(None, {"images": given})
    (found,) = ReferenceEvaluator(written).run(None, {"images": given.astype(np.float16) if half else given})
    np.testing.assert_allclose(found, expected, rtol=5e-3 if half else 1e-5, atol=5e-3 if half else 1e-6)


def test_weights_of_8_bits_stay_as_they_are(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("DequantizeLinear", ["bytes", "scale"], ["weights"]),
        helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0),
        helper.make_node("Mul", ["weights", "mean"], ["o"]),
    ]
    constants = {"scale": np.array(0.1, np.float32), "bytes": np.ones((1, 6, CELLS), np.int8)}
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    files = save(tmp_path / "a.onnx", nodes, tensors, [helper.make_tensor_value_info("o", TensorProto.FLOAT, (1, 6, CELLS))])
    network = network_of(files)
    with pytest.raises(ModelError, match="cannot be computed in fp16, because of DequantizeLinear"):
        with_fixed_inputs(network, 1, half=True)
