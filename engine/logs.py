"""Log messages of this process and its child processes, on standard error."""

import logging
import os

from framefleet.engine.notices import printable

VARIABLE = "FRAMEFLEET_LOG"
"""Environment variable that passes the log level to child processes: "INFO" or "DEBUG"."""
PACKAGE = "framefleet"
FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"


class _OneLine(logging.Formatter):
    """A file name in a message cannot begin another line."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return printable(super().formatMessage(record))


def set_level(level: str) -> None:
    """Show messages of at least this level, also from child processes that start later. level: "INFO" or "DEBUG"."""
    os.environ[VARIABLE] = level
    follow_environment()


def follow_environment() -> None:
    """Set the level of PACKAGE from VARIABLE, if it is set. Every child process calls this."""
    level = os.environ.get(VARIABLE, "").upper()
    if level not in ("INFO", "DEBUG"):
        return
    logging.basicConfig(format=FORMAT)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_OneLine(FORMAT))
    logging.getLogger(PACKAGE).setLevel(level)
    logging.getLogger(__name__).info("process %d", os.getpid())
