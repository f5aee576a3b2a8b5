"""``./run``: what it tells about the installation."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import PROJECT

PYTHON = """#!/bin/sh
[ "$2 $3" != "pip install" ] || echo "$@" >> "${0%/*}/installed"
"""
"""In place of Python: it notes what pip would install."""


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_shows_the_progress_of_pip(tmp_path: Path, terminal: bool) -> None:
    for name in ("run", "pyproject.toml", "requirements.lock", "requirements-rtx.lock"):
        shutil.copy(PROJECT / name, tmp_path)
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, content in (("python", PYTHON), ("framefleet", "#!/bin/sh\n")):
        (programs / name).write_text(content)
        (programs / name).chmod(0o755)
    screen, errors = pty.openpty() if terminal else os.pipe()
    try:
        subprocess.run(["sh", tmp_path / "run"], check=True, stderr=errors)
        assert b"850 MB" in os.read(screen, 1000)
    finally:
        os.close(screen)
        os.close(errors)
    libraries, own = (programs / "installed").read_text().splitlines()
    assert libraries.startswith("-m pip install --disable" if terminal else "-m pip install -q")
    assert own.startswith("-m pip install -q")
