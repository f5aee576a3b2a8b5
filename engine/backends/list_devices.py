"""``python -m engine.backends.list_devices openvino|cuda``: prints one JSON object a line for each device.

Started by ``engine.devices.discovery``.
"""

from __future__ import annotations

import json
import sys

from engine.backends.create import describe_devices


def main(kind: str) -> None:
    """Print the devices of this kind's library."""
    for description in describe_devices(kind):
        print(json.dumps(description.as_json()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
