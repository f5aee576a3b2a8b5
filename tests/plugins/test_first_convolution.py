"""The first convolution without a device: the tests of ``tests/gpu`` with the kernel's code run by the CPU, and what it takes."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from framefleet.plugins import first_convolution
from framefleet.plugins.cache import FileCache
from framefleet.plugins.first_convolution import packed, suits
from framefleet.plugins.kernels import compile_kernels, compile_source, source

pytest.importorskip("cuda.core")

from tests.gpu.test_first_convolution import *  # noqa: F403


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_it_compiles_for(arch: str, tmp_path: Path) -> None:
    cubin = compile_kernels(arch, FileCache(tmp_path), first_convolution.SOURCES)
    for stride, channels in itertools.product((1, 2), (16, 32)):
        assert f".text.first_convolution_{stride}_{channels}\0".encode() in cubin


def test_python_and_the_kernel_agree() -> None:
    agreed = f"CONVOLUTION_THREADS == {first_convolution.THREADS} && TILE == {first_convolution.TILE}"
    compile_source(source(*first_convolution.SOURCES) + f'static_assert({agreed}, "agreed");', "sm_90")


@pytest.mark.parametrize(
    ("shape", "stride", "padding", "groups", "activation", "size", "expected"),
    [
        ((32, 3, 3, 3), 1, 1, 1, "mish", (416, 608), True),
        ((16, 3, 3, 3), 2, 1, 1, "leaky", (32, 32), True),
        ((8, 3, 3, 3), 2, 1, 1, "leaky", (320, 320), False),
        ((32, 3, 5, 5), 1, 1, 1, "mish", (416, 416), False),
        ((32, 1, 3, 3), 1, 1, 1, "mish", (416, 416), False),
        ((32, 3, 3, 3), 3, 1, 1, "mish", (416, 416), False),
        ((32, 3, 3, 3), 1, 0, 1, "mish", (416, 416), False),
        ((33, 1, 3, 3), 1, 1, 3, "mish", (416, 416), False),
        ((32, 3, 3, 3), 1, 1, 1, "swish", (416, 416), False),
        ((32, 3, 3, 3), 1, 1, 1, "mish", (416, 400), False),
    ],
)
def test_what_it_takes(
    shape: tuple[int, ...], stride: int, padding: int, groups: int, activation: str, size: tuple[int, int], expected: bool
) -> None:
    assert suits(shape, stride, padding, groups, activation, *size) is expected


@pytest.mark.parametrize("where", ["weights", "bias"])
def test_weights_beyond_half_precision_are_refused(where: str) -> None:
    weights, bias = np.zeros((16, 3, 3, 3), np.float32), np.zeros(16, np.float32)
    (weights if where == "weights" else bias)[3] = 70000
    with pytest.raises(ValueError, match="FP16"):
        packed(weights, bias)
