from __future__ import annotations

import json

import pytest

from tests.support.cli import run_main


def test_devices(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_main(capsys, "devices", "--json")
    assert run.status == 0
    first = json.loads(run.out)["devices"][0]
    assert (first["id"], first["available"], first["problem"]) == ("cpu:0", True, None)
    assert "fp32" in first["precisions"]
    text = run_main(capsys, "devices")
    assert text.status == 0
    assert text.out.startswith(f"cpu:0            {first['name']}, {first['cores']} cores, {first['backend']}: fp32")
