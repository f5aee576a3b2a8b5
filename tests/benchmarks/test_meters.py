"""A measurement in a process of its own says how that process ended."""

import os
import signal

import pytest

from benchmarks.meters import in_new_process


def test_the_result_of_the_process_is_returned() -> None:
    assert in_new_process(divmod, 7, 2) == (3, 1)


@pytest.mark.parametrize(("end", "code", "how"), [(os._exit, 3, "with exit code 3"), (signal.raise_signal, signal.SIGKILL, "by SIGKILL")])
def test_a_process_without_a_result_says_its_exit_code_or_signal(end: object, code: int, how: str) -> None:
    with pytest.raises(ChildProcessError, match=f"{how} without its result"):
        in_new_process(end, code)  # type: ignore[arg-type]
