from __future__ import annotations

from dataclasses import replace

import pytest

from framefleet.engine.pool.supervisor import setup_for
from framefleet.engine.types import DeviceId
from tests.support.pool import small_settings

CPU, OTHER_CPU, GPU, OTHER_GPU = (DeviceId.parse(name) for name in ("cpu:0", "cpu:1", "cuda:0", "openvino:GPU.0"))


@pytest.mark.parametrize(
    ("devices", "cores", "threads"),
    [
        ([CPU], 8, None),
        ([GPU], 8, None),
        ([GPU, OTHER_GPU], 8, None),
        ([CPU, OTHER_CPU], 8, 4),
        ([CPU, OTHER_CPU], 1, 1),
        ([CPU, GPU], 8, 4),
        ([CPU, GPU], 3, 1),
        ([CPU, GPU], 2, 1),
        ([CPU, GPU], 1, 1),
        ([CPU, GPU, OTHER_GPU], 8, 4),
        ([CPU, GPU, OTHER_GPU], 6, 2),
        ([CPU, *[GPU] * 8], 8, 1),
        ([CPU, *[GPU] * 8], 128, 64),
        ([CPU, OTHER_CPU, GPU], 16, 4),
        ([DeviceId.group(CPU, GPU)], 8, 4),
    ],
    ids=lambda value: "+".join(map(str, value)) if isinstance(value, list) else None,
)
def test_cpus_leave_cores_to_each_other_and_to_those_that_are_fed(devices: list[DeviceId], cores: int, threads: int | None) -> None:
    settings = small_settings()
    assert setup_for(devices[0], settings, devices, 60.0, cores).engine.threads == threads
    asked = replace(settings, engine=replace(settings.engine, threads=3))
    assert setup_for(devices[0], asked, devices, 60.0, cores).engine.threads == 3
