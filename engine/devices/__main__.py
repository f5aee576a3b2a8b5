"""``python -m engine.devices openvino|cuda``: one JSON object a line for each device, as it is found. Started by ``discovery``."""

from __future__ import annotations

import json
import sys

from engine.backends.create import describe_devices


def main(kind: str) -> None:
    """Print the devices that the library of this kind runs."""
    for description in describe_devices(kind):
        print(json.dumps(description.as_json()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
