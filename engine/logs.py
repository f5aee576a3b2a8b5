"""Log messages of this process and of the processes that it starts, on standard error."""

from __future__ import annotations

import logging
import os

VARIABLE = "FRAMEFLEET_LOG"
"""The environment variable that hands the level to child processes: "INFO" or "DEBUG"."""
PACKAGES = ("app", "engine", "plugins")
FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"


def set_level(level: str) -> None:
    """Show messages from this level on, also those of child processes that start later. level: "INFO" or "DEBUG"."""
    os.environ[VARIABLE] = level
    follow_environment()


def follow_environment() -> None:
    """Show messages of PACKAGES from the level on that VARIABLE names. Every child process calls this; without VARIABLE it does nothing."""
    level = os.environ.get(VARIABLE, "").upper()
    if level not in ("INFO", "DEBUG"):
        return
    logging.basicConfig(format=FORMAT)
    for name in PACKAGES:
        logging.getLogger(name).setLevel(level)
    logging.getLogger(__name__).info("process %d", os.getpid())
