"""How other programs scale, as their users or authors report it."""

from collections.abc import Mapping
from dataclasses import dataclass

from framefleet.app.window.widgets.translation import marked


@dataclass(frozen=True)
class Record:
    """Speedups by number of GPUs. source: who reports them, and where."""

    name: str
    speedups: Mapping[int, float]
    source: str
    address: str


RECORDS = (
    Record(
        marked("scaling", "Triton Inference Server"),
        {1: 1.0, 2: 1.8, 4: 3.3, 8: 4.5},
        marked("scaling", "A user's report with eight Quadro RTX 5000, 2021"),
        "https://github.com/triton-inference-server/server/issues/3326",
    ),
    Record(
        marked("scaling", "Caffe"),
        {1: 1.0, 2: 1.8, 4: 3.5},
        marked("scaling", "Its documentation: training, the work grows with the GPUs"),
        "https://github.com/BVLC/caffe/blob/master/docs/multigpu.md",
    ),
)
