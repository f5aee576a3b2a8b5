"""Augmentation, the network that is trained, one step of training. These tests need torch, so the project's suite does not run them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from framefleet.engine.backends.create import create_backend
from framefleet.engine.detection.postprocess import decode_cells
from framefleet.engine.model.load import load_network
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision
from framefleet.engine.types import DeviceId
from tests.support.demo import CFG, WEIGHTS
from tests.support.networks.opencv import relative_difference
from tools.street_renderer.training import augment, loss, network, train

WIDTH, HEIGHT = 320, 180


@pytest.fixture(scope="module")
def store() -> augment.Store:
    """Grey pictures with one red rectangle each, which is what the box says."""
    rng = np.random.default_rng(5)
    pictures = np.full((24, HEIGHT, WIDTH, 3), 90, np.uint8)
    boxes = np.zeros((24, 3, 4), np.float32)
    kinds = np.full((24, 3), -1)
    for picture, box, kind in zip(pictures, boxes, kinds, strict=True):
        x, y = rng.integers(10, WIDTH - 120), rng.integers(10, HEIGHT - 90)
        w, h = rng.integers(40, 100), rng.integers(30, 70)
        picture[y : y + h, x : x + w] = (250, 20, 20)
        # the real object need not be the first of the table
        place = int(rng.integers(3))
        box[place], kind[place] = (x, y, x + w, y + h), 4
    return augment.Store(torch.from_numpy(pictures), torch.from_numpy(boxes), torch.from_numpy(kinds), torch.ones(24, 3))


def agreement(batch: augment.Batch) -> tuple[int, float, float]:
    """How many boxes, the least share of red inside one, and the largest outside all (a margin of 1.5 pixels aside)."""
    count, least, most = 0, 1.0, 0.0
    _, _, height, width = batch.pictures.shape
    y, x = torch.meshgrid(torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij")
    for picture, boxes, wanted, ignored in zip(batch.pictures, batch.boxes, batch.wanted, batch.ignored, strict=True):
        red = picture[0] - picture[1:].mean(0) > 0.15
        outside = torch.ones_like(red)
        for (cx, cy, w, h), real in zip(boxes.tolist(), (wanted | ignored).tolist(), strict=True):
            if not real:
                continue
            dx, dy = (x - cx).abs() - w / 2, (y - cy).abs() - h / 2
            inside = (dx < -1.5) & (dy < -1.5)
            outside &= (dx > 1.5) | (dy > 1.5)
            count += 1
            if inside.sum() >= 20:
                least = min(least, float(red[inside].float().mean()))
        most = max(most, float(red[outside].float().mean()))
    return count, least, most


def test_whole_pictures_keep_their_boxes(store: augment.Store) -> None:
    count, least, most = agreement(augment.plain(store, torch.arange(24), 640, 352))
    assert count == 24
    assert least > 0.99
    assert most < 0.001


@pytest.mark.parametrize("mosaics", [0.0, 1.0])
def test_augmented_boxes_lie_on_their_objects(store: augment.Store, mosaics: float) -> None:
    """Flips, zooms and mosaics; colours change, too, but red stays the reddest."""
    batch = augment.draw(store, 24, 320, 176, torch.Generator().manual_seed(2), mosaics)
    count, least, most = agreement(batch)
    assert count >= (18 if mosaics == 0 else 60)
    assert least > 0.95
    # of an object at the edge of a tile less than 2 % may stay without a box
    assert most < 0.01
    assert set(batch.kinds[batch.wanted].tolist()) == {4}
    assert float(batch.pictures.min()) >= 0
    assert float(batch.pictures.max()) <= 1


def test_augmentation_repeats(store: augment.Store) -> None:
    one, other = (augment.draw(store, 8, 160, 96, torch.Generator().manual_seed(7), 0.5) for _ in range(2))
    assert torch.equal(one.pictures, other.pictures)
    assert torch.equal(one.boxes, other.boxes)


def test_torch_computes_what_the_engine_computes(tmp_path: Path) -> None:
    model = network.load(CFG)
    network.restore(model, WEIGHTS)
    model.eval()
    inputs = np.random.default_rng(1).random((1, 3, 352, 640), np.float32)
    with torch.no_grad():
        heads = [head.numpy() for head in model(torch.from_numpy(inputs))]
    loaded = load_network(ModelFiles(CFG, WEIGHTS))
    with create_backend(DeviceId("cpu", "0")) as backend:
        backend.activate(loaded, EngineSettings(precision=Precision.FP32))
        for mine, theirs in zip(heads, backend.raw_outputs(inputs), strict=True):
            assert relative_difference(mine, theirs) < 1e-4

    boxes = torch.cat(
        [
            loss.decode(torch.from_numpy(head), layer, 640, 352)[0].permute(0, 2, 3, 1, 4).reshape(-1, 4)
            for head, layer in zip(heads, loaded.heads, strict=True)
        ]
    ).numpy()
    engine, _ = decode_cells(heads, loaded.heads, 640, 352)
    centred = np.concatenate([(engine[:, :2] + engine[:, 2:]) / 2, engine[:, 2:] - engine[:, :2]], 1)
    assert np.allclose(np.sort(boxes, 0), np.sort(centred, 0), atol=0.01)

    network.save(model, tmp_path / "again.weights")
    assert (tmp_path / "again.weights").read_bytes() == WEIGHTS.read_bytes()


def test_training_learns(store: augment.Store) -> None:
    """One batch, seen again and again, costs less every time."""
    trainer = train.Trainer(CFG, torch.device("cpu"), 2e-3, compiled=False)
    trainer.step = train.WARM_UP  # at full rate from the first step on
    losses = []
    for _ in range(5):
        trainer.generator.manual_seed(4)
        losses.append(float(trainer.train_step(store, 2, 0.0).sum()))
    assert np.isfinite(losses).all()
    assert losses[-1] < 0.8 * losses[0]


def test_training_goes_on_where_it_stopped(tmp_path: Path, store: augment.Store) -> None:
    first = train.Trainer(CFG, torch.device("cpu"), 2e-3, compiled=False)
    first.train_step(store, 2, 0.9)
    first.save(tmp_path / "state.pt")
    second = train.Trainer(CFG, torch.device("cpu"), 2e-3, compiled=False)
    second.restore(tmp_path / "state.pt")
    assert second.step == first.step == 1
    for mine, other in zip(first.model.state_dict().values(), second.model.state_dict().values(), strict=True):
        assert torch.equal(mine, other)
    assert torch.equal(first.generator.get_state(), second.generator.get_state())
