"""The reason why a process ended, and the limit of restarts."""

from __future__ import annotations

import signal

import pytest

from framefleet.engine.processes.outcome import Failed, Outcome
from framefleet.engine.processes.restart_budget import RESTART_SECONDS, RESTARTS, RestartBudget


@pytest.mark.parametrize(
    ("outcome", "reason", "crashed", "retry"),
    [
        (Outcome(-signal.SIGKILL), "the worker was killed (SIGKILL)", True, True),
        (Outcome(-signal.SIGSEGV, name="the preview"), "the preview crashed (SIGSEGV)", True, True),
        (Outcome(-signal.SIGTERM), "the worker was terminated (SIGTERM)", True, True),
        (Outcome(-250), "the worker crashed (signal 250)", True, True),
        (Outcome(3), "the worker ended unexpectedly with status 3", True, True),
        (Outcome(None), "the worker did not end", True, True),
        (Outcome(1, Failed("no such model", retry=False)), "no such model", False, False),
        (Outcome(1, Failed("it hung", retry=True)), "it hung", False, True),
    ],
)
def test_an_outcome_says_what_happened(outcome: Outcome, reason: str, crashed: bool, retry: bool) -> None:
    assert outcome.reason.startswith(reason)
    assert outcome.crashed is crashed
    assert outcome.retry is retry


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
