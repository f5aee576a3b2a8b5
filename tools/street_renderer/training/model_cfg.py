"""Writes the cfg of the demo model, a YOLOv4 with fewer channels and blocks.

The parts are those of YOLOv4 (Bochkovskiy, Wang, Liao 2020): a CSP backbone with Mish, spatial pyramid pooling, a path
aggregation neck and three YOLO heads with scale_x_y; only widths and depths are smaller.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

STAGES = ((32, 1), (48, 1), (80, 2), (128, 3), (160, 2))
"""Channels and residual blocks of the five backbone stages, strides 2 … 32."""
STEM = 16
SCALES = (1.2, 1.1, 1.05)
"""scale_x_y of the heads at strides 8, 16, 32, as in yolov4.cfg."""


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def section(self, name: str, **options: object) -> int:
        """Append a section; returns its layer number."""
        self.lines += [f"[{name}]", *(f"{key}={value}" for key, value in options.items()), ""]
        self.count += 1
        return self.count - 1

    def conv(self, filters: int, size: int, stride: int = 1, activation: str = "mish", normalized: bool = True) -> int:
        batch = {"batch_normalize": 1} if normalized else {}
        return self.section("convolutional", **batch, filters=filters, size=size, stride=stride, pad=1, activation=activation)

    def route(self, *layers: int) -> int:
        """Layers by number."""
        return self.section("route", layers=",".join(map(str, layers)))

    def note(self, text: str) -> None:
        self.lines += [f"# {text}", ""]


def _stage(w: _Writer, channels: int, blocks: int) -> int:
    half = channels // 2
    w.note(f"CSP stage, {channels} channels, {blocks} residual block{'s' if blocks > 1 else ''}")
    down = w.conv(channels, 3, 2)
    aside = w.conv(half, 1)
    w.route(down)
    w.conv(half, 1)
    for _ in range(blocks):
        w.conv(half, 1)
        w.conv(half, 3)
        w.section("shortcut", **{"from": -3}, activation="linear")
    main = w.conv(half, 1)
    w.route(main, aside)
    return w.conv(channels, 1)


def _alternating(w: _Writer, narrow: int, count: int) -> int:
    """Convolutions that alternate between 1×1 with ``narrow`` channels and 3×3 with twice as many; the number of the last."""
    return [w.conv(narrow * (1 + i % 2), 1 + 2 * (i % 2), activation="leaky") for i in range(count)][-1]


def _merged(w: _Writer, channels: int, tap: int) -> int:
    """Enlarge the last layer, merge it with an earlier one, ``tap``, and convolve; the number of the last layer."""
    w.conv(channels, 1, activation="leaky")
    up = w.section("upsample", stride=2)
    w.route(tap)
    side = w.conv(channels, 1, activation="leaky")
    w.route(side, up)
    return _alternating(w, channels, 5)


def cfg(anchors: NDArray[np.floating], classes: int, width: int, height: int, neck: Sequence[int] = (48, 64, 72)) -> str:
    """Return the cfg as text.

    anchors: (9, 2) widths and heights in network pixels, small to large. neck: channels at strides 8, 16, 32.
    """
    w = _Writer()
    w.section("net", batch=64, subdivisions=1, width=width, height=height, channels=3)
    w.count = 0
    w.conv(STEM, 3)
    taps = [_stage(w, channels, blocks) for channels, blocks in STAGES]
    n8, n16, n32 = neck

    w.note("spatial pyramid pooling")
    start = _alternating(w, n32, 3)
    pools = []
    for size in (5, 9, 13):
        pools.append(w.section("maxpool", stride=1, size=size))
        w.route(start)
    w.count -= 1
    del w.lines[-3:]
    w.route(*reversed(pools), start)
    deep = _alternating(w, n32, 3)

    w.note("path aggregation, up")
    middle, fine = _merged(w, n16, taps[3]), _merged(w, n8, taps[2])

    flat = ", ".join(f"{round(float(a))},{round(float(b))}" for a, b in anchors)

    def head(stride: int, narrow: int, scale: float) -> None:
        w.note(f"head at stride {8 << stride}, then the way down")
        w.conv(narrow * 2, 3, activation="leaky")
        w.conv(3 * (5 + classes), 1, activation="linear", normalized=False)
        w.section(
            "yolo",
            mask=",".join(str(3 * stride + i) for i in range(3)),
            anchors=flat,
            classes=classes,
            num=9,
            jitter=0.3,
            ignore_thresh=0.7,
            truth_thresh=1,
            iou_thresh=0.213,
            scale_x_y=scale,
            iou_loss="ciou",
            nms_kind="greedynms",
            beta_nms=0.6,
        )

    head(0, n8, SCALES[0])
    w.route(fine)
    down = w.conv(n16, 3, 2, "leaky")
    w.route(down, middle)
    middle = _alternating(w, n16, 5)
    head(1, n16, SCALES[1])
    w.route(middle)
    down = w.conv(n32, 3, 2, "leaky")
    w.route(down, deep)
    _alternating(w, n32, 5)
    head(2, n32, SCALES[2])
    return "\n".join(w.lines)


def kmeans(sizes: NDArray[np.floating], count: int = 9, rounds: int = 60, seed: int = 0) -> NDArray[np.float64]:
    """Anchors (count, 2), small to large, for box sizes (n, 2): k-means under the distance 1 - IoU."""
    rng = np.random.default_rng(seed)
    boxes = np.asarray(sizes, np.float64)
    centers: NDArray[np.float64] = boxes[rng.choice(len(boxes), count, replace=False)]
    for _ in range(rounds):
        both = np.minimum(boxes[:, None], centers[None]).prod(-1)
        iou = both / (boxes.prod(-1)[:, None] + centers.prod(-1)[None] - both)
        nearest = iou.argmax(1)
        moved = np.array(
            [np.median(boxes[nearest == k], 0) if (nearest == k).any() else boxes[rng.integers(len(boxes))] for k in range(count)]
        )
        if np.allclose(moved, centers):
            break
        centers = moved
    return centers[np.argsort(centers.prod(-1))]


def box_sizes(data: Path, width: int, height: int) -> NDArray[np.float64]:
    """Sizes (n, 2) in network pixels of all boxes of a rendered data set that are not ignored."""
    from tools.street_renderer.truth import MIN_HEIGHT, MIN_VISIBLE

    _, source_height, source_width, _ = np.load(data / "pictures.npy", mmap_mode="r").shape
    boxes, kinds, visible = (np.load(data / f"{name}.npy") for name in ("boxes", "kinds", "visible"))
    size = boxes[..., 2:] - boxes[..., :2]
    real = (kinds >= 0) & (visible >= MIN_VISIBLE) & (size[..., 1] >= MIN_HEIGHT * source_height)
    sizes: NDArray[np.float64] = size[real].astype(float) * (width / source_width, height / source_height)
    return sizes


def main() -> None:
    """``python -m tools.street_renderer.training.model_cfg DATA OUT.cfg``: anchors from a data set, then the cfg and names files."""
    from tools.street_renderer.traffic.actor import NAMES

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=352)
    a = parser.parse_args()
    sizes = box_sizes(a.data, a.width, a.height)
    anchors = kmeans(sizes[np.random.default_rng(0).permutation(len(sizes))[:40000]])
    print(f"{len(sizes)} boxes, anchors {np.round(anchors).astype(int).tolist()}")
    a.out.write_text(cfg(anchors, len(NAMES), a.width, a.height), encoding="ascii")
    a.out.with_suffix(".names").write_text("\n".join(NAMES) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
