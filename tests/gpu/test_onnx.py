"""ONNX files on the device: each reading gives the known boxes, and real networks give those of the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto

from framefleet.engine.backends.create import create_backend, create_depth_backend
from framefleet.engine.model.load import load_model, load_network
from framefleet.engine.model.onnx_export import export_onnx
from framefleet.engine.notices import DeviceError
from framefleet.engine.settings import EngineSettings, Hint, ModelFiles, Precision
from framefleet.engine.types import Detections, DeviceId, Image
from framefleet.resources import DEMO
from tests.support.cli import read_lines, run_program
from tests.support.models import TINY_CFG
from tests.support.networks.inference import assert_same, pictures
from tests.support.onnx_models import (
    CELLS,
    KNOWN,
    LETTERBOXED,
    STRETCHED,
    objectness_rows,
    write_distances,
    write_known,
    write_model,
    write_nms,
    write_red,
    write_several,
    write_sorted_fractions,
    write_suppressed,
    write_yolox,
)
from tests.support.yolox import boxes_of, matched

GPU = DeviceId("cuda", "0")
CPU = DeviceId("cpu", "0")
SETTINGS = EngineSettings(precision=Precision.FP32)
WIDE = np.zeros((64, 128, 3), np.uint8)


def run(
    files: ModelFiles, images: Sequence[Image] = (WIDE,), settings: EngineSettings = SETTINGS, device: DeviceId = GPU
) -> list[Detections]:
    with create_backend(device) as backend:
        backend.activate(load_model(files), settings)
        return [backend.infer([image])[0] for image in images]


def check(found: Detections, boxes: Sequence[Sequence[float]]) -> None:
    np.testing.assert_allclose(found.boxes, boxes, atol=1e-3)
    np.testing.assert_allclose(found.scores, [0.9, 0.7], atol=1e-6)
    assert found.class_ids.tolist() == [1, 0]


def assert_equal(found: Sequence[Detections], expected: Sequence[Detections]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours.class_ids, theirs.class_ids)
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-5)
        np.testing.assert_allclose(ours.boxes, theirs.boxes, atol=1e-2)


@pytest.mark.parametrize(("reading", "outputs", "boxes"), KNOWN)
def test_boxes_of_each_reading(tmp_path: Path, reading: str, outputs: dict[str, NDArray[Any]], boxes: list[list[float]]) -> None:
    files = write_known(tmp_path, reading, outputs)
    for settings in (SETTINGS, replace(SETTINGS, hint=Hint.LATENCY)):
        check(run(files, settings=settings)[0], boxes)


@pytest.mark.parametrize("reading", ["yolov5", "yolox-decoded"])
def test_objectness_times_class_score(tmp_path: Path, reading: str) -> None:
    (tmp_path / "a.names").write_text("cat\ndog\n")
    files = replace(write_model(tmp_path / "a.onnx", {"o": objectness_rows()}), reading=reading)
    (found,) = run(files)
    np.testing.assert_allclose(found.scores, [0.5, 0.4], atol=1e-6)
    assert_equal([found], run(files, device=CPU))


@pytest.mark.parametrize("coding", [0, 1])
def test_a_suppression_of_tensorrt_is_cut_off(tmp_path: Path, coding: int) -> None:
    check(run(write_nms(tmp_path / "a.onnx", coding))[0], LETTERBOXED)


def test_a_suppression_in_the_graph_is_cut_off(tmp_path: Path) -> None:
    """The boxes are those of the graph's own suppression on the CPU, whatever the thresholds of the run are."""
    for number, (iou, minimum, limit) in enumerate([(0.6, 0.3, 100), (0.95, 0.3, 100), (0.6, 0.75, 100), (0.6, 0.3, 1)]):
        files = write_suppressed(tmp_path / f"{number}.onnx", iou=iou, minimum=minimum, limit=limit)
        settings = replace(SETTINGS, iou=0.1, stored_confidence=0.1)
        assert_equal(run(files, settings=settings), run(files, settings=settings, device=CPU))


def test_boxes_that_operators_tell(tmp_path: Path) -> None:
    for corner in (False, True):
        for rows in (False, True):
            check(run(write_distances(tmp_path / "a.onnx", corner, rows))[0], LETTERBOXED)
    (tmp_path / "b.names").write_text("cat\ndog\n")
    check(run(write_sorted_fractions(tmp_path / "b.onnx"))[0], STRETCHED)


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.UINT8])
@pytest.mark.parametrize("channels_last", [False, True])
def test_bytes_and_channels_last(tmp_path: Path, kind: int, channels_last: bool) -> None:
    picture = np.zeros((64, 64, 3), np.uint8)
    picture[..., 0] = 204
    (found,) = run(write_red(tmp_path / "a.onnx", kind, channels_last), [picture])
    np.testing.assert_allclose(found.scores, [0.8], atol=1e-4)


def reds(count: int) -> list[Image]:
    """Black pictures of several sizes with red rectangles."""
    random = np.random.default_rng(2)
    found = []
    for number in range(count):
        picture = np.zeros((int(random.integers(32, 300)), int(random.integers(32, 300)), 3), np.uint8)
        for _ in range(number % 4):
            left, top = (int(random.integers(0, side)) for side in (picture.shape[1] - 8, picture.shape[0] - 8))
            picture[top : top + 40, left : left + 40, 0] = 255
        found.append(picture)
    return found


def test_pictures_of_any_size_side_by_side(tmp_path: Path) -> None:
    """A file that takes one picture at once: several are under way, each with its own engine."""
    files, images = write_yolox(tmp_path / "a.onnx"), reds(40)
    expected = run(files, images, device=CPU)
    assert sum(map(len, expected)) > 40
    with create_backend(GPU) as backend:
        info = backend.activate(load_model(files), SETTINGS)
        assert (info.batch, info.slots) == (1, 3)
        assert "the file takes one picture at once" in str(info.reason)
        for _ in range(3):
            futures = [backend.submit([image]) for image in images]
            assert_equal([each for future in futures for each in future.result() if isinstance(each, Detections)], expected)
    with create_backend(GPU) as backend, pytest.raises(DeviceError, match="takes one picture at once: leave out --batch"):
        backend.activate(load_model(files), replace(SETTINGS, batch=2))


def test_several_pictures_at_once(tmp_path: Path) -> None:
    files = write_several(tmp_path / "a.onnx")
    with create_backend(GPU) as backend:
        assert backend.activate(load_model(files), replace(SETTINGS, batch=4)).batch == 4
        for found in backend.infer([WIDE, np.full((64, 128, 3), 255, np.uint8), WIDE]):
            check(found, LETTERBOXED)
    with create_backend(GPU) as backend:
        assert backend.activate(load_model(files), SETTINGS).batch == 32


def test_the_steps_wait_for_nothing_and_allocate_nothing(tmp_path: Path) -> None:
    from framefleet.engine.backends.nvidia.backend import NvidiaBackend
    from framefleet.engine.backends.nvidia.slot import WholeSlot
    from framefleet.engine.cuda.graph import record

    with create_backend(GPU) as backend:
        assert isinstance(backend, NvidiaBackend)
        backend.activate(load_model(write_yolox(tmp_path / "a.onnx")), SETTINGS)
        for slot in backend.slots:
            assert isinstance(slot, WholeSlot)
            graph = record(slot.steps, slot.stream, "global")
            graph.launch(slot.stream)
            slot.stream.sync()


def test_a_network_of_our_own_export(tmp_path: Path) -> None:
    cfg = load_network(ModelFiles(TINY_CFG, "random:1"))
    export_onnx(cfg, tmp_path / "a.onnx")
    files, images = ModelFiles(tmp_path / "a.onnx", tmp_path / "a.onnx"), pictures(12)
    settings = replace(SETTINGS, stored_confidence=0.05, batch=4)
    with create_backend(GPU) as backend, create_backend(GPU) as other:
        backend.activate(load_model(files), settings)
        other.activate(cfg, settings)
        assert_same([other.infer([image])[0] for image in images], [backend.infer([image])[0] for image in images], 0.999)
        inputs = np.random.default_rng(1).random((3, 3, cfg.height, cfg.width), np.float32)
        for one, two in zip(backend.raw_outputs(inputs), other.raw_outputs(inputs), strict=True):
            assert np.linalg.norm(one - two) / np.linalg.norm(two) < 1e-3


def test_a_plan_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from framefleet.engine.backends.tensorrt import onnx

    files = write_yolox(tmp_path / "a.onnx")
    first = run(files, reds(4))
    monkeypatch.setattr(onnx, "build_onnx_plan", lambda *_: pytest.fail("built again"))
    assert_equal(run(files, reds(4)), first)


def test_half_precision_on_demand_and_by_trial(tmp_path: Path) -> None:
    files, images = write_yolox(tmp_path / "a.onnx"), reds(40)
    expected = run(files, images, device=CPU)
    found = run(files, images, replace(SETTINGS, precision=Precision.FP16))
    assert [len(each) for each in found] == [len(each) for each in expected]
    for examples, reason in (((), "there is no frame of a source"), ((images[:4], images[4:] * 2), "of its boxes equal")):
        with create_backend(GPU) as backend:
            backend.tuning, backend.examples = True, lambda examples=examples: examples
            info = backend.activate(load_model(files), EngineSettings())
            assert reason in str(info.reason)
            assert info.precision == ("fp32" if not examples else info.precision)
    with create_backend(GPU) as backend:  # the outcome is kept; without one, it would be FP32, not tuned
        assert "of its boxes equal" in str(backend.activate(load_model(files), EngineSettings()).reason)


def test_half_precision_that_breaks_silently_is_not_taken(tmp_path: Path) -> None:
    """Sums above 65504 are infinite in FP16: the boxes differ, and FP32 stays."""
    import onnx

    files, images = write_yolox(tmp_path / "a.onnx"), reds(40)
    model = onnx.load(files.cfg)
    for tensor in model.graph.initializer:
        if tensor.name.startswith("object_") and tensor.name.endswith(("_w", "_b")):
            values = onnx.numpy_helper.to_array(tensor) * 1000
            tensor.CopyFrom(onnx.numpy_helper.from_array(values.astype(np.float32), tensor.name))
    files.cfg.write_bytes(model.SerializeToString())
    with create_backend(GPU) as backend:
        backend.tuning, backend.examples = True, lambda: (images,)
        info = backend.activate(load_model(files), EngineSettings())
        assert info.precision == "fp32"
        assert "fp16: " in str(info.reason)


def test_stages_and_lacking_operators_are_refused(tmp_path: Path) -> None:
    files = write_yolox(tmp_path / "a.onnx")
    with create_depth_backend(DeviceId.parse("cuda:0+cuda:1")) as backend, pytest.raises(DeviceError, match="cannot be cut into stages"):
        backend.activate(load_model(files), SETTINGS)
    other = write_model(tmp_path / "b.onnx", {"o": np.zeros((1, 9, 5), np.float32)}, declared={"o": (1, 6, CELLS)})
    with create_backend(GPU) as backend, pytest.raises(DeviceError, match=r"cannot compute b \(outputs \[1, 9, 5\]\): use --devices cpu:0"):
        backend.activate(load_model(other), SETTINGS)


@pytest.mark.alone
def test_memory_is_given_back(tmp_path: Path) -> None:
    from cuda.bindings import runtime

    files = write_yolox(tmp_path / "a.onnx")

    def once() -> int:
        run(files)
        runtime.cudaDeviceSynchronize()
        return int(runtime.cudaMemGetInfo()[1])

    once()
    before = once()
    for _ in range(3):
        after = once()
    assert before - after < 16 * 2**20


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's network as an ONNX file."""
    path = tmp_path_factory.mktemp("demo") / "demo.onnx"
    export_onnx(load_network(ModelFiles(DEMO.cfg, DEMO.weights, DEMO.labels)), path)
    return path


@pytest.fixture(scope="module")
def on_cpu(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What a CPU finds, for each way of sharing the work."""
    folder = tmp_path_factory.mktemp("cpu")
    return {parallel: detected(demo, folder / parallel, "cpu:0", parallel) for parallel in PARALLEL}


PARALLEL = ("segments", "frames", "tiles")


def detected(model: Path, out: Path, devices: str, parallel: str) -> list[Any]:
    """The boxes of each frame of the demo's clip: class id, confidence and box."""
    how = ("--devices", devices, "--parallel", parallel, "--precision", "fp32", "--to", "60")
    done = run_program("detect", DEMO.clip, "--model", model, *how, "--format", "jsonl", "--out", out)
    assert done.status == 0, done.err
    return boxes_of(read_lines(out / f"{DEMO.clip.stem}.jsonl"))


@pytest.mark.parametrize("devices", ["cuda:0", "cuda:0,cpu:0"])
@pytest.mark.parametrize("parallel", PARALLEL)
def test_ways_of_sharing_the_work(tmp_path: Path, demo: Path, on_cpu: dict[str, list[Any]], parallel: str, devices: str) -> None:
    """Frames come from NVDEC where the GPU decodes; a mixed pool finds what a CPU finds."""
    found, expected = detected(demo, tmp_path / "out", devices, parallel), on_cpu[parallel]
    assert len(found) == len(expected) == 60
    for ours, theirs in ((found, expected), (expected, found)):
        agreeing = sum(matched(one, other, (10_000, 10_000)) for one, other in zip(ours, theirs, strict=True))
        assert sum(map(len, ours)) > 100
        assert agreeing >= 0.99 * sum(map(len, ours))
