"""The example of docs/add-a-backend.md works as it is printed there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from framefleet.engine.backends import create_backend, create_depth_backend
from framefleet.engine.backends.create import LIBRARIES, Library
from framefleet.engine.notices import DeviceError
from framefleet.engine.settings import EngineSettings
from framefleet.engine.types import DeviceId
from tests.support.models import tiny_network

PAGE = Path(__file__).parents[3] / "docs" / "add-a-backend.md"
DUMMY = DeviceId("dummy", "0")


@pytest.fixture
def _dummy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's file, its line in the table, and the new kind of device."""
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(code.splitlines()) < 80
    module = ModuleType("framefleet.engine.backends.dummy.backend")
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    entry = re.findall(r'"dummy": Library\(("NumPy", .*)\)}', PAGE.read_text("utf-8"))[0]
    monkeypatch.setattr(DeviceId, "KINDS", (*DeviceId.KINDS, "dummy"))
    monkeypatch.setitem(LIBRARIES, "dummy", Library(*re.findall(r'"(.*?)"', entry)))


@pytest.mark.usefixtures("_dummy")
def test_the_backend_of_the_guide_infers() -> None:
    network = tiny_network()
    with create_backend(DUMMY) as backend:
        info = backend.activate(network, EngineSettings(batch=2))
        assert (info.device, info.batch, info.width) == (DUMMY, 2, network.width)
        found = backend.infer([np.zeros((48, 64, 3), np.uint8), np.zeros((200, 100, 3), np.uint8)])
        raw = backend.raw_outputs(np.zeros((1, 3, network.height, network.width), np.float32))
    assert [output.shape[1:] for output in raw] == [head.shape for head in network.heads]
    for detections, (width, height) in zip(found, ((64, 48), (100, 200)), strict=True):
        assert detections.class_ids.tolist() == [0]
        left, top, right, bottom = detections.boxes[0] / (width, height, width, height)
        assert max(left, top) < 0.65
        assert min(right, bottom) > 0.5
    with pytest.raises(DeviceError, match="NumPy cannot cut a network into stages"):
        create_depth_backend(DeviceId.group(DUMMY, DeviceId("dummy", "1")))


@pytest.mark.usefixtures("_dummy")
def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "framefleet.engine.backends.dummy.backend", None)
    with pytest.raises(DeviceError, match=r"dummy:0: NumPy cannot be loaded .*\[numpy\]"):
        create_backend(DUMMY)
