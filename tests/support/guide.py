"""The examples on the guide's pages."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.support.cli import TINY, run_main
from tests.support.paths import PROJECT

GUIDE = PROJECT / "docs" / "guide"


def blocks(page: Path) -> list[tuple[str, str]]:
    """The kind ("" if none is given) and the content of each block on a page."""
    return re.findall(r"^```(\w*)\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def lines(page: Path, *programs: str) -> list[str]:
    """The commands in a page's blocks that begin with one of ``programs``, without prompts."""
    found = (line.removeprefix("$ ") for _, content in blocks(page) for line in content.splitlines())
    return [line for line in found if line.partition(" ")[0] in programs]


def commands(page: Path, *programs: str) -> list[list[str]]:
    """The words of these commands, without the program and without comments. programs: none = ``framefleet``."""
    found = [shlex.split(line, comments=True)[1:] for line in lines(page, *programs or ("framefleet",))]
    assert found
    return found


ON_DEVICES = [words for name in ("several-devices", "nvidia-gpus", "measuring") for words in commands(GUIDE / f"{name}.md")]
"""The commands of the pages that are about devices."""

SHORT = {
    "model": ("--seconds", "0.1"),
    "scaling": ("--seconds", "0.3", "--mode", "strong"),
    "devices": ("--repetitions", "2", "--largest", "2"),
}
"""Options that make measurements short."""


def follow_on_devices(words: list[str], *more: str) -> None:
    """Run one of these commands in the working folder, with the tests' small model. more: options for commands with a model."""
    options = [part for word in words for part in ((TINY[1], *TINY[2:], *more) if word == "yolov4" else (word,))]
    run = run_main(*options, *(SHORT.get(words[1], ()) if words[0] == "bench" else ()))
    # doctor finds what this machine lacks; for 2 MB, several GPUs may need longer than one
    assert run.status == 0 or words in (["doctor"], ["bench", "devices"]), run.err
    assert run.out
