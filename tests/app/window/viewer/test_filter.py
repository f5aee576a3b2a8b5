import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.engine.detection.postprocess import nms
from framefleet.engine.types import Detections


@given(st.integers(0, 2**32 - 1), st.integers(5, 95))
def test_filtering_afterwards_equals_detecting_with_the_higher_threshold(seed: int, hundredths: int) -> None:
    random = np.random.default_rng(seed)
    corners = random.uniform(0, 100, (60, 2))
    boxes = np.hstack([corners, corners + random.uniform(5, 60, (60, 2))]).astype(np.float32)
    scores, classes = random.uniform(0.05, 1, 60).astype(np.float32), random.integers(0, 3, 60).astype(np.int32)
    threshold = hundredths / 100
    candidates = Detections(boxes, scores, classes)
    strong = candidates.filter(threshold)
    low = candidates.select(nms(boxes, scores, classes, 0.45))
    high = strong.select(nms(strong.boxes, strong.scores, strong.class_ids, 0.45))
    shown = ViewFilter(threshold).apply(low)
    for name in ("boxes", "scores", "class_ids"):
        np.testing.assert_array_equal(getattr(shown, name), getattr(high, name))
