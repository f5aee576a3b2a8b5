"""Computes the mean average precision of a model on a rendered data set, with PyTorch and pycocotools.

    python -m tools.street_renderer.training.evaluate DATA --cfg M.cfg --weights M.weights [--json OUT.json]

``benchmarks/detection/demo_model.py`` measures the engine itself, from videos.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import numpy as np

from framefleet.engine.evaluation.accuracy import FLOOR, Accuracy, score
from framefleet.engine.types import Detections
from tools.street_renderer.traffic.actor import NAMES
from tools.street_renderer.truth import MIN_HEIGHT, MIN_VISIBLE, Truth, coco


def truths(folder: Path) -> tuple[list[Truth], int, int]:
    """The truth of a rendered data set, and the width and height of its pictures."""
    shape = np.load(folder / "pictures.npy", mmap_mode="r").shape
    boxes, kinds, visible = (np.load(folder / f"{name}.npy") for name in ("boxes", "kinds", "visible"))
    found = []
    for b, k, v in zip(boxes, kinds, visible, strict=True):
        real = k >= 0
        b, k, v = b[real], k[real].astype(np.int32), v[real]
        found.append(Truth(b, k, np.arange(len(b), dtype=np.int32), v, (b[:, 3] - b[:, 1] < MIN_HEIGHT * shape[1]) | (v < MIN_VISIBLE)))
    return found, shape[2], shape[1]


def show(result: Accuracy) -> str:
    """Format the result as a table."""
    lines = [f"{c.label:12} AP50 {c.ap50:.3f}  AP50-95 {c.ap50_95:.3f}  {c.objects:6} objects" for c in result.classes]
    return "\n".join([*lines, f"mAP50 {result.map50:.4f}  mAP50-95 {result.map50_95:.4f}"])


def by_torch(folder: Path, cfg: Path, weights: Path, batch: int = 32, iou: float = 0.45) -> Iterable[Detections]:
    """Detections in a data set's pictures, computed by PyTorch."""
    import cv2
    import torch

    from framefleet.engine.detection.postprocess import decode, nms
    from tools.street_renderer.training import network

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = network.load(cfg).to(device).eval()
    network.restore(model, weights)
    layers, width, height = model.description.heads, model.description.width, model.description.height
    pictures = np.load(folder / "pictures.npy", mmap_mode="r")
    scale = np.array([pictures.shape[2] / width, pictures.shape[1] / height] * 2, np.float32)
    for start in range(0, len(pictures), batch):
        part = np.stack(
            [cv2.resize(picture, (width, height), interpolation=cv2.INTER_LINEAR) for picture in pictures[start : start + batch]]
        )
        with torch.no_grad():
            heads = model(torch.from_numpy(part).to(device).permute(0, 3, 1, 2).float() / 255)
        for candidates in decode([head.float().cpu().numpy() for head in heads], layers, width, height, FLOOR):
            kept = nms(candidates.boxes, candidates.scores, candidates.class_ids, iou, layers[0].diou_beta)
            yield Detections(candidates.boxes * scale, candidates.scores, candidates.class_ids).select(kept)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cfg", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    a = parser.parse_args()
    known, width, height = truths(a.data)
    result = score(coco(known, NAMES, width, height, a.data.name), list(by_torch(a.data, a.cfg, a.weights)))
    print(show(result))
    if a.json:
        a.json.write_text(json.dumps(asdict(result), indent=1))


if __name__ == "__main__":
    main()
