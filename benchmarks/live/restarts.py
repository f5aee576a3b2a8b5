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
            reading.until(lambda reading: len(reading.packets) > 25)
            for _ in range(arguments.restarts):
                server.stop()
                reading.until(lambda reading: reading.states()[-1] is LiveState.WAITING_TO_RECONNECT)
                server.start()
                begun, known = time.perf_counter(), len(reading.changes)
                reading.until(lambda reading, known=known: LiveState.RUNNING in reading.states()[known:])
                took.append(time.perf_counter() - begun)
                count = len(reading.packets)
                reading.until(lambda reading, count=count: len(reading.packets) > count + 25)
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
