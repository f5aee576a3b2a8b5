"""What a full TensorRT, which no test machine has, is told about a detector's plugins, and which detectors are refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

pytest.importorskip("cuda.core")

from engine.detection.preprocess import plan_fit
from plugins import tensorrt_plugins_detection
from plugins.kernels import compile_source
from plugins.preprocess import NV12
from plugins.tensorrt_plugins_detection import add_detection, add_preprocess
from tests.gpu.test_plugins import HEIGHT, WIDTH, heads_of
from tests.support.tensorrt_runner import Network, Tensor, detector_of
from tests.support.tensorrt_stand_in import TensorRt, parameters

ARCH = "sm_90"


@pytest.fixture
def tensorrt(monkeypatch: pytest.MonkeyPatch) -> TensorRt:
    stand_in = TensorRt()
    stand_in.install(monkeypatch)
    return stand_in


def whole_network(trt: TensorRt, heads: int, arch: str) -> Network:
    layers = heads_of(1, 80, 0)[1][:heads]
    detector = detector_of(layers, plan_fit(64, 48, WIDTH, HEIGHT, True), (WIDTH, HEIGHT), 0.25, NV12)
    network = Network(trt)
    add_preprocess(network, Tensor((4, 72, 16), "INT32"), detector, arch)
    add_detection(network, [Tensor((4, *layer.shape), "FP16") for layer in layers], detector, arch)
    return network


@pytest.mark.parametrize(("arch", "heads"), [("sm_80", 1), ("sm_90", 3)])
def test_kernels_take_what_tensorrt_passes(tensorrt: TensorRt, arch: str, heads: int) -> None:
    network = whole_network(tensorrt, heads, arch)
    assert [len(layer.inputs) for layer in network.layers] == [1, heads, heads + 1, 4]
    assert [len(layer.outputs) for layer in network.layers] == [1, 1, 4, 2]
    assert [len(layer.layouts()) for layer in network.layers] == [2, 2, 2, 1]
    for layer in network.layers:
        for layouts in layer.layouts():
            kernel, ptx, (_, block, shared), numbers = layer.launched(layouts)
            assert parameters(ptx, kernel) == ["u64"] * len(layer.inputs) + ["u32"] * len(numbers) + ["u64"] * len(layer.outputs)
            code = ptx.decode()
            assert f".target {arch}\n" in code
            assert {name.partition("_")[0] for name in re.findall(r"\.entry (\w+)", code)} == {"tensorrt"}  # and nothing else
            own = int(re.search(rf"\.entry {kernel}\(.*?(?:\.maxntid (\d+)|$)", code, re.DOTALL)[1] or 0)
            assert own in (0, block[0])
            fixed = sum(int(size) for size in re.findall(r"^\s*\.shared [^\n]*\[(\d+)\];", code, re.MULTILINE))
            assert fixed + shared <= 48 << 10  # more has to be asked for


def test_the_device_compiler_takes_the_kernels() -> None:
    layers = heads_of(1, 80, 0)[1]
    text = detector_of(layers, plan_fit(64, 48, WIDTH, HEIGHT, True), (WIDTH, HEIGHT), 0.25).program()
    assert b".text.tensorrt_nms\0" in compile_source(text, ARCH)


def test_a_detector_has_plugins_of_its_own(tensorrt: TensorRt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensorrt_plugins_detection, "compile_ptx", lambda text, _arch: text.encode())

    def names(confidence: float) -> set[str]:
        before = set(tensorrt.plugins)
        heads, layers = heads_of(1, 2, 0)
        detector = detector_of(layers, plan_fit(64, 48, WIDTH, HEIGHT, False), (WIDTH, HEIGHT), confidence)
        add_detection(Network(tensorrt), [Tensor(head.shape, "FP16") for head in heads], detector, ARCH)
        return set(tensorrt.plugins) - before

    assert len(names(0.25)) == 3
    assert names(0.25) == set()
    assert len(names(0.5)) == 3


def test_what_does_not_fit_is_refused(tensorrt: TensorRt) -> None:
    heads, layers = heads_of(1, 2, 0)
    tensors = [Tensor(head.shape, "FP16") for head in heads]
    placed = plan_fit(65, 49, WIDTH, HEIGHT, False)
    detector = detector_of(layers, placed, (WIDTH, HEIGHT), 0.25, NV12)
    network = Network(tensorrt)
    with pytest.raises(ValueError, match=r"\(21, 3, 4\).*made for.*\(21, 12, 16\)"):
        add_detection(network, tensors[::-1], detector, ARCH)
    with pytest.raises(ValueError, match="9 heads: at most 8"):
        add_detection(network, tensors[:1] * 9, replace(detector, heads=list(detector.heads[:1]) * 9), ARCH)
    for shape in ((1, 73, 17), (1, 74, 16), (74, 17)):
        with pytest.raises(ValueError, match=r"\(batch, 74, 17\)"):
            add_preprocess(network, Tensor(shape, "INT32"), detector, ARCH)
    with pytest.raises(ValueError, match="even width"):
        add_preprocess(network, Tensor((1, 74, 17), "INT32"), replace(detector, size=(127, 96)), ARCH)
    assert not network.layers
