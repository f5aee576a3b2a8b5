"""Ledger and statistics: small parts without processes."""

from __future__ import annotations

import numpy as np
import pytest

from framefleet.engine.notices import Notice
from framefleet.engine.pool.protocol import Frames, Stats
from framefleet.engine.pool.sequencer import MAX_REASONS, LedgerBook
from framefleet.engine.pool.supervisor import DeviceStatistics
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult, InferenceFailure
from tests.support.notices import words

CPU = DeviceId("cpu", "0")


def result(failure: str | None = None) -> FrameResult:
    return FrameResult(FrameRef(0, 0, 0.0), CPU, 8, 6, InferenceFailure(words(failure)) if failure else Detections())


def test_a_lost_frame_unbalances_the_ledger() -> None:
    book = LedgerBook()
    book.arrived += 5
    book.handed_on([result(), result(), result("damaged")])
    with pytest.raises(RuntimeError, match="unaccounted"):
        book.close()
    book.handed_on([result(), result()])
    ledger = book.close()
    assert (ledger.decoded, ledger.inferred, ledger.failed, ledger.dropped) == (5, 4, {words("damaged"): 1}, {})


def test_a_ledger_does_not_grow_with_the_number_of_reasons() -> None:
    book = LedgerBook()
    book.arrived += 1000
    book.handed_on(result(f"damaged at {number} s") for number in range(1000))
    failed = book.close().failed
    assert len(failed) == MAX_REASONS + 1
    assert failed[Notice("pool.other_reasons")] == 1000 - MAX_REASONS


def test_statistics_of_an_interval_and_of_the_run() -> None:
    statistics = DeviceStatistics(CPU)
    latencies = np.linspace(1, 100, 100).astype(np.float32)
    statistics.frames(Frames.pack(0, 0, [result()] * 99 + [result("damaged")], CPU))
    first = statistics.interval(Stats(CPU, 0.5, latencies, {"decode": 500.0, "infer": 1000.0}))
    assert (first.frames, first.frames_per_second, first.stages) == (99, 200.0, {"decode": 5.0, "infer": 10.0})
    assert first.latency_p50 == pytest.approx(50.5)
    idle = statistics.interval(Stats(CPU, 0.5, np.zeros(0, np.float32), {"decode": 0.0, "infer": 0.0}))
    assert (idle.frames_per_second, idle.latency_p50, idle.latency_p99, idle.stages) == (0.0, None, None, {})
    statistics.interval(Stats(CPU, 0.5, latencies + 1000, {"decode": 1500.0, "infer": 1000.0}))
    final = statistics.final()
    assert final.final
    assert final.frames_per_second == 200.0  # idle time does not count
    assert final.latency_p50 == pytest.approx(100, rel=0.02)
    assert final.latency_p99 == pytest.approx(1098, rel=0.02)
    assert final.stages == {"decode": 10.0, "infer": 10.0}


@pytest.mark.parametrize(
    ("slowest", "busy", "bottleneck"),
    [
        ("decode", {}, "decode"),
        ("sources", {"network": 400.0}, "sources"),
        ("infer", {}, "infer"),
        ("infer", {"decode": 900.0, "upload": 10.0, "network": 400.0, "postprocess": 20.0}, "network"),
        ("decode", {"decode": 900.0, "network": 400.0}, "decode"),
        ("deliver", {"network": 400.0}, "deliver"),
    ],
)
def test_the_bottleneck_is_named(slowest: str, busy: dict[str, float], bottleneck: str) -> None:
    statistics = DeviceStatistics(CPU)
    feeding = dict.fromkeys(("decode", "preprocess", "infer", "deliver"), 0.05) | {slowest: 0.3}
    latencies = np.full(100, 5, np.float32)
    stats = statistics.interval(Stats(CPU, 0.5, latencies, {"decode": 500.0}, busy, feeding))
    assert stats.bottleneck == bottleneck
    assert stats.busy == {stage: total / 100 for stage, total in busy.items()}
    statistics.interval(Stats(CPU, 0.5, np.zeros(0, np.float32), {}, {}, {"decode": 10.0}))  # without a frame there is no bottleneck
    statistics.interval(Stats(CPU, 0.5, latencies, {"decode": 500.0}, busy, feeding))
    assert statistics.final().bottleneck == bottleneck
    assert statistics.final().busy == stats.busy


def test_a_device_that_did_nothing_has_no_figures() -> None:
    final = DeviceStatistics(CPU).final()
    assert (final.frames, final.frames_per_second, final.latency_p50, final.latency_p99) == (0, 0.0, None, None)
