"""Augments training pictures on the device: flips, crops, mosaics of four, colours and grain. Pictures are never padded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from tools.street_renderer.truth import MIN_HEIGHT, MIN_VISIBLE


@dataclass(frozen=True, eq=False)
class Store:
    """A data set on the device.

    pictures: uint8 (n, height, width, 3). boxes: (n, t, 4) x1 y1 x2 y2, pixels. kinds: (n, t),
    -1 where there is none. visible: (n, t) visible share of each object.
    """

    pictures: Tensor
    boxes: Tensor
    kinds: Tensor
    visible: Tensor


@dataclass(frozen=True, eq=False)
class Batch:
    """The input of ``loss.loss``. pictures: float (batch, 3, height, width), 0 … 1; the rest as ``loss.loss`` describes."""

    pictures: Tensor
    boxes: Tensor
    kinds: Tensor
    wanted: Tensor
    ignored: Tensor


def plain(store: Store, index: Tensor, width: int, height: int) -> Batch:
    """Create a batch of whole pictures, stretched to the network's size."""
    n = len(index)
    one = torch.ones(n, device=index.device)
    return _finish(
        [
            _view(
                store,
                index,
                torch.zeros(n, 2, device=index.device),
                torch.stack([one, one], -1),
                torch.zeros(n, dtype=torch.bool, device=index.device),
                None,
                width,
                height,
                "bilinear",
            )
        ],
        height,
    )


def draw(store: Store, count: int, width: int, height: int, generator: torch.Generator, mosaics: float) -> Batch:
    """Create a random batch. mosaics: share of pictures that are mosaics of four."""
    device = store.pictures.device

    def rand(*shape: int) -> Tensor:
        return torch.rand(*shape, device=device, generator=generator)

    def pick(n: int) -> Tensor:
        return torch.randint(len(store.pictures), (n,), device=device, generator=generator)

    tiled = int(count * mosaics)
    single = count - tiled
    mode = "bilinear" if float(rand(1)) < 0.65 else "nearest"
    # half of the single pictures stay whole, the others are zoomed
    part = torch.where(rand(single) < 0.5, torch.ones(single, device=device), 0.5 + 0.5 * rand(single))
    window = torch.stack([part, (part * (0.92 + 0.16 * rand(single))).clamp(max=1)], -1)
    views = [_view(store, pick(single), rand(single, 2) * (1 - window), window, rand(single) < 0.5, None, width, height, mode)]
    batches = [_finish(views, height)]
    if tiled:
        split = 0.3 + 0.4 * rand(tiled, 2)
        tiles = []
        for right in (0, 1):
            for low in (0, 1):
                corner = torch.stack([split[:, 0] * right, split[:, 1] * low], -1)
                size = torch.stack([(split[:, 0], 1 - split[:, 0])[right], (split[:, 1], 1 - split[:, 1])[low]], -1)
                # objects between half their size (the window twice the tile) and a little larger than they are
                window = (size * (0.75 + 1.15 * rand(tiled, 1))).clamp(max=1)
                tiles.append(
                    _view(store, pick(tiled), rand(tiled, 2) * (1 - window), window, rand(tiled) < 0.5, (corner, size), width, height, mode)
                )
        batches.append(_finish(tiles, height))
    deep = max(batch.boxes.shape[1] for batch in batches)

    def padded(values: Tensor) -> Tensor:
        extra = deep - values.shape[1]
        return F.pad(values, (0, 0, 0, extra) if values.dim() == 3 else (0, extra))

    joined = Batch(
        torch.cat([b.pictures for b in batches]),
        *(torch.cat([padded(getattr(b, name)) for b in batches]) for name in ("boxes", "kinds", "wanted", "ignored")),
    )
    return Batch(_recolor(joined.pictures, rand, generator), joined.boxes, joined.kinds, joined.wanted, joined.ignored)


@dataclass(frozen=True, eq=False)
class _View:
    pictures: Tensor
    mask: Tensor | None
    boxes: Tensor
    kinds: Tensor
    visible: Tensor


def _view(
    store: Store,
    index: Tensor,
    origin: Tensor,
    window: Tensor,
    flip: Tensor,
    tile: tuple[Tensor, Tensor] | None,
    width: int,
    height: int,
    mode: str,
) -> _View:
    """A window (origin, window: shares of the source) of each picture, drawn into a tile (corner, size: shares of the
    result) or all of the result.
    """
    device = index.device
    n = len(index)
    corner, size = tile or (torch.zeros(n, 2, device=device), torch.ones(n, 2, device=device))
    x = (torch.arange(width, device=device) + 0.5) / width
    y = (torch.arange(height, device=device) + 0.5) / height
    u, v = (x - corner[:, :1]) / size[:, :1], (y - corner[:, 1:]) / size[:, 1:]
    mask = None
    if tile:
        mask = ((u >= 0) & (u < 1))[:, None, :] & ((v >= 0) & (v < 1))[:, :, None]
    u = torch.where(flip[:, None], 1 - u, u)
    source_x, source_y = origin[:, :1] + u * window[:, :1], origin[:, 1:] + v * window[:, 1:]
    grid = torch.stack(
        [(source_x * 2 - 1)[:, None, :].expand(n, height, width), (source_y * 2 - 1)[:, :, None].expand(n, height, width)], -1
    )
    raw = store.pictures[index].permute(0, 3, 1, 2).float() / 255
    pictures = F.grid_sample(raw, grid, mode=mode, padding_mode="border", align_corners=False)

    full = torch.tensor((store.pictures.shape[2], store.pictures.shape[1]), device=device, dtype=torch.float32)
    boxes = store.boxes[index].float() / full.repeat(2)
    boxes = (boxes - origin.repeat(1, 2)[:, None]) / window.repeat(1, 2)[:, None]
    mirrored = torch.stack([1 - boxes[..., 2], boxes[..., 1], 1 - boxes[..., 0], boxes[..., 3]], -1)
    boxes = torch.where(flip[:, None, None], mirrored, boxes)
    before = (boxes[..., 2:] - boxes[..., :2]).prod(-1)
    boxes = boxes.clamp(0, 1)
    inside = (boxes[..., 2:] - boxes[..., :2]).prod(-1) / before.clamp(min=1e-9)
    boxes = (corner.repeat(1, 2)[:, None] + boxes * size.repeat(1, 2)[:, None]) * torch.tensor((width, height) * 2, device=device)
    kinds = torch.where(inside > 0.02, store.kinds[index], -1)
    return _View(pictures, mask, boxes, kinds, store.visible[index] * inside)


def _finish(views: list[_View], height: int) -> Batch:
    pictures = views[0].pictures
    for view in views[1:]:
        assert view.mask is not None
        pictures = torch.where(view.mask[:, None], view.pictures, pictures)
    boxes, kinds, visible = (torch.cat([getattr(view, name) for view in views], 1) for name in ("boxes", "kinds", "visible"))
    # real objects first, so that the table can be cut after the last one
    order = (kinds >= 0).int().argsort(dim=1, descending=True, stable=True)
    used = max(1, int((kinds >= 0).sum(1).max())) if len(kinds) else 1
    order = order[:, :used]
    boxes, kinds, visible = boxes.gather(1, order[..., None].expand(-1, -1, 4)), kinds.gather(1, order), visible.gather(1, order)
    small = boxes[..., 3] - boxes[..., 1] < MIN_HEIGHT * height
    real = kinds >= 0
    ignored = real & (small | (visible < MIN_VISIBLE))
    centered = torch.cat([(boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]], -1)
    return Batch(pictures, centered, kinds.clamp(min=0), real & ~ignored, ignored)


def _recolor(pictures: Tensor, rand: Callable[..., Tensor], generator: torch.Generator) -> Tensor:
    """Random brightness, contrast, saturation, tint and grain."""
    n = len(pictures)
    gain = 0.65 + 0.7 * rand(n, 1, 1, 1)
    tint = 0.93 + 0.14 * rand(n, 3, 1, 1)
    contrast = 0.75 + 0.5 * rand(n, 1, 1, 1)
    saturation = 0.5 + 0.9 * rand(n, 1, 1, 1)
    mean = pictures.mean((1, 2, 3), keepdim=True)
    grey = pictures.mean(1, keepdim=True)
    pictures = grey + (pictures - grey) * saturation
    pictures = (mean + (pictures - mean) * contrast) * gain * tint
    strength = 0.03 * (rand(n, 1, 1, 1) - 0.5).clamp(min=0)
    noise = torch.empty_like(pictures).normal_(generator=generator)
    return (pictures + noise * strength).clamp(0, 1)
