"""YOLOv4's loss: CIoU for boxes, cross-entropy for objectness and classes, several anchors per object.

Assignment follows AlexeyAB's Darknet (``forward_yolo_layer``). An object belongs to the anchor that fits its size best and to
every anchor of IoU above ``iou_thresh``, in the cell that holds its centre. Predictions that overlap an object by more than
``ignore_thresh`` do not count as background. Ignored objects count neither as objects nor as background.

Unlike in Darknet, if two objects match the same anchor of the same cell (a rider and the bicycle), it is assigned only to the object
that fits better. With both objects, the prediction would become a mixture of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from framefleet.engine.model.network import Yolo

IOU_THRESH, IGNORE_THRESH = 0.213, 0.7
BOX, OBJECT, CLASS = 0.1, 1.0, 0.25
"""Weights of the three parts."""
BALANCE = (4.0, 1.0, 0.4)
"""Weight of the objectness of the heads at strides 8, 16, 32: the fine ones have many more cells."""


def decode(head: Tensor, layer: Yolo, width: int, height: int) -> tuple[Tensor, Tensor]:
    """Decode a raw head. Returns boxes and logits.

    Boxes: (batch, anchors, rows, columns, 4), centre x, y, width, height in network pixels. Logits of objectness and classes:
    (batch, anchors, rows, columns, 1 + classes).
    """
    batch, _, rows, columns = head.shape
    values = head.float().view(batch, len(layer.anchors), 5 + layer.classes, rows, columns).permute(0, 1, 3, 4, 2)
    place = values[..., :2].sigmoid() * layer.scale_x_y - 0.5 * (layer.scale_x_y - 1)
    y, x = torch.meshgrid(torch.arange(rows, device=head.device), torch.arange(columns, device=head.device), indexing="ij")
    stride = torch.tensor((width / columns, height / rows), device=head.device)
    anchors = torch.as_tensor(layer.anchors, device=head.device).view(1, -1, 1, 1, 2)
    center = (place + torch.stack([x, y], -1)) * stride
    return torch.cat([center, values[..., 2:4].clamp(max=6).exp() * anchors], -1), values[..., 4:]


def iou(a: Tensor, b: Tensor) -> Tensor:
    """Compute the IoU of boxes (…, 4), centre and size, broadcast against each other."""
    low = torch.maximum(a[..., :2] - a[..., 2:] / 2, b[..., :2] - b[..., 2:] / 2)
    high = torch.minimum(a[..., :2] + a[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2)
    both = (high - low).clamp(min=0).prod(-1)
    return both / (a[..., 2:].prod(-1) + b[..., 2:].prod(-1) - both + 1e-7)


def ciou(a: Tensor, b: Tensor) -> Tensor:
    """Compute the complete IoU (Zheng et al. 2020) of boxes (n, 4), centre and size."""
    overlap = iou(a, b)
    low = torch.minimum(a[..., :2] - a[..., 2:] / 2, b[..., :2] - b[..., 2:] / 2)
    high = torch.maximum(a[..., :2] + a[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2)
    diagonal = (high - low).square().sum(-1) + 1e-7
    distance = (a[..., :2] - b[..., :2]).square().sum(-1) / diagonal
    aspect = 4 / math.pi**2 * (torch.atan(b[..., 2] / (b[..., 3] + 1e-7)) - torch.atan(a[..., 2] / (a[..., 3] + 1e-7))).square()
    with torch.no_grad():
        weight = aspect / (1 - overlap + aspect + 1e-7)
    return overlap - distance - weight * aspect


def loss(
    heads: Sequence[Tensor], layers: Sequence[Yolo], width: int, height: int, boxes: Tensor, kinds: Tensor, wanted: Tensor, ignored: Tensor
) -> tuple[Tensor, Tensor]:
    """Compute the loss to minimise, and its parts (box, object, class), detached.

    boxes: (batch, t, 4) centre and size, network pixels. kinds: (batch, t) class numbers. wanted: (batch, t) bool, real
    objects that must be found. ignored: (batch, t) bool, objects that may be.
    """
    device = boxes.device
    every = torch.cat([torch.as_tensor(layer.anchors, device=device) for layer in layers])
    # sizes against all nine anchors: (batch, t, 9)
    size = boxes[..., None, 2:]
    common = torch.minimum(size, every).prod(-1)
    fit = common / (size.prod(-1) + every.prod(-1) - common + 1e-7)
    fits = (fit > IOU_THRESH) | (fit == fit.amax(-1, keepdim=True))
    fits &= wanted[..., None]
    box_loss = class_loss = object_loss = torch.zeros((), device=device)
    first = 0
    for head, layer, balance in zip(heads, layers, BALANCE, strict=True):
        count = len(layer.anchors)
        found, logits = decode(head, layer, width, height)
        _, _, rows, columns, _ = found.shape
        target = torch.zeros(found.shape[:-1], device=device)
        picture, which, anchor = fits[..., first : first + count].nonzero(as_tuple=True)
        with torch.no_grad():
            skip = _overlapping(found.detach(), boxes, wanted, ignored)
        if len(picture):
            truth = boxes[picture, which]
            column = (truth[:, 0] / (width / columns)).long().clamp(0, columns - 1)
            row = (truth[:, 1] / (height / rows)).long().clamp(0, rows - 1)
            cell = ((picture * count + anchor) * rows + row) * columns + column
            fitness = fit[picture, which, first + anchor]
            best = torch.zeros(target.numel(), device=device).scatter_reduce(0, cell, fitness, "amax")
            keep = fitness >= best[cell]
            picture, which, anchor, row, column, truth = (t[keep] for t in (picture, which, anchor, row, column, truth))
            chosen = found[picture, anchor, row, column]
            quality = ciou(chosen, truth)
            box_loss = box_loss + (1 - quality).mean()
            labels = F.one_hot(kinds[picture, which], layer.classes).float()
            class_loss = class_loss + F.binary_cross_entropy_with_logits(logits[picture, anchor, row, column, 1:], labels)
            # the objectness target also states how good the box is: half is fixed, half is the overlap
            target[picture, anchor, row, column] = (0.5 + 0.5 * quality.detach().clamp(0, 1)).to(target.dtype)
            skip[picture, anchor, row, column] = False
        each = F.binary_cross_entropy_with_logits(logits[..., 0], target, reduction="none")
        first += count
        object_loss = object_loss + balance * (each * ~skip).sum() / (~skip).sum()
    parts = torch.stack([BOX * box_loss, OBJECT * object_loss, CLASS * class_loss])
    return parts.sum(), parts.detach()


def _overlapping(found: Tensor, boxes: Tensor, wanted: Tensor, ignored: Tensor) -> Tensor:
    """Which predictions lie on an object well enough not to count as background: (batch, anchors, rows, columns) bool."""
    batch = len(found)
    flat = found.reshape(batch, -1, 1, 4)
    skip = torch.zeros(flat.shape[:2], dtype=torch.bool, device=found.device)
    # in slices over the objects, because the whole table of overlaps would not fit into memory
    for start in range(0, boxes.shape[1], 16):
        part = slice(start, start + 16)
        truth = boxes[:, None, part]
        overlap = iou(flat, truth)
        skip |= ((overlap > IGNORE_THRESH) & wanted[:, None, part]).any(-1)
        skip |= ((overlap > 0.4) & ignored[:, None, part]).any(-1)
    return skip.view(found.shape[:-1])
