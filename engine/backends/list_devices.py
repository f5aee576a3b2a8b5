"""``python -m framefleet.engine.backends.list_devices openvino|cuda``: prints each device as one line of JSON.

``engine.devices.discovery`` starts this program.
"""

import json
import sys

from framefleet.engine.backends.create import describe_devices


def main(kind: str) -> None:
    """Print the devices of a kind's library. kind: see ``describe_devices``."""
    for description in describe_devices(kind):
        print(json.dumps(description.to_message()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
