"""``python -m framefleet.engine.devices.topology.probe_process``: prints the driver's values of GPU places as one line of JSON.

``driver`` describes the form. ``problem``: why there are no values; null without an NVIDIA driver. Started by ``search``.
"""

import json
from typing import Any

from framefleet.engine.cuda import DRIVER
from framefleet.engine.devices.cuda import cuda_devices, describe
from framefleet.engine.devices.nvml.driver import NoNvmlError, Nvml
from framefleet.engine.devices.topology.driver import ask_driver
from framefleet.engine.errors import DeviceError


def probe() -> dict[str, Any]:
    """The object to print."""
    try:
        nvml = Nvml()
    except NoNvmlError as problem:
        return {"gpus": [], "problem": problem.notice.as_json() if DRIVER.exists() else None}
    except DeviceError as problem:
        return {"gpus": [], "problem": problem.notice.as_json()}
    try:
        visible, reason = cuda_devices(), None
    except DeviceError as problem:
        visible, reason = (), problem.notice
    names = {device.uuid: device.id for device in describe(nvml, visible, reason) if device.uuid is not None}
    values = {**ask_driver(nvml, names), "problem": None}
    nvml.close()
    return values


if __name__ == "__main__":
    print(json.dumps(probe()))
