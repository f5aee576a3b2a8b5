"""Which codes of notices appear while the tests run: after the whole suite, every code of ``engine/notices`` has to be among them.

The codes are lines of the file that ``VARIABLE`` names, which all processes of the tests share. Notices that tests make do not count.
"""

from __future__ import annotations

import inspect
import os
from contextlib import suppress
from pathlib import Path
from types import FrameType

import pytest

from framefleet.engine.notices import Notice
from framefleet.engine.notices.tables import TEXTS
from tests.support.paths import PROJECT

VARIABLE = "FRAMEFLEET_TEST_CODES"

ELSEWHERE = frozenset(line for line in Path(__file__).with_name("absent_codes.txt").read_text().splitlines() if line and line[0] != "#")
"""Codes that no test of this suite can make appear; the file says why."""

_TESTS = str(PROJECT / "tests")


def _made_by_a_test(frame: FrameType | None) -> bool:
    """Whether the caller of the function with this frame is a test."""
    caller = frame.f_back if frame is not None else None
    return caller is not None and caller.f_code.co_filename.startswith(_TESTS)


def record() -> None:
    """Write down the code of each notice that the program makes in this process from now on."""
    file, make = os.environ.get(VARIABLE), Notice.__init__
    if not file or make.__module__ == __name__:
        return
    seen: set[str] = set()
    # opened now: tests take files, space and rights away from the program
    codes = os.open(file, os.O_WRONLY | os.O_APPEND)

    def noted(self: Notice, code: str, /, **fields: object) -> None:
        make(self, code, **fields)
        if code not in seen and not _made_by_a_test(inspect.currentframe()):
            with suppress(OSError):
                os.write(codes, f"{code}\n".encode())
                seen.add(code)

    Notice.__init__ = noted  # type: ignore[method-assign]


def is_whole_suite(config: pytest.Config) -> bool:
    """Whether all tests run, and not a selection."""
    choices = ("keyword", "deselect", "ignore", "ignore_glob", "lf", "failedfirst", "collectonly")
    return (
        config.args == config.getini("testpaths")
        and config.getoption("markexpr") == "not slow"
        and not any(config.getoption(name, None) for name in choices)
    )


def missing(file: Path) -> list[str]:
    """The codes that have not appeared, although a test should make them appear."""
    return sorted(TEXTS.keys() - ELSEWHERE - set(file.read_text().split()))
