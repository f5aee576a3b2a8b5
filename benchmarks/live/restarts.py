"""How long after a restart of its RTSP server a stream runs again, from the moment when the server listens. Needs GStreamer's server."""

from __future__ import annotations

import argparse
import time

from benchmarks.report import spread, table, write
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.media.live.messages import LiveState
from tests.support.live.reading import Reading
from tests.support.live.servers import RtspServer

TARGET = 5.0


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--restarts", type=int, default=50)
    arguments = parser.parse_args()
    took = []
    with RtspServer(width=320, height=240) as server:
        address = LiveAddress.read(server.address)
        assert address is not None
        with Reading(address) as reading:
            reading.more(25)
            for _ in range(arguments.restarts):
                known = len(reading.changes)
                server.stop()
                reading.next_state(LiveState.WAITING_TO_RECONNECT, known)
                server.start()
                begun, known = time.perf_counter(), len(reading.changes)
                reading.next_state(LiveState.RUNNING, known)
                took.append(time.perf_counter() - begun)
                reading.more(25)
            numbers = [packet.number for packet in reading.packets]
            assert numbers == [*range(len(numbers))]
    late = sum(seconds > TARGET for seconds in took)
    rows = [(len(took), spread(took, 1), late)]
    write(
        "live.restarts",
        "Restarts of an RTSP server",
        table(("restarts", "s until it runs again", f"later than {TARGET:g} s"), rows),
        (),
        "live",
    )
    raise SystemExit(late > 0)


if __name__ == "__main__":
    main()
