"""What a node says about its network."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from framefleet.engine.cluster import agent
from framefleet.engine.cluster.agent import INTERVAL_SECONDS, NodeTelemetry


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(agent, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def count(network: Path, card: str, rx: int, tx: int, physical: bool = True) -> None:
    folder = network / card / "statistics"
    folder.mkdir(parents=True, exist_ok=True)
    if physical:
        (network / card / "device").mkdir(exist_ok=True)
    for way, value in (("rx", rx), ("tx", tx)):
        (folder / f"{way}_bytes").write_text(f"{value}\n")


def traffic(telemetry: NodeTelemetry) -> tuple[float | None, float | None]:
    measured = telemetry.take()
    assert measured is not None
    return measured.rx, measured.tx


def test_the_network_cards_of_the_machine_are_measured_and_virtual_ones_left_out(tmp_path: Path, clock: list[float]) -> None:
    count(tmp_path, "eth0", 1000, 500)
    count(tmp_path, "eth1", 0, 0)
    count(tmp_path, "docker0", 0, 0, physical=False)
    telemetry = NodeTelemetry(tmp_path)
    telemetry.know(())
    assert telemetry.take() is None, "no one wants it"
    telemetry.want(True)
    assert telemetry.take() is None, "it is too early"
    count(tmp_path, "eth0", 3000, 600)
    count(tmp_path, "eth1", 500, 0)
    count(tmp_path, "docker0", 10**6, 10**6, physical=False)
    clock[0] += 2
    assert traffic(telemetry) == (1250.0, 50.0)
    clock[0] += INTERVAL_SECONDS
    assert traffic(telemetry) == (0.0, 0.0)
    telemetry.close()
    clock[0] += 2
    assert telemetry.take() is None


def test_a_container_has_only_virtual_cards(tmp_path: Path) -> None:
    count(tmp_path, "lo", 10**6, 10**6, physical=False)
    count(tmp_path, "eth0", 300, 200, physical=False)
    assert NodeTelemetry(tmp_path).count() == (300, 200)
    assert NodeTelemetry(tmp_path / "none").count() == (None, None), "the system does not say"
