"""Creates the backend of a group."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from engine.pool.groups.group import Group
from engine.pool.groups.tiles import TilesBackend
from engine.pool.protocol import Failed, Member, Setup
from engine.processes.watchdog import Watchdog
from engine.settings import Parallel


def create_group(setup: Setup, report: Callable[[Member], None], die: Callable[[Failed], NoReturn], watchdog: Watchdog) -> Group:
    """The backend for a group's setup, not yet activated. report, die, watchdog: see ``MemberPool``."""
    return (TilesBackend if setup.parallel is Parallel.TILES else Group)(setup, report, die, watchdog)
