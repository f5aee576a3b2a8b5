"""Whatever stands in a cfg: a network or a ModelError, and never much memory."""

from __future__ import annotations

import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from framefleet.engine.model.describe import describe
from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Network
from framefleet.engine.model.random_weights import random_weights
from framefleet.engine.notices import ModelError
from framefleet.engine.settings import ModelFiles
from tests.support.models import TINY_CFG
from tools.darknet_weights import write_weights

LINES = TINY_CFG.read_text().split("\n")
NUMBERS = st.one_of(st.integers(-3, 20), st.integers(), st.sampled_from([10**9, 2**31, 2**63, 65_536, 16_384, 1024]), st.floats())
VALUES = st.one_of(NUMBERS.map(str), st.text(max_size=8), st.lists(NUMBERS.map(str), max_size=6).map(",".join))
KEYS = sorted({line.partition("=")[0] for line in LINES if "=" in line} | {"padding", "dilation", "stride_x", "new_coords", "beta_nms"})
SECTIONS = sorted(
    {line for line in LINES if line.startswith("[")}
    | {"[avgpool]", "[sam]\nfrom=-1", "[scale_channels]\nfrom=0", "[gru]", "["}
    | {"[local_avgpool]\nsize=3", "[reorg]\nstride=2", "[reorg3d]\nstride=2", "[region]\nsoftmax=1"}
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    lines = list(LINES)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(lines) - 1))
        match draw(st.integers(0, 5)):
            case 0:
                del lines[place]
            case 1:
                lines[place] = draw(st.text(max_size=12))
            case 2:
                lines.insert(place, f"{draw(st.sampled_from(KEYS))}={draw(VALUES)}")
            case 3:
                lines.insert(place, draw(st.sampled_from(SECTIONS)))
            case 4:
                other = draw(st.integers(0, len(lines) - 1))
                lines[place], lines[other] = lines[other], lines[place]
            case _:
                options = [number for number, line in enumerate(lines) if "=" in line]
                number = draw(st.sampled_from(options))
                lines[number] = f"{lines[number].partition('=')[0]}={draw(VALUES)}"
    return "\n".join(lines)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        write_weights(path / "tiny.weights", random_weights(describe(TINY_CFG), "random:1"))
        yield path


def load(folder: Path, content: bytes) -> Network | ModelError:
    (folder / "tiny.cfg").write_bytes(content)
    tracemalloc.start()
    try:
        return load_network(ModelFiles(folder / "tiny.cfg", folder / "tiny.weights"))
    except ModelError as error:
        return error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20_000_000


def test_the_original_loads(folder: Path) -> None:
    assert isinstance(load(folder, TINY_CFG.read_bytes()), Network)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=mutated())
def test_mutated_cfgs(folder: Path, text: str) -> None:
    result = load(folder, text.encode("utf-8", "replace"))
    if isinstance(result, ModelError):
        assert str(result).startswith(str(folder))
    else:
        assert all(min(layer.shape) > 0 for layer in result.layers)
        assert all(source < index for index, layer in enumerate(result.layers) for source in layer.inputs)


@settings(max_examples=50, deadline=None)
@given(content=st.binary(max_size=300))
def test_arbitrary_bytes(folder: Path, content: bytes) -> None:
    assert isinstance(load(folder, content), ModelError)
    load(folder, TINY_CFG.read_bytes()[:300] + content)
