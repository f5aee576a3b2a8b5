"""How plans are chosen and kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cuda.core")

from framefleet.engine.backends.cudnn import build_plans as building
from framefleet.engine.backends.cudnn import convolution
from framefleet.engine.backends.cudnn import engine as choosing
from framefleet.engine.backends.cudnn.convolution import Shape
from framefleet.engine.backends.cudnn.engine import TRIED, Plans
from framefleet.engine.backends.cudnn.library import Library
from framefleet.engine.model.network import Activation
from framefleet.engine.notices import DeviceError, literal
from framefleet.plugins.cache import FileCache

SHAPES = [Shape(4, (64, size, size, 64), (128, size, size, 256), None, 3, 1, 1, Activation.MISH) for size in (8, 16, 24)]
TIMES = {b"slow": 3.0, b"fast": 1.0, b"middling": 2.0}


class Plan:
    """In place of a plan on a device. "broken" is one that cuDNN refuses to load."""

    def __init__(self, _library: Library, _handle: int, serialized: bytes) -> None:
        if serialized == b"broken":
            raise DeviceError(literal("refused"))
        self.serialized = serialized


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Shape]:
    """The shapes whose plans were built."""
    built: list[Shape] = []

    def build_plans(shapes: Sequence[Shape], _device: int, count: int) -> dict[Shape, list[bytes]]:
        built.extend(shapes)
        return {shape: [*TIMES, b"broken"][:count] for shape in shapes if shape in SHAPES[:2]}

    monkeypatch.setattr(choosing, "build_plans", build_plans)
    monkeypatch.setattr(convolution, "Plan", Plan)
    monkeypatch.setattr(
        convolution, "candidates", lambda _library, _handle, shape: iter([b"middling"] if shape is SHAPES[2] else [b"broken"])
    )
    return built


def plans_of(folder: Path, situation: str = "this device", tried: int = TRIED) -> Plans:
    return Plans(Library(None, "9.19.0"), FileCache(folder), situation, tried)


def choose(plans: Plans, shape: Shape) -> bytes:
    plan: Any = plans.choose(0, shape, lambda plan: TIMES[plan.serialized])
    chosen: bytes = plan.serialized
    return chosen


def test_the_fastest_plan_is_chosen_once(built: list[Shape], tmp_path: Path) -> None:
    plans = plans_of(tmp_path)
    plans.build([SHAPES[0], SHAPES[0], SHAPES[1]], 0)
    assert built == SHAPES[:2]
    assert [choose(plans, shape) for shape in SHAPES[:2]] == [b"fast", b"fast"]
    later = plans_of(tmp_path)
    later.build(SHAPES[:2], 0)
    assert built == SHAPES[:2]
    assert choose(later, SHAPES[1]) == b"fast"


def test_without_a_trial_it_is_the_first_plan(built: list[Shape], tmp_path: Path) -> None:
    plans = plans_of(tmp_path, tried=1)
    plans.build(SHAPES[:1], 0)
    assert choose(plans, SHAPES[0]) == b"slow"
    assert choose(plans_of(tmp_path, tried=1), SHAPES[0]) == b"slow"
    tuned = plans_of(tmp_path)
    tuned.build(SHAPES[:1], 0)
    assert choose(tuned, SHAPES[0]) == b"fast"
    assert built == [SHAPES[0], SHAPES[0]]


@pytest.mark.usefixtures("built")
def test_another_device_and_another_shape_have_other_plans(built: list[Shape], tmp_path: Path) -> None:
    first, other = plans_of(tmp_path), plans_of(tmp_path, "another device")
    for plans in (first, other):
        plans.build(SHAPES[:1], 0)
        choose(plans, SHAPES[0])
    first.build([SHAPES[1]], 0)
    assert built == [SHAPES[0], SHAPES[0], SHAPES[1]]


def test_plans_that_no_process_could_build_are_built_here(built: list[Shape], tmp_path: Path) -> None:
    plans = plans_of(tmp_path)
    plans.build(SHAPES, 0)
    assert choose(plans, SHAPES[2]) == b"middling"


@pytest.mark.usefixtures("built")
def test_a_shape_without_plans_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=r"cuDNN 9\.19\.0 offers no plan for Shape\(batch=4, input=\(64, 8, 8, 64\)"):
        choose(plans_of(tmp_path), SHAPES[0])


def test_several_processes_build_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets some of the shapes, which arrive as they were; one process fails."""

    def run_program(program: Sequence[str], _timeout: float) -> tuple[list[Any], str | None]:
        *_, device, count, told = program
        assert (device, count) == ("1", "4")
        shapes = [Shape.from_json(each) for each in json.loads(told)]
        if SHAPES[1] in shapes:
            return ["a driver's message"], "it crashed (signal 11)"
        return [{"shape": number, "plans": ["c2xvdw==", "ZmFzdA=="]} for number, shape in enumerate(shapes) if shape in SHAPES], None

    monkeypatch.setattr(building, "run_program", run_program)
    monkeypatch.setattr(building, "usable_cores", lambda: 6)
    assert building.build_plans(SHAPES, 1, 4) == {shape: [b"slow", b"fast"] for shape in (SHAPES[0], SHAPES[2])}


def test_a_shape_survives_json() -> None:
    shape = Shape(1, (8, 4, 4, 8), (16, 2, 2, 16), (16, 2, 2, 32), 3, 2, 1, Activation.LEAKY)
    assert Shape.from_json(json.loads(json.dumps(asdict(shape)))) == shape
