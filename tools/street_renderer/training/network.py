"""The demo model as a PyTorch module, built from the cfg that the engine reads. Weights are Darknet files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from framefleet.engine.model.describe import describe
from framefleet.engine.model.description import ConvolutionSpec, Description
from framefleet.engine.model.load import EPSILON, read_weights
from framefleet.engine.model.network import Activation, MaxPool, Route, Shortcut, Upsample, Yolo
from tools.darknet_weights import write_weights

_ACTIVATIONS = {Activation.LINEAR: nn.Identity, Activation.MISH: nn.Mish, Activation.LEAKY: lambda: nn.LeakyReLU(0.1)}


class _Convolution(nn.Module):  # type: ignore[misc,unused-ignore]  # torch may be missing
    def __init__(self, spec: ConvolutionSpec) -> None:
        super().__init__()
        self.conv = nn.Conv2d(
            spec.channels, spec.filters, spec.size, spec.stride, spec.padding, groups=spec.groups, bias=not spec.batch_normalize
        )
        self.norm = nn.BatchNorm2d(spec.filters, eps=EPSILON, momentum=0.03) if spec.batch_normalize else nn.Identity()
        self.activation = _ACTIVATIONS[spec.activation]()

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.activation(self.norm(self.conv(x)))
        return result


class Detector(nn.Module):  # type: ignore[misc,unused-ignore]
    """A Darknet network as a PyTorch module.

    Input: pictures (batch, 3, height, width), 0 … 1. Outputs: a list of raw heads (batch, 3 · (5 + classes), rows, columns).
    """

    def __init__(self, description: Description) -> None:
        super().__init__()
        self.description = description
        self.convolutions = nn.ModuleDict(
            {str(i): _Convolution(layer) for i, layer in enumerate(description.layers) if isinstance(layer, ConvolutionSpec)}
        )
        for i, layer in enumerate(description.layers):
            if isinstance(layer, Yolo):
                _start_low(self.convolutions[str(layer.inputs[0])], layer.classes)
            assert isinstance(layer, ConvolutionSpec | MaxPool | Route | Shortcut | Upsample | Yolo), (
                f"layer {i}: {type(layer).__name__} is not supported"
            )

    def forward(self, pictures: Tensor) -> list[Tensor]:
        """The raw outputs of all heads, in order."""
        outputs: list[Tensor] = []
        heads = []
        for i, layer in enumerate(self.description.layers):
            taken = [pictures if j < 0 else outputs[j] for j in layer.inputs]
            match layer:
                case ConvolutionSpec():
                    made = self.convolutions[str(i)](taken[0])
                case MaxPool():
                    before = layer.padding // 2
                    made = F.max_pool2d(
                        F.pad(taken[0], (before, layer.padding - before) * 2, value=float("-inf")), layer.size, layer.stride
                    )
                case Upsample():
                    made = F.interpolate(taken[0], scale_factor=layer.stride, mode="nearest")
                case Shortcut():
                    made = taken[0] + taken[1]
                case Route():
                    made = (
                        torch.cat(taken, 1) if layer.groups == 1 else torch.cat([t.chunk(layer.groups, 1)[layer.group] for t in taken], 1)
                    )
                case _:
                    made = taken[0]
                    heads.append(made)
            outputs.append(made)
        return heads


def _start_low(head: _Convolution, classes: int) -> None:
    """Start a head with low objectness, because most cells have no object."""
    assert head.conv.bias is not None
    bias = head.conv.bias.data.view(-1, 5 + classes)
    bias[:, 4] = -5.0
    bias[:, 5:] = -2.0


def load(cfg: Path) -> Detector:
    """Create a detector with random weights."""
    return Detector(describe(cfg, None))


def _tensors(model: Detector) -> Iterator[Tensor]:
    """All weights in the order of a Darknet file."""
    for layer in model.convolutions.values():
        assert isinstance(layer, _Convolution)
        if isinstance(layer.norm, nn.BatchNorm2d):
            yield from (layer.norm.bias, layer.norm.weight, layer.norm.running_mean, layer.norm.running_var)
        else:
            yield layer.conv.bias
        yield layer.conv.weight


def save(model: Detector, path: Path) -> None:
    """Write a Darknet weight file."""
    write_weights(path, np.concatenate([part.detach().float().cpu().numpy().ravel() for part in _tensors(model)]))


def restore(model: Detector, path: Path) -> None:
    """Read a Darknet weight file into the model."""
    numbers = torch.from_numpy(read_weights(model.description, path))
    offset = 0
    for part in _tensors(model):
        part.data.copy_(numbers[offset : offset + part.numel()].view_as(part))
        offset += part.numel()
