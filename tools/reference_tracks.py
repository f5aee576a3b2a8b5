"""Records what the package ``trackers`` (Roboflow, Apache 2.0) makes of random scenes, for the tests of ``engine/tracking``.

Run it in an environment of its own, since that package needs another OpenCV:

    pip install trackers==2.6.1 && python tools/reference_tracks.py tests/fixtures/tracks.json.gz
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

RATE = 28.3  # frames/s; no whole number of frames lasts exactly as long as a track lives, so rounding decides nothing
FRAMES, OBJECTS, WIDTH, HEIGHT = 300, 12, 1280, 720


def scene(seed: int) -> list[tuple[float, list[list[float]], list[float]]]:
    """Return the time, boxes and confidences of each frame: objects that wander, disappear for a while, and false alarms."""
    random = np.random.default_rng(seed)
    centres = random.uniform([50, 50], [WIDTH - 50, HEIGHT - 50], (OBJECTS, 2))
    speed, size = random.normal(0, 4, (OBJECTS, 2)), random.uniform(30, 120, (OBJECTS, 2))
    frames = []
    for number in range(FRAMES):
        speed += random.normal(0, 0.4, speed.shape)
        speed[(centres < 0) | (centres > [WIDTH, HEIGHT])] *= -1
        centres = centres + speed
        seen = centres + random.normal(0, 1.5, centres.shape)
        boxes = np.concatenate((seen - size / 2, seen + size / 2), 1)
        scores = np.clip(random.normal(0.75, 0.2, OBJECTS), 0.05, 0.99)
        visible = (random.random(OBJECTS) > 0.1) & ((number // 25 + np.arange(OBJECTS)) % 7 != 0)
        corner = random.uniform(0, 600, (random.integers(0, 3), 2))
        boxes = np.concatenate((boxes[visible], np.concatenate((corner, corner + 50), 1))).round(1)
        scores = np.concatenate((scores[visible], random.uniform(0.1, 0.9, len(corner)))).round(3)
        order = np.argsort(-scores, kind="stable")
        frames.append((number / RATE, boxes[order].tolist(), scores[order].tolist()))
    return frames


def reference(tracker: Any, frames: list[tuple[float, list[list[float]], list[float]]]) -> list[list[int]]:
    """Return the track of each detection, -1 if it has none, by frame."""
    import supervision  # type: ignore[import-not-found]

    tracks = []
    for seconds, boxes, scores in frames:
        found = supervision.Detections(
            xyxy=np.array(boxes, float).reshape(-1, 4), confidence=np.array(scores), class_id=np.arange(len(boxes))
        )
        tracked = tracker.update(found, timestamp=seconds)
        ids = [-1] * len(boxes)
        for place, track in zip(tracked.class_id, tracked.tracker_id, strict=True):
            ids[int(place)] = int(track)
        tracks.append(ids)
    return tracks


def main(path: Path) -> None:
    """Write the scenes and what the package makes of them."""
    from trackers import ByteTrackTracker  # type: ignore[import-not-found]

    scenes = [scene(seed) for seed in range(2)]
    found = {"bytetrack": [reference(ByteTrackTracker(frame_rate=RATE), frames) for frames in scenes]}
    path.write_bytes(gzip.compress(json.dumps({"interval": 1 / RATE, "scenes": scenes, "tracks": found}).encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
