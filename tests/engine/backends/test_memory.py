from __future__ import annotations

from pathlib import Path

import pytest

from framefleet.engine.backends import create_backend
from framefleet.engine.backends.memory import check_memory, least_bytes
from framefleet.engine.model.load import load_network
from framefleet.engine.notices import DeviceError
from framefleet.engine.settings import EngineSettings, ModelFiles
from framefleet.engine.types import DeviceId
from tests.support.models import tiny_network
from tests.support.networks.architectures import make_cfg

CPU = DeviceId("cpu", "0")


def test_an_absurd_size_is_refused_before_anything_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: object) -> None:
        raise AssertionError("something is built")

    monkeypatch.setattr("framefleet.engine.backends.openvino.engine.Builder.compile", build)
    monkeypatch.setattr("framefleet.engine.backends.openvino.backend.free_host_memory", lambda: 10**9)
    cfg = tmp_path / "large.cfg"
    cfg.write_text(make_cfg("yolov3-tiny", 16_384, width=1 / 8))
    network = load_network(ModelFiles(cfg, "random:1"))
    with create_backend(CPU) as backend, pytest.raises(DeviceError, match=r"large at 16384×16384 needs at least .* GB of memory") as caught:
        backend.activate(network, EngineSettings())
    assert "but only 1.0 GB are free: use a smaller --size" in str(caught.value)


def test_the_estimate_is_the_largest_sum_of_values_that_exist_at_once(tmp_path: Path) -> None:
    cfg = tmp_path / "three.cfg"
    cfg.write_text(
        "[net]\nwidth=32\nheight=32\nchannels=3\n[convolutional]\nfilters=8\n[convolutional]\nfilters=4\n[shortcut]\nfrom=-2\n"
        "[convolutional]\nfilters=7\nactivation=linear\n[yolo]\nanchors=1,2\nclasses=2\n"
    )
    network = load_network(ModelFiles(cfg, "random:1"))
    weights = 3 * 8 + 8 + 8 * 4 + 4 + 4 * 7 + 7
    # the shortcut adds into the 4 channels of the second convolution, so 12 + 7 channels would be wrong
    assert least_bytes(network, 2, 4) == 4 * (weights + 2 * 32 * 32 * 12)


def test_it_grows_with_batch_and_size_of_a_number() -> None:
    network = tiny_network()
    assert least_bytes(network, 4, 4) > 3 * least_bytes(network, 1, 4)
    assert least_bytes(network, 3, 4) == 2 * least_bytes(network, 3, 2)
    with pytest.raises(DeviceError, match=r"for 3 pictures at once.*smaller --batch or --size"):
        check_memory(network, 3, 4, least_bytes(network, 3, 4) - 1, CPU)
    check_memory(network, 3, 4, least_bytes(network, 3, 4), CPU)
    check_memory(network, 3, 4, None, CPU)
