"""Children of these tests start as those of the program do."""

import pytest

from framefleet.engine.processes import child
from tests.support.running import fork_server


@pytest.fixture(autouse=True)
def _spawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "CONTEXT", fork_server.SPAWN)
