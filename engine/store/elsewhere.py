"""The sessions that lie outside the folder of the window's sessions: a text file there has their paths, one a line."""

from contextlib import suppress
from pathlib import Path

from framefleet.engine.settings.folders import Folder

NAME = "elsewhere.txt"
MOST = 200
"""The largest number of sessions that are listed."""


def note_session(database: Path) -> None:
    """Add a session to the list, so that the window can offer it. A folder that cannot be written leaves the list as it is."""
    folder = Folder.SESSIONS.path
    with suppress(OSError, UnicodeError):
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / NAME).open("a", encoding="utf-8") as file:
            file.write(f"{database.resolve()}\n")


def noted_sessions(folder: Path) -> list[Path]:
    """Return the sessions in the list of a folder that still exist, the last one first."""
    try:
        lines = (folder / NAME).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    known = [path for line in dict.fromkeys(reversed(lines)) if (path := Path(line)).is_file()][:MOST]
    if len(lines) > 2 * MOST:
        with suppress(OSError, UnicodeError):
            (folder / NAME).write_text("".join(f"{path}\n" for path in reversed(known)), "utf-8")
    return known
