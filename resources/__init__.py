"""Icons, labels, the list of models, and the files of the demo."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_DEMO = Path(__file__).parent / "demo"


@dataclass(frozen=True)
class DemoFiles:
    """The demo's files: a Darknet model, a rendered street, and the ground truth of its frames (COCO, gzip)."""

    cfg: Path = _DEMO / "framefleet-demo.cfg"
    weights: Path = _DEMO / "framefleet-demo.weights"
    labels: Path = _DEMO / "framefleet-demo.names"
    clip: Path = _DEMO / "framefleet-demo.mp4"
    truth: Path = _DEMO / "framefleet-demo.truth.json.gz"


DEMO = DemoFiles()
