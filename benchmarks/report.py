"""Writes the result of a benchmark: its figures, the machine, the versions and the command."""

from __future__ import annotations

import os
import platform
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


def write(name: str, title: str, body: str, libraries: Sequence[str], result: str | None = None) -> None:
    """Print a result and store it.

    name: of the script's module, such as "gpu.host". libraries: their versions are stated where they are installed. result: the result's
    file name in ``results`` without ``.md``; None = the module's name, such as "gpu_host".
    """
    versions = ", ".join(filter(None, map(_version, libraries)))
    arguments = [Path(argument).name if Path(argument).exists() else argument for argument in sys.argv[1:]]
    command = shlex.join(["python", "-m", f"benchmarks.{name}", *arguments])
    facts = f"{date.today()}; {machine()}, load {LOAD:.1f} before; Python {platform.python_version()}, {versions}"
    text = f"# {title}\n\n{facts}\n\n`{command}`\n\n{body}\n"
    print(text)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{result or name.replace('.', '_')}.md").write_text(text)


def _version(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return ""
