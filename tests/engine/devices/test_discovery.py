from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.devices import discovery
from engine.devices.description import DeviceDescription
from engine.devices.discovery import default_devices, discover
from engine.errors import DeviceError
from engine.types import DeviceId


def describe(device: str, problem: str | None = None) -> DeviceDescription:
    return DeviceDescription(DeviceId.parse(device), device.upper(), "OpenVINO 1", ("fp32", "fp16"), 4, 2**33, problem)


def program(code: str) -> tuple[str, ...]:
    return sys.executable, "-c", code


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
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(tmp_path)
    assert discover()[0].available


def test_looking_loads_no_inference_library_into_the_caller() -> None:
    code = "import sys; from engine.devices.discovery import discover; discover(); print({'openvino', 'cv2', 'av'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"


def test_descriptions_travel_as_json() -> None:
    for description in (describe("openvino:GPU.0"), describe("cpu:0", "no library")):
        assert DeviceDescription.from_json(json.loads(json.dumps(description.as_json()))) == description


@pytest.mark.parametrize(
    ("ending", "timeout", "problem"),
    [
        ("import os; os.abort()", 60, "crashed"),
        ("import time; time.sleep(60)", 3, "no answer within 3 s"),
        ("raise SystemExit('bad driver')", 60, "status 1: bad driver"),
    ],
)
def test_a_driver_that_fails_hides_only_what_comes_after_it(ending: str, timeout: float, problem: str) -> None:
    line = json.dumps(describe("cpu:0").as_json())
    found = discover(timeout, program=program(f"print({line!r}, flush=True); {ending}"))
    assert found[0] == describe("cpu:0")
    assert [rest.available for rest in found[1:]] == [False]
    assert problem in str(found[1].problem)


@pytest.mark.parametrize("noise", ["{gpu: no firmware", '{"level": 3}', "[1, 2]", "7", "", '{"id": 5}', "[" * 5000, "\u2028\x00"])
def test_what_a_driver_prints_is_passed_over(noise: str) -> None:
    line = json.dumps(describe("cpu:0").as_json())
    assert discover(program=program(f"print({noise!r}); print({line!r}); print({noise!r})")) == (describe("cpu:0"),)


def test_a_line_cut_short_by_a_crash_is_no_device() -> None:
    line = json.dumps(describe("cpu:0").as_json())
    found = discover(program=program(f"print({line!r}); print({line[:40]!r}, end='', flush=True); import os; os.abort()"))
    assert found[0] == describe("cpu:0")
    assert [(rest.available, "signal 6" in str(rest.problem)) for rest in found[1:]] == [(False, True)]


def test_without_any_answer_it_is_an_error() -> None:
    with pytest.raises(DeviceError, match=r"status 3: it said nothing.*doctor"):
        discover(program=program("raise SystemExit(3)"))
    with pytest.raises(DeviceError, match="found none"):
        discover(program=program(""))
    with pytest.raises(DeviceError, match="cannot be started"):
        discover(program=["/nowhere/python"])


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
    monkeypatch.setattr(discovery, "_DRIVER_FOLDERS", (tmp_path / "none",))
    assert default_devices() == (DeviceId("cpu", "0"),)
    monkeypatch.setattr(discovery, "_DRIVER_FOLDERS", (tmp_path,))
    assert default_devices() == default_devices(discover())
