"""Hostile cfg, weight and label files: refused with the file and the reason, in less than 1 GB of memory."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.model.describe import describe
from framefleet.engine.model.files import read_labels
from framefleet.engine.model.load import check_model, load_network
from framefleet.engine.model.network import Network
from framefleet.engine.model.random_weights import random_weights
from framefleet.engine.notices import ModelError
from framefleet.engine.settings import ModelFiles
from tests.engine.model.test_cfg_fuzz import mutated
from tests.support.faults.counts import short_and_long
from tests.support.faults.damage import damaged, examples, memory_below, randomness
from tests.support.models import OLDER_CFG, TINY_CFG
from tools.darknet_weights import write_weights

GIGABYTE = 10**9


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tiny.cfg, tiny.weights and tiny.names."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "tiny.cfg").write_bytes(TINY_CFG.read_bytes())
    write_weights(folder / "tiny.weights", random_weights(describe(TINY_CFG), "random:1"))
    (folder / "tiny.names").write_text("one\ntwo\nthree\n")
    return folder


def load(cfg: Path, weights: Path | str = "random:1", labels: Path | None = None) -> Network | None:
    """Load a model in every way that the program does. None if it is refused, with the file's name."""
    files = ModelFiles(cfg, weights, labels)
    try:
        check_model(files)
        return load_network(files)
    except ModelError as error:
        complaint = str(error)
    assert str(cfg.parent) in complaint
    assert len(complaint) < 1000
    return None


@short_and_long(40, 20_000)
def test_cfgs_changed_with_knowledge_of_their_grammar(rounds: int, folder: Path) -> None:
    cfg = folder / "changed.cfg"

    @examples(rounds)
    @given(text=mutated())
    def attempt(text: str) -> None:
        cfg.write_bytes(text.encode("utf-8", "replace"))
        network = load(cfg, folder / "tiny.weights")
        assert network is None or all(min(layer.shape) > 0 for layer in network.layers)

    with memory_below(GIGABYTE):
        attempt()


@short_and_long(30, 20_000)
@pytest.mark.parametrize("original", [TINY_CFG, OLDER_CFG], ids=["tiny", "older"])
def test_cfgs_with_damaged_bytes(original: Path, rounds: int, tmp_path: Path) -> None:
    random, cfg, whole = randomness(), tmp_path / "damaged.cfg", original.read_bytes()
    with memory_below(GIGABYTE):
        for _ in range(rounds):
            cfg.write_bytes(damaged(whole, random))
            load(cfg)


@short_and_long(30, 20_000)
def test_weights_with_damaged_bytes(rounds: int, folder: Path) -> None:
    random, weights = randomness(), folder / "damaged.weights"
    whole = (folder / "tiny.weights").read_bytes()
    with memory_below(GIGABYTE):
        for _ in range(rounds):
            content = damaged(whole, random)
            weights.write_bytes(content)
            network = load(folder / "tiny.cfg", weights)
            assert network is None or len(content) == len(whole), "a file of another length is another network's"


@short_and_long(30, 10_000)
def test_weights_with_other_numbers(rounds: int, folder: Path) -> None:
    """Other versions and counts in the header, other values, too few and too many."""
    weights, cfg = folder / "changed.weights", folder / "tiny.cfg"
    whole = np.fromfile(folder / "tiny.weights", "<f4")[5:]
    number = st.integers(-(1 << 31), (1 << 31) - 1) | st.integers(-1, 3)
    headers = st.tuples(number, number, number, st.integers(-(1 << 63), (1 << 63) - 1))
    values = st.lists(st.floats(width=32) | st.sampled_from([3e38, 1e-45, float("nan"), float("inf")]), max_size=20)
    added = st.integers(-9, 9).map(lambda count: count if abs(count) > 3 else 0)

    @examples(rounds)
    @given(header=headers, wide=st.booleans(), place=st.integers(0, len(whole) - 1), values=values, more=added)
    def attempt(header: tuple[int, int, int, int], wide: bool, place: int, values: list[float], more: int) -> None:
        numbers = np.resize(whole, len(whole) + more)
        numbers[place : place + len(values)] = values[: len(numbers[place : place + len(values)])]
        seen = struct.pack("<q", header[3]) if wide else struct.pack("<i", header[3] >> 32)
        weights.write_bytes(struct.pack("<iii", *header[:3]) + seen + numbers.tobytes())
        load(cfg, weights)

    with memory_below(GIGABYTE):
        attempt()


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.write(struct.pack("<iiiq", 0, 2, 5, 0))
        file.truncate(1 << 40)


def _not_numbers(path: Path) -> None:
    count = describe(TINY_CFG).float_count
    path.write_bytes(struct.pack("<iiiq", 0, 2, 5, 0) + struct.pack("<f", float("nan")) * count)


WEIGHTS: dict[str, Callable[[Path], object]] = {
    "a terabyte": _sparse,
    "not a number": _not_numbers,
    "a folder": Path.mkdir,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a pipe": lambda path: os.mkfifo(path),
    "a loop of links": lambda path: path.symlink_to(path.name),
    "negative version": lambda path: path.write_bytes(struct.pack("<iiiq", -(1 << 31), -1, 5, 1 << 62) + bytes(1000)),
    "empty": lambda path: path.write_bytes(b""),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_handmade_weights(kind: str, folder: Path, tmp_path: Path) -> None:
    weights = tmp_path / "hostile.weights"
    WEIGHTS[kind](weights)
    with memory_below(GIGABYTE), pytest.raises(ModelError, match=r"hostile\.weights"):
        load_network(ModelFiles(folder / "tiny.cfg", weights))
    for other in (tmp_path / "hostile.cfg", tmp_path / "hostile.names"):
        other.symlink_to(weights)
    with memory_below(GIGABYTE), pytest.raises(ModelError, match=r"hostile\.cfg"):
        describe(tmp_path / "hostile.cfg")
    with memory_below(GIGABYTE), pytest.raises(ModelError, match=r"hostile\.names"):
        read_labels(tmp_path / "hostile.names", 3)


LARGE = "[net]\nwidth=8192\nheight=8192\n"


@pytest.mark.parametrize(
    "text",
    [
        LARGE + "[convolutional]\nfilters=64\n" * 4,
        "[net]\nwidth=32\nheight=32\n" + "[convolutional]\nsize=1\nfilters=65536\n" * 2,
        "[net]\nwidth=32\nheight=32\n[convolutional]\n" + "[route]\nlayers=-1,-1\n" * 60,
        "[net]\nwidth=16\nheight=16\n" + "[upsample]\nstride=1024\n" * 4,
        "[net]\nwidth=1024\nheight=1024\n[convolutional]\nfilters=1024\n" + "[reorg3d]\nstride=8\n" * 4,
        "[net]\nwidth=32\nheight=32\n[yolo]\nanchors=" + "1," * 500_000 + "1\n",
        "[net]\nwidth=" + "9" * 100_000 + "\n",
        "[" * 500_000,
        "[net]\n" + "a=1\n" * 200_000,
    ],
    ids=["pictures", "parameters", "routes", "upsampling", "reorg", "anchors", "digits", "brackets", "options"],
)
def test_handmade_cfgs(text: str, tmp_path: Path) -> None:
    cfg = tmp_path / "handmade.cfg"
    cfg.write_text(text)
    with memory_below(GIGABYTE):
        assert load(cfg) is None


@short_and_long(50, 20_000)
def test_labels(rounds: int, folder: Path) -> None:
    names = folder / "hostile.txt"
    some = st.one_of(st.text(max_size=20), st.text("ab\x1b\x9b\u202e[31m", max_size=5))
    lines = st.lists(some, min_size=1, max_size=5).map(lambda texts: "\n".join(texts).encode("utf-8", "surrogatepass"))

    @examples(rounds)
    @given(content=st.one_of(st.binary(max_size=200), lines))
    def attempt(content: bytes) -> None:
        names.write_bytes(content)
        try:
            labels = read_labels(names, 3)
        except ModelError as error:
            shown = str(error)
        else:
            assert len(labels) == 3
            shown = "".join(labels)
        assert not any(character in shown for character in "\x1b\r\n\x9b"), "a terminal would obey it"

    with memory_below(GIGABYTE):
        attempt()
