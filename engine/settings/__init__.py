"""The settings: their table, and the checked values that the engine uses."""

from framefleet.engine.settings.checks import check_decode, check_depth
from framefleet.engine.settings.hint import Hint
from framefleet.engine.settings.table import Decode, Isolation, Parallel, Precision, Resize, Track
from framefleet.engine.settings.values import EngineSettings, ModelFiles, Recordings, RunSettings, Tiles

__all__ = [
    "Decode",
    "EngineSettings",
    "Hint",
    "Isolation",
    "ModelFiles",
    "Parallel",
    "Precision",
    "Recordings",
    "Resize",
    "RunSettings",
    "Tiles",
    "Track",
    "check_decode",
    "check_depth",
]
