"""Describes the events of a run as text, without what depends on timing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from framefleet.engine.pool.events import Event


def name_of(event: Event) -> str:
    """The name of an event's type."""
    return type(event).__name__


def describe_events(events: Iterable[Event]) -> list[str]:
    """The events of the run, of each device and of each source, each in order.

    How these three interleave depends on timing, and so does how many frames one event holds: events of the same source in a row are
    one line. Statistics are left out but for the final ones.
    """
    parts: dict[str, list[str]] = {"run": []}
    for event in events:
        name, part, facts = name_of(event), "run", ""
        if name == "DeviceStats" and not event.final:
            continue
        match name:
            case "StrategyChosen":
                facts = event.strategy
            case "DeviceReady":
                engine = event.engine
                part, facts = f"device {engine.device}", f"{engine.precision} {engine.width}×{engine.height}"
            case "DeviceStats":
                part, facts = f"device {event.device}", "final"
            case "SourceOpened":
                info = event.info
                part = f"source {event.source}"
                facts = f"{Path(info.path).name} {info.kind} {info.codec} {info.width}×{info.height} {info.frames} frames"
            case "FramesDone":
                part = f"source {event.source}"
            case "SourceFinished":
                ledger = event.ledger
                counts = [
                    ledger.decoded,
                    ledger.inferred,
                    *({str(reason): n for reason, n in each.items()} for each in (ledger.dropped, ledger.failed)),
                ]
                part = f"source {event.source}"
                facts = f"{json.dumps(counts)} {'error' if event.error else 'no error'}{', cancelled' if event.cancelled else ''}"
            case "DeviceStarting":
                part, facts = f"device {event.device}", f"attempt {event.attempt}" if event.attempt > 1 else ""
            case "DeviceFailed":
                part, facts = f"device {event.device}", f"{event.message!s}; restarting: {event.restarting}"
            case _:
                part = f"device {event.device}"
        line = f"  {name} {facts}".rstrip()
        lines = parts.setdefault(part, [])
        if not lines or lines[-1] != line:
            lines.append(line)
    return [line for part in sorted(parts) for line in (part, *parts[part])]
