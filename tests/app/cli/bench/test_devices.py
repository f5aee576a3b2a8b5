from __future__ import annotations

import pytest

from tests.support.cli import run_main

SMALL = ("--devices", "cpu:0,cpu:1", "--repetitions", "2", "--largest", "2")


def test_json() -> None:
    run = run_main("bench", "devices", *SMALL, "--json")
    assert run.status == 0, run.err
    report = run.report
    assert [device["id"] for device in report["devices"]] == ["cpu:0", "cpu:1"]
    assert report["verdict"]["healthy"] is True
    product = [one for one in report["measurements"] if one["test"] == "product"]
    assert [one["devices"] for one in product] == [["cpu:0"], ["cpu:0", "cpu:1"]]
    assert product[0]["speedup"] is None
    assert product[1]["speedup"] == pytest.approx(product[0]["ms"]["median"] / product[1]["ms"]["median"], rel=0.01)
    assert set(product[1]["ms"]) == {"repetitions", "median", "p5", "p95", "variance"}


def test_tables() -> None:
    run = run_main("bench", "devices", *SMALL)
    assert run.status == 0, run.err
    assert "matrix · vector, columns shared" in run.out
    assert run.out.splitlines()[-1].startswith("everything could be measured")
    assert "sum: cpu:0, cpu:1" in run.err


def test_a_device_that_is_not_there_is_a_finding_that_names_it_once() -> None:
    pytest.importorskip("cuda.core", reason="the libraries for GPUs are not installed")
    run = run_main("bench", "devices", "--devices", "cuda:99", "--repetitions", "2", "--largest", "2")
    assert run.status == 1
    assert run.err.count("cuda:99") == 1
    assert "no NVIDIA GPU or driver here" in run.err or "'framefleet devices' lists yours" in run.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--repetitions", "many"], "'many' cannot be used: give a whole number from 1"),
        (["--repetitions", "1"], "a variance needs at least 2 repetitions, not 1"),
        (["--devices", "openvino:GPU.0"], "no device benchmarks for openvino:GPU.0"),
    ],
)
def test_unusable_options(arguments: list[str], message: str) -> None:
    run = run_main("bench", "devices", *arguments)
    assert run.status == 2
    assert message in run.err
