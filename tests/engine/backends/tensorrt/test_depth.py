"""Stages as TensorRT builds them, on machines without a GPU: TensorRT-RTX builds plans anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framefleet.engine.model.network import Network
from framefleet.engine.model.split import Part, Rates, StageTime, arriving_bytes, best_cuts, layer_costs, split, transfers
from framefleet.engine.notices import DeviceError, Notice, UsageError
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import DeviceId
from framefleet.plugins.cache import FileCache
from tests.support.models import tiny_network

pytest.importorskip("cuda.core", reason="cuda-python is not installed")
pytest.importorskip("tensorrt_rtx", reason="the extra 'rtx' is not installed")

from framefleet.engine.backends.tensorrt.depth import TensorRtDepthBackend
from framefleet.engine.backends.tensorrt.library import find_library, logger
from framefleet.engine.backends.tensorrt.lowering import Lowering, value_name
from framefleet.engine.backends.tensorrt.plan import build_plan

RATES = Rates(4e14, 3e12, 2e11)


@pytest.fixture(scope="module")
def network() -> Network:
    return tiny_network()


@pytest.fixture(scope="module")
def rtx() -> Any:
    return find_library((9, 0))


def stages_of(network: Network, count: int) -> list[Part]:
    costs = layer_costs(network, 4, 2, RATES)
    return split(network, *best_cuts(costs, 1000 * 4 * arriving_bytes(network, 2) / RATES.link, count))


@pytest.mark.parametrize("exact", [False, True])
def test_what_leaves_a_stage_is_what_the_next_ones_take(exact: bool, network: Network, rtx: Any) -> None:
    """By name, shape and type: memory is taken by the same numbers."""
    left: dict[str, tuple[Any, Any]] = {}
    parts = stages_of(network, 4)
    for part in parts:
        builder = rtx.trt.Builder(logger(rtx.trt))
        definition = builder.create_network(1 << int(rtx.trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
        lowering = Lowering(rtx.trt, definition, 4, exact)
        lowering.write(network, part)
        inputs = [definition.get_input(i) for i in range(definition.num_inputs)]
        assert [value.name for value in inputs] == [value_name(index) for index in part.inputs]
        for value in inputs:
            assert value.name == "pictures" or left[value.name] == (tuple(value.shape), value.dtype)
        outputs = [definition.get_output(i) for i in range(definition.num_outputs)]
        assert [value.name for value in outputs] == [value_name(index) for index in part.outputs]
        left |= {value.name: (tuple(value.shape), value.dtype) for value in outputs}
    moved = {value_name(move.layer) for move in transfers(network, parts)}
    assert moved <= set(left)


@pytest.mark.parametrize("count", [2, 3, 8])
def test_every_stage_builds(count: int, network: Network, rtx: Any) -> None:
    parts = stages_of(network, count)
    assert len(parts) == count
    assert all(len(build_plan(rtx, network, part, 2)) > 1000 for part in parts)


def test_plans_of_stages_are_kept_apart(network: Network, rtx: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same part for another batch or precision, or another part, is another plan; the same one is built once."""
    from framefleet.engine.backends.tensorrt import plan as tensorrt_build

    built: list[tuple[range, int, bool]] = []

    def build(library: Any, network: Network, part: Part, batch: int, exact: bool, *rest: Any) -> bytes:
        built.append((part.layers, batch, exact))
        return build_plan(library, network, part, batch, exact, *rest)

    monkeypatch.setattr(tensorrt_build, "build_plan", build)
    monkeypatch.setattr(tensorrt_build, "Plan", lambda _library, serialized, _cache, _key: serialized)
    cache, said = FileCache(tmp_path), list[str]()
    wanted = [(part, batch, precision) for part in stages_of(network, 2) for batch, precision in ((1, "fp16"), (2, "fp16"), (1, "fp32"))]
    for _ in range(2):
        for part, batch, precision in wanted:
            tensorrt_build.prepare_plan(rtx, network, part, batch, Precision(precision), cache, "here", lambda doing, _: said.append(doing))
    assert len(built) == len(set(built)) == len(wanted)
    assert said.count(Notice("backends.prepare_kernels")) == 2 * len(wanted)


def test_without_a_gpu_the_error_says_what_to_do(network: Network) -> None:
    if Path("/proc/driver/nvidia/version").exists():
        pytest.skip("there is one")
    with pytest.raises(DeviceError, match="cuda:0: no NVIDIA GPU or driver here; use cpu:0"):
        TensorRtDepthBackend(DeviceId.parse("cuda:0+cuda:1")).activate(network, EngineSettings())
    with pytest.raises(UsageError, match="needs 2 to 8 devices"):
        TensorRtDepthBackend(DeviceId.parse("cuda:0"))


def test_the_first_guess_uses_most_of_eight_devices() -> None:
    """Numbers of YOLOv4's size are balanced well even before anything is measured."""
    generator = np.random.default_rng(0)
    costs = generator.gamma(2.0, size=160)
    cuts = best_cuts(costs, np.zeros((161, 161)), 8)
    times = [StageTime(float(each.sum())) for each in np.split(costs, cuts)]
    assert sum(time.computing for time in times) / 8 > 0.85 * max(time.computing for time in times)
