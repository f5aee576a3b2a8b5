"""Models small enough for every test."""

from __future__ import annotations

from pathlib import Path

from engine.model.load import load_network
from engine.model.network import Network
from engine.settings import ModelFiles

TINY_CFG = Path(__file__).resolve().parent.parent / "fixtures" / "tiny.cfg"
"""A detector of 24 layers, 96×96, 3 classes, heads of 6×6 and 12×12."""


def tiny_files(seed: int = 1) -> ModelFiles:
    """The tiny detector with random weights."""
    return ModelFiles(TINY_CFG, f"random:{seed}")


def tiny_network(seed: int = 1) -> Network:
    """The same, loaded: a few milliseconds."""
    return load_network(tiny_files(seed))
