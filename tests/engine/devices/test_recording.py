from __future__ import annotations

import json
from pathlib import Path

import pytest

from framefleet.engine.devices.recording import read_recording
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.notices import UsageError
from framefleet.engine.types import DeviceId


def write(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_recorded_machine(tmp_path: Path) -> None:
    gpu = {
        "name": "NVIDIA X",
        "uuid": "GPU-1",
        "pci": {"busId": "00000000:01:00.0"},
        "cc": [8, 6],
        "mem": {"total": 1000, "used": 10},
        "util": {"gpu": 7, "memory": 3},
        "dec": "ERR NVMLError_NotSupported",
        "power_mw": 79406,
        "power_limit_mw": 700000,
        "temp": 39,
        "sm_clock": 345,
        "pcie_rx_kbs": 562,
        "links": [{"state": 1}, {"state": 0}, {"state": 1}, "ERR"],
    }
    recording = read_recording(write(tmp_path / "r.json", {"driver": "580.1", "cuda": 13010, "gpus": [gpu, {}]}))
    first, second = recording.devices
    assert (str(first.id), first.name, first.memory, first.compute_capability) == ("cuda:0", "NVIDIA X", 1000, "8.6")
    assert (first.driver, first.cuda, first.uuid, first.pci) == ("580.1", "13.1", "GPU-1", "00000000:01:00.0")
    assert recording.telemetry[first.id] == Telemetry(
        first.id,
        utilization=7,
        memory_utilization=3,
        memory_used=10,
        memory_total=1000,
        power=pytest.approx(79.406),
        power_limit=pytest.approx(700.0),
        temperature=39,
        sm_clock=345,
        pcie_rx=562000.0,
        nvlinks=2,
    )
    assert (second.name, second.memory) == ("NVIDIA GPU", None)
    assert recording.telemetry[second.id] == Telemetry(DeviceId("cuda", "1"))


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("{", "it ends too early"),
        ('{"gpus": [{"name": "X"},\n', "it ends too early"),
        ("<xml>", "its JSON is wrong in line 1"),
        ('{\n"gpus": yes}', "its JSON is wrong in line 2"),
        ("[]", "no list 'gpus'"),
        ('{"gpus": 3}', "no list 'gpus'"),
        ('{"gpus": [3]}', "no list 'gpus'"),
        ('"text"', "no list 'gpus'"),
        ("[" * 100_000, "its JSON cannot be read"),
        ("9" * 10_000, "its JSON cannot be read"),
        ('{"nodes": [], "gpus": [{"name": "X"}], "matrix": [[" X "]]}', "written by 'framefleet topology --json'"),
    ],
)
def test_another_file_is_no_recording_and_why_is_said_in_plain_words(tmp_path: Path, content: str, fault: str) -> None:
    with pytest.raises(UsageError, match=rf"r\.json is not a recording of a machine: .*{fault}.*; give a JSON file") as caught:
        read_recording(write(tmp_path / "r.json", content))
    assert not any(words in str(caught.value) for words in ("Expecting", "char ", "codec", "recursion", "digits"))


def test_a_recording_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert not read_recording(write(tmp_path / "r.json", '\ufeff{"gpus": []}')).devices


def test_a_recording_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json cannot be read: No such file .*; check the name"):
        read_recording(tmp_path / "none.json")


def test_a_folder_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder: give the recording itself"):
        read_recording(tmp_path)


def test_a_picture_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "p.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00")
    with pytest.raises(UsageError, match="it is not text"):
        read_recording(tmp_path / "p.jpg")


@pytest.mark.data
def test_the_recorded_eight(recordings: Path) -> None:
    recording = read_recording(recordings / "nvml-8xH200.json")
    assert [str(device.id) for device in recording.devices] == [f"cuda:{number}" for number in range(8)]
    assert {(device.name, device.compute_capability, device.cuda, device.memory) for device in recording.devices} == {
        ("NVIDIA H200", "9.0", "13.0", 150754820096)
    }
    for device in recording.devices:
        snapshot = recording.telemetry[device.id]
        assert 60 < (snapshot.power or 0) < (snapshot.power_limit or 0) == pytest.approx(700.0)
        assert (snapshot.nvlinks, snapshot.pcie_generation, snapshot.pcie_width) == (18, 5, 16)
        assert snapshot.memory_clock is snapshot.nvlink_rx is snapshot.throttling is None
