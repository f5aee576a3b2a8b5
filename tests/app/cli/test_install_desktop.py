"""The desktop entry can be read back, and what is written is removed again."""

from __future__ import annotations

import configparser
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from framefleet.app.cli.install_desktop import entry
from framefleet.app.main import main

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="desktop entries are for Linux")


def test_it_writes_an_entry_with_an_icon_and_removes_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for _ in range(2):
        assert main(["install-desktop"]) == 0
    desktop, icon = tmp_path / "applications/framefleet.desktop", tmp_path / "icons/hicolor/scalable/apps/framefleet.svg"
    assert f"wrote {desktop}\nwrote {icon}\n" in capsys.readouterr().out
    assert icon.read_bytes().startswith(b"<svg")
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(desktop.read_text("utf-8"))
    fields = parser["Desktop Entry"]
    assert fields["Exec"].endswith(" %F")
    done = subprocess.run([*shlex.split(fields["Exec"])[:-1], "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("framefleet ")
    assert "video/mp4;" in fields["MimeType"]
    if (checker := shutil.which("desktop-file-validate")) is not None:
        assert subprocess.run([checker, desktop], capture_output=True, check=False).stdout == b""
    assert main(["install-desktop", "--remove"]) == 0
    assert not desktop.exists()
    assert not icon.exists()


def test_a_folder_with_odd_letters_is_quoted() -> None:
    line = next(line for line in entry(['/opt/a "b" $c 100%/framefleet']).splitlines() if line.startswith("Exec="))
    assert line == r'Exec="/opt/a \\"b\\" \\$c 100%%/framefleet" %F'


def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "applications").write_text("a file")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert main(["install-desktop"]) == 2
    assert f"{tmp_path / 'applications'} cannot be changed" in capsys.readouterr().err
