"""``python -m engine.devices``: one JSON object a line for each device, as it is found. Started by ``discovery``."""

from __future__ import annotations

import json

from engine.backends.create import describe_devices


def main() -> None:
    """Print the devices."""
    for description in describe_devices():
        print(json.dumps(description.as_json()), flush=True)


if __name__ == "__main__":
    main()
