from __future__ import annotations

import pytest

from tests.support.demo import DAY, RAIN, Still, still


@pytest.fixture(scope="session")
def rain() -> Still:
    return still(RAIN)


@pytest.fixture(scope="session")
def day() -> Still:
    return still(DAY)


@pytest.fixture(params=[pytest.param("rain", marks=pytest.mark.slow), "day"])
def street(request: pytest.FixtureRequest) -> Still:
    made: Still = request.getfixturevalue(request.param)
    return made
