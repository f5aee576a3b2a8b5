from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from framefleet.engine.backends import create_backend
from framefleet.engine.backends.base import Backend
from framefleet.engine.media.picture import picture_of
from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Network
from framefleet.engine.model.onnx_export import export_onnx
from framefleet.engine.notices import DeviceError, ModelError, UsageError
from framefleet.engine.settings import EngineSettings, Hint, ModelFiles, Precision, Resize
from framefleet.engine.types import AS_ASKED, Detections, DeviceId, Image
from tests.support.devices.surfaces import random_frame
from tests.support.models import tiny_network

CPU = DeviceId("cpu", "0")
FP32 = EngineSettings(precision=Precision.FP32, stored_confidence=0.05)

# What tiny.cfg has not: attention layers, sums of three, the other activations, several inputs of one group.
ATTENTION = """
[net]
width=64
height=32
channels=3
[convolutional]
filters=8
size=3
stride=2
pad=1
activation=relu6
[convolutional]
filters=8
size=3
stride=1
pad=1
activation=relu
[avgpool]
[convolutional]
filters=8
size=1
stride=1
activation=logistic
[scale_channels]
from=1
activation=linear
[sam]
from=1
activation=leaky
[shortcut]
from=0,1
activation=mish
[route]
layers=-1,0
groups=4
group_id=3
[maxpool]
size=4
stride=3
[dropout]
probability=.5
[upsample]
stride=3
[convolutional]
filters=14
size=1
stride=1
activation=linear
[yolo]
mask=0,1
anchors=10,14, 23,27, 37,58
classes=2
num=3
"""


@pytest.fixture(scope="module")
def network() -> Network:
    return tiny_network()


@pytest.fixture
def backend(network: Network) -> Iterator[Backend]:
    with create_backend(CPU) as backend:
        backend.activate(network, FP32)
        yield backend


def pictures(count: int) -> list[Image]:
    random = np.random.default_rng(3)
    return [random.integers(0, 256, (60 + 7 * i, 90 - 5 * i, 3), dtype=np.uint8) for i in range(count)]


def same(a: Detections, b: Detections) -> bool:
    return len(a) == len(b) and np.allclose(a.boxes, b.boxes, atol=0.05) and np.allclose(a.scores, b.scores, atol=1e-3)


@pytest.mark.parametrize("name", ["tiny", "attention"])
def test_every_layer_computes_what_opencv_computes_from_the_exported_model(name: str, tmp_path: Path) -> None:
    if name == "attention":
        (tmp_path / "attention.cfg").write_text(ATTENTION)
        network = load_network(ModelFiles(tmp_path / "attention.cfg", "random:5"))
    else:
        network = tiny_network()
    export_onnx(network, tmp_path / "model.onnx")
    inputs = np.random.default_rng(0).random((2, 3, network.height, network.width), dtype=np.float32)
    opencv = cv2.dnn.readNetFromONNX(str(tmp_path / "model.onnx"))
    opencv.setInput(inputs)
    expected = opencv.forward([f"head_{index}" for index in range(len(network.heads))])
    with create_backend(CPU) as backend:
        backend.activate(network, FP32)
        heads = backend.raw_outputs(inputs)
    assert len(heads) == len(expected)
    for head, reference in zip(heads, expected, strict=True):
        assert head.shape == reference.shape
        assert np.abs(head - reference).max() < 1e-4 * np.abs(reference).max()


def test_what_was_built_is_told(backend: Backend, network: Network) -> None:
    info = backend.info
    assert (info.device, info.width, info.height, info.batch) == (CPU, network.width, network.height, 1)
    assert info.backend.startswith("OpenVINO 20")
    assert (info.precision, info.reason) == ("fp32", AS_ASKED)
    assert info.slots >= 1
    assert info.device_name


def test_many_under_way_come_back_each_to_its_own(backend: Backend) -> None:
    images = pictures(6)
    alone = [backend.infer([image])[0] for image in images]
    assert sum(map(len, alone)) > 0
    futures = [backend.submit([images[turn % 6]]) for turn in range(60)]
    assert all(same(future.result()[0], alone[turn % 6]) for turn, future in enumerate(futures))


def test_pictures_may_be_reused_at_once(backend: Backend) -> None:
    image = pictures(1)[0]
    expected = backend.infer([image.copy()])[0]
    future = backend.submit([image])
    image[:] = 0
    assert same(future.result()[0], expected)


def test_planes_give_what_their_picture_gives(backend: Backend) -> None:
    planes = random_frame(160, 120, 7, 8, (True, 1), "bt709", full_range=False).planes()
    found, expected = backend.infer([planes])[0], backend.infer([picture_of(planes)])[0]
    assert len(found) > 0
    np.testing.assert_array_equal(found.boxes, expected.boxes)
    np.testing.assert_array_equal(found.scores, expected.scores)


def test_frames_of_oblong_pixels_give_boxes_of_the_shown_size(backend: Backend) -> None:
    planes = random_frame(160, 120, 7, 8, (False, None), "bt709", full_range=False).planes()
    narrow = backend.infer([planes])[0]
    planes.format = replace(planes.format, width=320)
    wide = backend.infer([planes])[0]
    np.testing.assert_allclose(wide.boxes, narrow.boxes * [2, 1, 2, 1], rtol=1e-5)


def test_a_batch_may_be_partly_filled(network: Network, backend: Backend) -> None:
    images = pictures(3)
    alone = [backend.infer([image])[0] for image in images]
    with create_backend(CPU) as batched:
        batched.activate(network, EngineSettings(precision=Precision.FP32, stored_confidence=0.05, batch=4))
        full = batched.infer([*images, images[0]])
        part = batched.infer(images)
        with pytest.raises(ValueError, match="5 pictures for an engine of batch 4"):
            batched.submit([images[0]] * 5)
    assert all(same(a, b) for a, b in zip(alone, full, strict=False))
    assert all(same(a, b) for a, b in zip(alone, part, strict=True))


def test_boxes_lie_in_the_picture_stretched_or_letterboxed(network: Network) -> None:
    image = pictures(1)[0]
    found = {}
    for resize in (Resize.STRETCH, Resize.LETTERBOX):
        with create_backend(CPU) as backend:
            backend.activate(network, EngineSettings(precision=Precision.FP32, stored_confidence=0.05, resize=resize))
            found[resize] = backend.infer([image])[0]
        boxes = found[resize].boxes
        assert len(boxes) > 0
        assert (boxes >= 0).all()
        assert (boxes <= [image.shape[1], image.shape[0]] * 2).all()
    assert not same(found[Resize.STRETCH], found[Resize.LETTERBOX])


def test_classes_and_confidence_select(network: Network, backend: Backend) -> None:
    image = pictures(1)[0]
    everything = backend.infer([image])[0]
    threshold = float(np.median(everything.scores))
    with create_backend(CPU) as chosen:
        chosen.activate(network, EngineSettings(precision=Precision.FP32, stored_confidence=threshold, classes=frozenset({1})))
        assert same(chosen.infer([image])[0], everything.filter(threshold, frozenset({1})))


def test_states_are_guarded(network: Network) -> None:
    backend = create_backend(CPU)
    for use in (
        lambda: backend.info,
        lambda: backend.submit(pictures(1)),
        lambda: backend.raw_outputs(np.zeros((1, 3, 96, 96), np.float32)),
    ):
        with pytest.raises(RuntimeError, match="not active"):
            use()
    backend.close()
    backend.activate(network, FP32)
    with pytest.raises(RuntimeError, match="already active"):
        backend.activate(network, FP32)
    backend.close()
    backend.close()
    with pytest.raises(RuntimeError, match="not active"):
        backend.infer(pictures(1))


def test_closing_waits_for_what_is_under_way(network: Network) -> None:
    backend = create_backend(CPU)
    backend.activate(network, EngineSettings(precision=Precision.FP32, hint=Hint.LATENCY))
    future = backend.submit(pictures(1))
    backend.close()
    assert future.done()


def test_unusable_devices_say_so(network: Network) -> None:
    with pytest.raises(DeviceError, match=r"cuda:99.*(driver|framefleet devices)"):
        create_backend(DeviceId("cuda", "99")).activate(network, FP32)
    with pytest.raises(DeviceError, match=r"openvino:GPU.7.*finds no device GPU.7.*CPU"):
        create_backend(DeviceId("openvino", "GPU.7")).activate(network, FP32)
    with pytest.raises(UsageError, match=r"threads 0 cannot be used"):
        create_backend(CPU).activate(network, EngineSettings(threads=0))


def test_a_network_of_grey_pictures_is_refused() -> None:
    grey = replace(tiny_network(), channels=1)
    with create_backend(CPU) as backend, pytest.raises(ModelError, match="takes pictures of 1 channels; videos have 3"):
        backend.activate(grey, FP32)


def test_nothing_is_reported_to_anybody() -> None:
    import_it = "import sys; from framefleet.engine.backends.openvino import library"
    program = import_it + "; print('openvino' in sys.modules, 'openvino_telemetry' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert output.split() == ["True", "False"]


def test_signals_arrive_after_another_thread_has_let_go_of_the_last_engine() -> None:
    code = """
        import os, signal, threading
        from framefleet.engine.backends import create_backend
        from framefleet.engine.model.load import load_network
        from framefleet.engine.settings import EngineSettings, Precision
        from framefleet.engine.types import DeviceId
        from tests.support.models import tiny_files

        def let_go(held):
            held.pop().close()

        held = [create_backend(DeviceId("cpu", "0"))]
        held[0].activate(load_network(tiny_files()), EngineSettings(precision=Precision.FP32))
        thread = threading.Thread(target=let_go, args=(held,))
        thread.start()
        thread.join()
        signal.signal(signal.SIGUSR1, lambda *_: print("handled"))
        os.kill(os.getpid(), signal.SIGUSR1)
    """
    project = Path(__file__).parents[4]
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=project, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "handled\n"), run.stderr
