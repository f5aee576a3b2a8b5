"""The figures of a run's sources and devices, as ``framefleet detect --json`` prints them."""

from typing import Any

from framefleet.engine.pool.events import DeviceStats
from framefleet.engine.pool.progress import SourceProgress
from framefleet.engine.store.names import readable_name
from framefleet.engine.types import EngineInfo


def source_figures(source: SourceProgress) -> dict[str, Any]:
    """The figures of a source."""
    ledger = source.ledger
    return {
        "path": readable_name(str(source.path)),
        "frames": {
            "decoded": ledger.decoded,
            "inferred": ledger.inferred,
            "skipped": ledger.skipped,
            "dropped": sum(ledger.dropped.values()),
            "failed": sum(ledger.failed.values()),
        },
        "decoder": source.decoder.name,
        "decoder_reason": source.decoder.reason,
        "seconds": round(source.seconds, 3),
        "fps": round((ledger.inferred - source.before) / source.seconds, 2) if source.seconds else 0.0,
    }


def device_figures(engine: EngineInfo, stats: DeviceStats | None) -> dict[str, Any]:
    """The figures of a device. stats: None if it has inferred nothing."""
    stats = stats or DeviceStats(engine.device, 0, 0.0, None, None)
    latency = {"p50": stats.latency_p50, "p99": stats.latency_p99}
    return {
        "id": str(engine.device),
        "name": engine.device_name,
        "backend": engine.backend,
        "precision": engine.precision,
        "frames": stats.frames,
        "fps": round(stats.frames_per_second, 2),
        "latency_ms": {name: None if value is None else round(value, 2) for name, value in latency.items()},
    }
