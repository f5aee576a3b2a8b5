"""Files that Framefleet needs at run time: icons, labels, the list of models, and the demo."""

from dataclasses import dataclass
from pathlib import Path

_DEMO = Path(__file__).parent / "demo"


@dataclass(frozen=True)
class DemoFiles:
    """The demo's files: a Darknet model (cfg, weights, labels), a rendered clip of a street, and its ground truth (gzipped COCO)."""

    cfg: Path = _DEMO / "framefleet-demo.cfg"
    weights: Path = _DEMO / "framefleet-demo.weights"
    labels: Path = _DEMO / "framefleet-demo.names"
    clip: Path = _DEMO / "framefleet-demo.mp4"
    truth: Path = _DEMO / "framefleet-demo.truth.json.gz"


DEMO = DemoFiles()
