from __future__ import annotations

import json

import pytest

from tests.support.cli import TINY, run_main


def test_the_contract() -> None:
    options = ("--devices", "cpu:0", "--precision", "fp32", "--size", "96,64", "--batch", "1,3", "--seconds", "0.1")
    run = run_main("bench", "model", *TINY, *options, "--json")
    assert run.status == 0, run.err
    results = json.loads(run.out.splitlines()[-1])["results"]
    assert [(result["size"], result["batch"]) for result in results] == [(96, 1), (96, 3), (64, 1), (64, 3)]
    for result in results:
        assert list(result) == ["device", "backend", "precision", "size", "batch", "images_per_s", "latency_ms"]
        assert (result["device"], result["precision"]) == ("cpu:0", "fp32")
        assert result["images_per_s"] > 0
        assert 0 < result["latency_ms"]["p50"] <= result["latency_ms"]["p99"]


def test_table_and_reason() -> None:
    run = run_main("bench", "model", *TINY, "--seconds", "0.1")
    assert run.status == 0, run.err
    header, row = run.out.splitlines()
    assert header.split()[:5] == ["device", "backend", "precision", "size", "batch"]
    assert row.startswith("cpu:0 ")
    assert "cpu:0: " in run.err


def test_what_can_be_measured_is_named() -> None:
    assert "what should be measured? Choose from: model, pipeline, scaling, devices" in run_main("bench").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["everything"], "'everything' is unknown; choose from: model, pipeline, scaling, devices"),
        (["model", "--batch", "0"], "argument --batch: '0' is not a list of numbers"),
        (["model", "--seconds", "soon"], "argument --seconds: 'soon' cannot be used: give a number of seconds"),
        (["model", "--size", "100"], "multiples of 32"),
        (["model", "--devices", "openvino:GPU.9", "--seconds", "0.1"], "openvino:GPU.9"),
    ],
)
def test_unusable_options(arguments: list[str], message: str) -> None:
    run = run_main("bench", *arguments, *TINY)
    assert run.status == 2
    assert message in run.err
