from __future__ import annotations

import numpy as np
import pytest

from framefleet.engine.notices import UsageError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.settings import EngineSettings, RunSettings
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult, InferenceFailure
from tests.support.models import tiny_files
from tests.support.notices import words


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("cpu", "cpu:0"),
        (" cpu:03 ", "cpu:3"),
        ("cuda:1", "cuda:1"),
        ("openvino:GPU.0", "openvino:GPU.0"),
        ("openvino:NPU", "openvino:NPU"),
        ("a-1.b/cuda:01", "a-1.b/cuda:1"),
    ],
)
def test_devices_are_read_and_written(text: str, written: str) -> None:
    assert str(DeviceId.parse(text)) == written
    assert DeviceId.parse(written) == DeviceId.parse(text)


@pytest.mark.parametrize("text", ["", "gpu:0", "cpu:x", "cuda:-1", "openvino", "openvino:", "cpu:0:1", "CPU:²", "/cpu:0", "a/gpu:0"])
def test_what_is_no_device_is_named(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not a device.*cpu:0.*framefleet devices"):
        DeviceId.parse(text)


def test_a_group_is_written_as_its_members_are() -> None:
    first, second = DeviceId("cuda", "0"), DeviceId("cpu", "1")
    group = DeviceId.parse("cuda+cpu:1")
    assert group == DeviceId.group(first, second)
    assert str(group) == "cuda:0+cpu:1"
    assert group.members == (first, second)
    assert first.members == (first,)


def test_detections_are_checked_and_filtered() -> None:
    boxes, scores, ids = np.zeros((3, 4), np.float32), np.array([0.9, 0.5, 0.2], np.float32), np.array([0, 1, 0], np.int32)
    found = Detections(boxes, scores, ids)
    assert len(found) == 3
    assert found.filter(0.5).scores.tolist() == [np.float32(0.9), 0.5]
    assert found.filter(0.1, frozenset({0})).class_ids.tolist() == [0, 0]
    assert len(found.filter(0.1, frozenset())) == 0
    for wrong in ((boxes[:2], scores, ids), (boxes, scores[:2], ids), (boxes, scores, ids[:, None])):
        with pytest.raises(ValueError, match="unequal length"):
            Detections(*wrong)
    for wrong in ((boxes.astype(np.float64), scores, ids), (boxes, scores, ids.astype(np.int64))):
        with pytest.raises(ValueError, match="wrong type"):
            Detections(*wrong)


def test_a_frame_has_detections_or_a_failure() -> None:
    ref, device = FrameRef(0, 0, 0.0), DeviceId("cpu", "0")
    found, failed = FrameResult(ref, device, 1, 1, Detections()), FrameResult(ref, device, 1, 1, InferenceFailure(words("why")))
    assert (found.detections, found.failure) == (found.found, None)
    assert (failed.detections, failed.failure) == (None, words("why"))


def test_settings_are_checked() -> None:
    for wrong in (
        {"stored_confidence": 0.0},
        {"stored_confidence": 1.1},
        {"iou": -1.0},
        {"iou": float("nan")},
        {"batch": 0},
        {"batch": 2000},
    ):
        with pytest.raises(UsageError, match=next(iter(wrong)).removeprefix("stored_")):
            EngineSettings(**wrong)
    with pytest.raises(UsageError, match="twice: cpu:0, cpu:0"):
        RunSettings(tiny_files(), (DeviceId.parse("cpu"), DeviceId.parse("cpu:0")))


def test_a_ledger_balances_when_every_frame_is_somewhere() -> None:
    assert Ledger().balanced
    assert Ledger(10, 7, {words("late"): 1}, {words("damaged"): 2}).balanced
    assert Ledger(10, 10, skipped=90).balanced, "skipped frames are not decoded"
    assert not Ledger(10, 7, {}, {words("damaged"): 2}).balanced
