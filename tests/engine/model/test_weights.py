from __future__ import annotations

import gzip
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.model.describe import describe
from framefleet.engine.model.description import ConvolutionSpec
from framefleet.engine.model.files import read_labels
from framefleet.engine.model.load import EPSILON, check_weights, fold, load_network, read_weights
from framefleet.engine.model.network import Activation, Convolution
from framefleet.engine.model.random_weights import random_weights
from framefleet.engine.notices import ExportError, ModelError
from framefleet.engine.settings import ModelFiles
from tests.support.models import TINY_CFG, tiny_network
from tools.darknet_weights import write_weights

TINY = describe(TINY_CFG)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.weights"
    write_weights(path, random_weights(TINY, "random:1"))
    return path


def test_round_trip(weights: Path) -> None:
    assert weights.stat().st_size == TINY.weights_bytes == check_weights(TINY, weights) + 4 * TINY.float_count
    assert np.array_equal(read_weights(TINY, weights), random_weights(TINY, "random:1"))
    read, made = load_network(ModelFiles(TINY_CFG, weights)), tiny_network()
    assert read.digest == made.digest
    for one, other in zip(read.layers, made.layers, strict=True):
        if isinstance(one, Convolution) and isinstance(other, Convolution):
            assert np.array_equal(one.weights, other.weights)
            assert np.array_equal(one.bias, other.bias)
    assert [path.name for path in weights.parent.iterdir()] == ["tiny.weights"]


def test_a_file_that_gets_shorter_while_it_is_read(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.fromfile
    monkeypatch.setattr(np, "fromfile", lambda *arguments, **options: whole(*arguments, **options)[:-1])
    with pytest.raises(ModelError, match="changed while it was being read: try again"):
        read_weights(TINY, weights)


@pytest.mark.parametrize(("version", "seen"), [((0, 1, 0), "i"), ((0, 2, 0), "q"), ((0, 2, 5), "q"), ((1, 0, 0), "q")])
def test_both_headers(weights: Path, version: tuple[int, int, int], seen: str) -> None:
    numbers = weights.read_bytes()[20:]
    weights.write_bytes(struct.pack(f"<iii{seen}", *version, 32_013_312) + numbers)
    assert np.array_equal(read_weights(TINY, weights), np.frombuffer(numbers, "<f4"))


@pytest.mark.parametrize("change", [-4, -1, 1, 4, 400_000])
def test_a_file_of_another_length_belongs_to_another_cfg(weights: Path, change: int) -> None:
    with weights.open("r+b") as file:
        file.truncate(TINY.weights_bytes + change)
    with pytest.raises(ModelError) as caught:
        load_network(ModelFiles(TINY_CFG, weights))
    message = str(caught.value)
    assert message.startswith(f"{weights} does not belong to {TINY_CFG}")
    assert f"{TINY.weights_bytes:,} bytes" in message
    assert f"{TINY.weights_bytes + change:,}" in message


@pytest.mark.parametrize("content", [b"", b"\0" * 11, b"<html>not found</html>", bytes(range(256)) * 40])
def test_junk(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "junk.weights"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"junk\.weights"):
        read_weights(TINY, path)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.weights"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # sparse
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match="1,099,511,627,776"):
            read_weights(TINY, path)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no\.weights does not exist"):
        read_weights(TINY, tmp_path / "no.weights")
    with pytest.raises(ModelError, match="is not a file"):
        read_weights(TINY, tmp_path)


def test_infinite_and_undefined_numbers(weights: Path, subtests: pytest.Subtests) -> None:
    good = read_weights(TINY, weights)
    # bias, scale, mean, variance and kernel of the first convolution, kernel of the last
    for place, layer in ((0, 0), (8, 0), (16, 0), (24, 0), (32, 0), (TINY.float_count - 1, 22)):
        for value in (np.nan, np.inf, -np.inf):
            with subtests.test(f"{value} at {place}"):
                stream = good.copy()
                stream[place] = value
                write_weights(weights, stream)
                with pytest.raises(
                    ModelError, match=rf"tiny\.weights: the weights of \[convolutional\] \(layer {layer}\) are not all finite"
                ):
                    load_network(ModelFiles(TINY_CFG, weights))


@pytest.mark.parametrize("variance", [-1.0, -1e-4])
def test_a_negative_variance(weights: Path, variance: float) -> None:
    stream = read_weights(TINY, weights)
    stream[24] = variance
    write_weights(weights, stream)
    with pytest.raises(ModelError, match="layer 0"):
        load_network(ModelFiles(TINY_CFG, weights))


def test_folding() -> None:
    random = np.random.default_rng(3)
    spec = ConvolutionSpec((-1,), (4, 5, 5), 6, 3, 1, 1, 2, Activation.LEAKY, batch_normalize=True)
    bias, scale, mean = random.normal(size=(3, 4))
    variance, kernel, picture = random.uniform(1e-6, 2, 4), random.normal(size=(4, 3, 3, 3)), random.normal(size=(3, 3, 3))
    stream = np.concatenate([bias, scale, mean, variance, kernel.ravel()]).astype(np.float32)
    bias, scale, mean, variance, kernel = (part.astype(np.float32).astype(float) for part in (bias, scale, mean, variance, kernel))
    folded = fold(spec, stream)
    assert (folded.weights.shape, folded.weights.dtype, folded.bias.dtype) == ((4, 3, 3, 3), np.float32, np.float32)
    before = (kernel * picture).sum(axis=(1, 2, 3))
    expected = (before - mean) / np.sqrt(variance + EPSILON) * scale + bias
    assert np.allclose((folded.weights.astype(float) * picture).sum(axis=(1, 2, 3)) + folded.bias, expected, rtol=1e-5)


def test_without_batch_normalisation_nothing_changes() -> None:
    spec = ConvolutionSpec((-1,), (2, 1, 1), 3, 1, 1, 0, 1, Activation.LINEAR, batch_normalize=False)
    folded = fold(spec, np.arange(8, dtype=np.float32))
    assert folded.bias.tolist() == [0, 1]
    assert folded.weights.ravel().tolist() == [2, 3, 4, 5, 6, 7]


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"a\.weights cannot be written"):
        write_weights(tmp_path / "no" / "a.weights", np.zeros(3, np.float32))
    (tmp_path / "a.weights").mkdir()
    with pytest.raises(ExportError):
        write_weights(tmp_path / "a.weights", np.zeros(3, np.float32))
    assert [path.name for path in tmp_path.iterdir()] == ["a.weights"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"<html><body>404</body></html>", "model.web_page"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "model.lfs_pointer"),
        (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "model.message"),
        (b'{"message": "Not Found"}', "model.message"),
        (gzip.compress(b"weights"), "model.archive"),
        (b"PK\x03\x04" + bytes(100), "model.archive"),
    ],
    ids=["page", "pointer", "XML", "JSON", "gzip", "ZIP"],
)
def test_a_failed_download_is_called_what_it_is(tmp_path: Path, content: bytes, code: str) -> None:
    path = tmp_path / "tiny.weights"
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        check_weights(describe(TINY_CFG), path)
    assert caught.value.notice.code == code
    labels = tmp_path / "tiny.names"
    labels.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        read_labels(labels, None)
    assert caught.value.notice.code == code


def test_weights_of_another_size_name_options_in_wrong_case(tmp_path: Path) -> None:
    cfg, path = tmp_path / "tiny.cfg", tmp_path / "tiny.weights"
    cfg.write_text(TINY_CFG.read_text().replace("batch_normalize", "Batch_Normalize"))
    path.write_bytes(bytes(1000))
    with pytest.raises(ModelError, match="Batch_Normalize= is ignored"):
        check_weights(describe(cfg), path)
