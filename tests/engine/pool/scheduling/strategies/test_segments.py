import pytest

from framefleet.engine.media.types import Segment
from framefleet.engine.pool.scheduling.strategies.base import Strategy
from framefleet.engine.pool.scheduling.strategies.segments import Segments
from framefleet.engine.pool.scheduling.strategies.streams import Streams
from framefleet.engine.types import DeviceId

CPU = DeviceId("cpu", "0")


@pytest.mark.parametrize("strategy", [Segments([CPU]), Streams([CPU])])
def test_the_oldest_source_comes_first_whichever_was_opened_first(strategy: Strategy) -> None:
    for source in (2, 0, 1):
        strategy.open(source, [Segment(0, None, None, 10)])
    sources = []
    while (work := strategy.next(CPU, 1, lambda _: None)) is not None:
        sources.append(work.source)
        strategy.done(work)
    assert sources == [0, 1, 2]
