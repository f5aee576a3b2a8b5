"""Files that comments, docstrings and pages name exist, and so do the targets of the pages' links."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.paths import PROJECT

FOLDERS = ("app", "engine", "plugins", "resources", "benchmarks", "tools", "tests", "docs")
FILES = sorted(file for folder in FOLDERS for kind in ("*.py", "*.cu", "*.md") for file in (PROJECT / folder).rglob(kind))
TEXTS = [*FILES, *PROJECT.glob("*.md")]
PAST = ("CHANGELOG.md", "docs/adr/", "benchmarks/results/")
"""Pages about earlier states: they may name files that are gone."""
EXAMPLE = "engine/backends/dummy/backend.py"
"""The file that readers of docs/add-a-backend.md write."""


def _present(file: Path) -> bool:
    return not file.relative_to(PROJECT).as_posix().startswith(PAST)


def test_named_files_exist() -> None:
    names = {file.relative_to(PROJECT).as_posix() for file in FILES}
    named = {
        (file, name)
        for file in filter(_present, TEXTS)
        for name in re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)+\.(?:py|cu|md))`", file.read_text())
    }
    missing = [f"{file}: {name}" for file, name in named if name != EXAMPLE and not any(f"/{one}".endswith(f"/{name}") for one in names)]
    assert named
    assert not missing, "\n".join(sorted(missing))


def test_links_between_pages_lead_somewhere() -> None:
    links = {
        (page, target) for page in TEXTS if page.suffix == ".md" for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    }
    missing = [f"{page}: {target}" for page, target in links if not (page.parent / target).exists()]
    assert links
    assert not missing, "\n".join(sorted(missing))
