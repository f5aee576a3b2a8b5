from __future__ import annotations

import json
from pathlib import Path

from framefleet.app.cli.devices import table
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.types import DeviceId
from tests.support.cli import run_main
from tests.support.notices import words

CPU = DeviceDescription(DeviceId("cpu", "0"), "Some Processor", "OpenVINO 2026.4", ("fp32", "bf16"), 2, 16 * 2**30)
GPU = DeviceDescription(
    DeviceId("cuda", "0"),
    "NVIDIA H200",
    "TensorRT 11.0",
    ("fp32", "fp16"),
    132,
    141 * 2**30,
    uuid="GPU-a",
    compute_capability="9.0",
    driver="580.1",
    cuda="13.0",
)


def test_devices() -> None:
    run = run_main("devices", "--json")
    assert run.status == 0
    first = json.loads(run.out)["devices"][0]
    assert (first["id"], first["available"], first["problem"]) == ("cpu:0", True, None)
    assert "fp32" in first["precisions"]


def test_columns_that_no_device_fills_are_left_out() -> None:
    assert table([CPU]).splitlines() == [
        "DEVICE   NAME            CORES  MEMORY    BACKEND          PRECISIONS",
        "cpu:0 *  Some Processor  2      16.0 GiB  OpenVINO 2026.4  fp32, bf16",
        "* used unless you choose",
    ]


def test_gpus_have_more_to_tell_and_problems_stand_beneath_their_device() -> None:
    broken = DeviceDescription(DeviceId("cuda", "1"), "NVIDIA A2", "TensorRT", (), problem=words("it is hidden"))
    assert table([CPU, GPU, broken]).splitlines() == [
        "DEVICE    NAME            CORES  MEMORY     COMPUTE  DRIVER            BACKEND          PRECISIONS",
        "cpu:0     Some Processor  2      16.0 GiB                              OpenVINO 2026.4  fp32, bf16",
        "cuda:0 *  NVIDIA H200     132    141.0 GiB  9.0      580.1, CUDA 13.0  TensorRT 11.0    fp32, fp16",
        "cuda:1    NVIDIA A2                                                    TensorRT",
        "          not available: it is hidden",
        "* used unless you choose",
    ]


def test_where_nothing_can_be_used_the_list_is_shown_nevertheless() -> None:
    broken = DeviceDescription(DeviceId("cpu", "0"), "CPU", "OpenVINO", (), problem=words("it is gone"))
    assert "not available: it is gone" in table([broken])
    assert "unless" not in table([broken])


def test_a_recorded_machine(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_text(json.dumps({"driver": "580.1", "cuda": 13000, "gpus": [{"name": "NVIDIA X"}, {"name": "NVIDIA Y"}]}))
    run = run_main("devices", "--recording", path, "--json")
    assert run.status == 0
    assert [(each["id"], each["name"], each["cuda"]) for each in json.loads(run.out)["devices"]] == [
        ("cuda:0", "NVIDIA X", "13.0"),
        ("cuda:1", "NVIDIA Y", "13.0"),
    ]
    assert run_main("devices", "--recording", path).out.splitlines()[1].startswith("cuda:0 *  NVIDIA X  ")
    run = run_main("devices", "--recording", tmp_path / "none.json")
    assert run.status == 2
    assert "none.json cannot be read" in run.err


def test_a_recording_and_a_cluster_exclude_each_other(tmp_path: Path) -> None:
    run = run_main("devices", "--recording", tmp_path / "a.json", "--cluster", "auto")
    assert run.status == 2
    assert "--cluster: not allowed with argument --recording" in run.err
