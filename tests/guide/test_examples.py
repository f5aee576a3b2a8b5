"""Every command on the guide's pages and in the README is one that the program accepts, also those that need a network or a display.

The pages also run as they are printed: see the other modules of this folder, ``tests/app/cli/`` for the pages about evaluating and about
part of a video, and ``tests/gpu/test_guide.py``. Pages link to files that exist.
"""

from __future__ import annotations

import argparse
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from framefleet.app.main import COMMANDS
from tests.support.guide import GUIDE, lines
from tests.support.paths import PROJECT

PAGES = [PROJECT / "README.md", *sorted(GUIDE.glob("*.md"))]
SYNOPSIS = re.compile(r"[A-Z]{4,}…|\[--")
"""What only the summary of a command's options contains."""


class ParsedError(Exception):
    """The options of a command are accepted."""


EXAMPLES = [(page.name, command) for page in PAGES for command in lines(page, "framefleet") if not SYNOPSIS.search(command)]


@pytest.mark.parametrize(("page", "command"), EXAMPLES)
def test_an_example_is_accepted(page: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parse = argparse.ArgumentParser.parse_args

    def parse_and_stop(self: argparse.ArgumentParser, *arguments: object) -> None:
        parse(self, *arguments)  # type: ignore[call-overload]
        raise ParsedError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_and_stop)
    written = command.replace("$SLURM_ARRAY_TASK_ID", "2").replace("ADDRESS", "rtsp://camera/stream")
    arguments = shlex.split(written, comments=True)[1:]
    module = import_module(f"framefleet.app.cli.{arguments.pop(0) if arguments[0] in COMMANDS else 'window'}")
    with pytest.raises(ParsedError):
        module.run(arguments)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_pictures_are_small(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
            assert not target.startswith("pictures/") or (page.parent / target).stat().st_size < 150_000, target
