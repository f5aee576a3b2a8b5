from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from framefleet.engine.devices import discovery
from framefleet.engine.devices.discovery import DeviceDescription, Search, default_devices, discover
from framefleet.engine.notices import DeviceError
from framefleet.engine.types import DeviceId
from tests.support.notices import words


def describe(device: str, problem: str | None = None) -> DeviceDescription:
    return DeviceDescription(DeviceId.parse(device), device.upper(), "OpenVINO 1", ("fp32", "fp16"), 4, 2**33, problem and words(problem))


def search(code: str, kind: str = "openvino") -> Search:
    return Search({"openvino": "OpenVINO", "cuda": "CUDA"}[kind], kind, (sys.executable, "-c", code))


def printing(*descriptions: DeviceDescription) -> str:
    return "".join(f"print({json.dumps(description.to_message())!r}, flush=True);" for description in descriptions)


def test_this_machine_has_a_cpu_that_computes_in_fp32() -> None:
    cpu = discover()[0]
    assert (cpu.id, cpu.available) == (DeviceId("cpu", "0"), True)
    assert cpu.precisions[0] == "fp32"
    assert cpu.backend.startswith("OpenVINO 20")
    assert cpu.name
    assert cpu.cores is not None
    assert cpu.cores >= 1
    assert default_devices([cpu]) == (cpu.id,)
    assert "cpu:0" in str(cpu)


def test_where_the_caller_stands_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "framefleet").mkdir()
    (tmp_path / "framefleet" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(tmp_path)
    assert discover()[0].available


def test_looking_loads_no_inference_library_into_the_caller() -> None:
    heavy = {"openvino", "cv2", "av", "cuda", "pynvml", "tensorrt_rtx"}
    code = f"import sys; from framefleet.engine.devices.discovery import discover; discover(); print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"


def test_descriptions_travel_as_json() -> None:
    gpu = replace(describe("cuda:1"), uuid="GPU-1", compute_capability="9.0", driver="580.1", cuda="13.0", pci="00000000:00:06.0")
    for description in (describe("openvino:GPU.0"), describe("cpu:0", "no library"), gpu):
        assert DeviceDescription.from_message(json.loads(json.dumps(description.to_message()))) == description


@pytest.mark.parametrize(
    ("ending", "timeout", "problem"),
    [
        ("import os; os.abort()", 60, "crashed"),
        ("import time; time.sleep(60)", 3, "no answer within 3 s"),
        ("raise SystemExit('bad driver')", 60, "status 1: bad driver"),
    ],
)
def test_a_driver_that_fails_hides_only_what_comes_after_it(ending: str, timeout: float, problem: str) -> None:
    found = discover(timeout, [search(printing(describe("cpu:0")) + ending)])
    assert found[0] == describe("cpu:0")
    assert [rest.available for rest in found[1:]] == [False]
    assert problem in str(found[1].problem)


def test_a_library_that_fails_hides_no_other_librarys_devices() -> None:
    crash = "import os; os.abort()"
    both = describe("cpu:0"), describe("openvino:GPU")
    found = discover(searches=[search(printing(*both)), search(printing(describe("cuda:0")) + crash, "cuda")])
    assert [str(device.id) for device in found] == ["cpu:0", "cuda:0", "cuda:1", "openvino:GPU"]
    assert [device.available for device in found] == [True, True, False, True]
    assert "signal 6" in str(found[2].problem)
    found = discover(searches=[search(crash), search(printing(describe("cuda:0")), "cuda")])
    assert [(str(device.id), device.available) for device in found] == [("cpu:0", False), ("cuda:0", True)]


@pytest.mark.parametrize("noise", ["{gpu: no firmware", '{"level": 3}', "[1, 2]", "7", "", '{"id": 5}', "[" * 5000, "\u2028\x00"])
def test_what_a_driver_prints_is_passed_over(noise: str) -> None:
    code = f"print({noise!r}); {printing(describe('cpu:0'))} print({noise!r})"
    assert discover(searches=[search(code)]) == (describe("cpu:0"),)


def test_a_line_cut_short_by_a_crash_is_no_device() -> None:
    line = json.dumps(describe("cpu:0").to_message())
    found = discover(searches=[search(f"print({line!r}); print({line[:40]!r}, end='', flush=True); import os; os.abort()")])
    assert found[0] == describe("cpu:0")
    assert [(rest.available, "signal 6" in str(rest.problem)) for rest in found[1:]] == [(False, True)]


def test_without_any_answer_it_is_an_error() -> None:
    with pytest.raises(DeviceError, match=r"it ended with status 3; 'framefleet doctor'"):
        discover(searches=[search("raise SystemExit(3)")])
    with pytest.raises(DeviceError, match="found none"):
        discover(searches=[search("")])
    with pytest.raises(DeviceError, match="cannot be started"):
        discover(searches=[Search("CUDA", "cuda", ["/nowhere/python"])])


@pytest.mark.parametrize(
    ("devices", "best"),
    [
        (["cpu:0"], ["cpu:0"]),
        (["cpu:0", "openvino:NPU"], ["cpu:0"]),
        (["cpu:0", "openvino:GPU.0", "openvino:GPU.1"], ["openvino:GPU.0", "openvino:GPU.1"]),
        (["cpu:0", "openvino:GPU", "cuda:0", "cuda:1"], ["cuda:0", "cuda:1"]),
        (["cpu:0", "!openvino:GPU", "!cuda:0"], ["cpu:0"]),
    ],
)
def test_the_best_devices(devices: list[str], best: list[str]) -> None:
    descriptions = [describe(device.removeprefix("!"), "broken" if device.startswith("!") else None) for device in devices]
    assert [str(device) for device in default_devices(descriptions)] == best


def test_no_usable_device_is_an_error_with_the_reasons() -> None:
    with pytest.raises(DeviceError, match=r"cpu:0: OpenVINO is gone.*doctor"):
        default_devices([describe("cpu:0", "OpenVINO is gone")])


def test_drivers_make_it_look_closer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(discovery, "_DRIVERS", (tmp_path / "none",))
    assert default_devices() == (DeviceId("cpu", "0"),)
    monkeypatch.setattr(discovery, "_DRIVERS", (tmp_path,))
    found = default_devices(discover())
    discovery.search_early()
    assert default_devices() == found
    assert default_devices() == found


def test_without_nvidias_driver_nothing_searches_for_cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cpu, gpu = describe("cpu:0"), describe("cuda:0")
    monkeypatch.setattr(discovery, "SEARCHES", (search(printing(cpu)), search(printing(gpu), "cuda")))
    monkeypatch.setattr(discovery, "_NVIDIA", (tmp_path / "nvidiactl",))
    assert discover() == ((cpu,) if sys.platform == "linux" else (cpu, gpu))
    (tmp_path / "nvidiactl").touch()
    assert discover() == (cpu, gpu)
