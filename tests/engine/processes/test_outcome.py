"""The reason why a process ended, and the limit of restarts."""

from __future__ import annotations

import errno
import resource
import signal

import pytest

from framefleet.engine.notices import DeviceError, Notice, literal
from framefleet.engine.processes.outcome import (
    LACK_STATUS,
    RESTART_SECONDS,
    RESTARTS,
    Failed,
    Outcome,
    RestartBudget,
    address_space_is_short,
    lack_of_resources,
)
from tests.support.notices import words


@pytest.mark.parametrize(
    ("outcome", "reason", "crashed", "retry"),
    [
        (Outcome(-signal.SIGKILL), "the worker was killed (SIGKILL)", True, True),
        (Outcome(-signal.SIGSEGV, name=words("the preview")), "the preview crashed (SIGSEGV)", True, True),
        (Outcome(-signal.SIGTERM), "the worker was terminated (SIGTERM)", True, True),
        (Outcome(-250), "the worker crashed (signal 250)", True, True),
        (Outcome(3), "the worker ended unexpectedly with status 3", True, True),
        (Outcome(None), "the worker did not end", True, True),
        (Outcome(1, Failed(words("no such model"), retry=False)), "no such model", False, False),
        (Outcome(1, Failed(words("it hung"), retry=True)), "it hung", False, True),
    ],
)
def test_an_outcome_says_what_happened(outcome: Outcome, reason: str, crashed: bool, retry: bool) -> None:
    assert str(outcome.reason).startswith(reason)
    assert outcome.crashed is crashed
    assert outcome.retry is retry


@pytest.mark.parametrize(
    ("outcome", "external"),
    [
        (Outcome(-signal.SIGKILL), True),
        (Outcome(-signal.SIGTERM), True),
        (Outcome(-signal.SIGSEGV), False),
        (Outcome(-signal.SIGABRT), False),
        (Outcome(3), False),
        (Outcome(-signal.SIGKILL, Failed(words("it hung, and was killed for that"), retry=True)), False),
        (Outcome(1, Failed(words("no memory is left"), retry=True, external=True)), True),
    ],
)
def test_who_ended_a_process(outcome: Outcome, external: bool) -> None:
    assert outcome.external is external


def test_a_crash_under_a_limit_of_memory_may_be_its_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (300 << 20, 300 << 20))
    crash = Outcome(-signal.SIGSEGV)
    assert crash.external
    assert str(crash.reason) == (
        "the worker crashed (SIGSEGV); its memory is limited to 300 MB, which may be the cause: raise the limit (ulimit -v)"
    )
    assert not Outcome(3).external


@pytest.mark.parametrize("status", [LACK_STATUS, 1, 127])
def test_under_a_limit_of_memory_what_a_library_ends_is_not_started_again(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (300 << 20, 300 << 20))
    lack = Outcome(status)
    assert lack.external
    assert not lack.retry
    assert "raise the limit (ulimit -v)" in str(lack.reason)


def test_frames_are_not_to_blame_where_almost_all_memory_of_the_process_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64 << 20, 64 << 20))
    assert address_space_is_short()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 50, 1 << 50))
    assert not address_space_is_short()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert not address_space_is_short()


def test_a_lack_is_found_among_the_causes_of_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrapped(cause: BaseException) -> BaseException:
        error = DeviceError(literal("it does not work"))
        error.__cause__ = cause
        return error

    none_open = lack_of_resources(wrapped(OSError(errno.EMFILE, "Too many open files")))
    assert none_open is not None
    assert none_open.code == "processes.no_descriptors"
    no_thread = lack_of_resources(RuntimeError("can't start new thread"))
    assert no_thread is not None
    assert no_thread.code == "processes.no_threads"
    assert lack_of_resources(wrapped(ValueError("it is damaged"))) is None
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert lack_of_resources(MemoryError()) is None, "there is memory: what asked for it asked for too much"
    monkeypatch.setattr(resource, "getrlimit", lambda _: (300 << 20, 300 << 20))
    problems = (
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("x.so: failed to map segment"),
        ImportError("cannot import name 'probe' from 'framefleet.engine.media.probe'"),
        BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
        RuntimeError("can't start new thread"),
    )
    for problem in problems:
        lack = lack_of_resources(wrapped(problem))
        assert lack == Notice("processes.no_memory_left", limit=300)


def test_restarts_are_limited_in_time() -> None:
    budget = RestartBudget()
    assert all(budget.spend(float(second)) for second in range(RESTARTS))
    assert not budget.spend(RESTART_SECONDS)
    assert budget.spend(RESTART_SECONDS + 0.5)  # the first one, at 0 s, no longer counts
    assert not budget.spend(RESTART_SECONDS + 0.6)


def test_the_time_until_a_hang_was_noticed_does_not_count() -> None:
    budget = RestartBudget()
    assert [budget.spend(70.0 * turn, waited=65.0) for turn in range(RESTARTS + 1)] == [True] * RESTARTS + [False]


def test_a_budget_has_its_own_limits() -> None:
    budget = RestartBudget(1, 10.0)
    assert [budget.spend(now) for now in (0.0, 10.0, 10.5)] == [True, False, True]
