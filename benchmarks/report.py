"""Writes the result of a benchmark: its figures, the machine, the versions and the command."""

from __future__ import annotations

import os
import platform
import re
import shlex
import sys
from collections.abc import Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

LOAD = os.getloadavg()[0]
"""Load average of the machine before the benchmark."""

RESULTS = Path(__file__).resolve().parent / "results"


def machine() -> str:
    """Processor, cores and system."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        name = next((line.partition(": ")[2] for line in cpuinfo.read_text().splitlines() if line.startswith("model name")), name)
    return f"{name}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def spread(values: Sequence[float], digits: int = 3) -> str:
    """The median in bold, and the range."""
    return f"**{median(values):.{digits}f}** ({min(values):.{digits}f}–{max(values):.{digits}f})"


def write(name: str, title: str, body: str, libraries: Sequence[str], page: str) -> None:
    """Print a result, and put it into its page: it replaces the section of the same title, or the whole page if that has the title.

    Parameters
    ----------
    name : str
        Of the script's module, such as "gpu.host".
    title : str
        The heading.
    body : str
        Markdown. Headings inside begin with two or more ``#``.
    libraries : sequence of str
        Their versions are stated where they are installed.
    page : str
        The file's name in ``results``, without ``.md``.
    """
    versions = ", ".join(filter(None, map(_version, libraries)))
    arguments = [Path(argument).name if Path(argument).exists() else argument for argument in sys.argv[1:]]
    command = shlex.join(["python", "-m", f"benchmarks.{name}", *arguments])
    facts = f"{date.today()}; {machine()}, load {LOAD:.1f} before; Python {platform.python_version()}, {versions}"
    text = f"# {title}\n\n{facts}\n\n`{command}`\n\n{body.strip()}\n"
    print(text)
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{page}.md"
    file.write_text(put_section(file.read_text() if file.exists() else "", title, text))


def put_section(page: str, title: str, text: str) -> str:
    """The page with a new section.

    Parameters
    ----------
    page : str
        The page until now, "" if there is none.
    title : str
        The section's heading.
    text : str
        The section, which begins with ``# TITLE``. Below the page's own title, all its headings get one ``#`` more.
    """
    if not page or page.startswith(f"# {title}\n"):
        return text
    section = re.sub(r"^(#+ )", r"#\1", text, flags=re.MULTILINE)
    parts = re.split(r"^(?=## )", page.rstrip("\n") + "\n\n", flags=re.MULTILINE)
    kept = [part for part in parts if not part.startswith(f"## {title}\n")]
    place = next((number for number, part in enumerate(parts) if part.startswith(f"## {title}\n")), len(kept))
    return "".join([*kept[:place], f"{section.rstrip()}\n\n", *kept[place:]]).rstrip("\n") + "\n"


def _version(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return ""
