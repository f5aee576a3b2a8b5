"""The wheel beside a package that also calls its folders ``app`` and ``engine``: neither program disturbs the other."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.paths import PROJECT

NEIGHBOUR = {
    "app/__init__.py": "",
    "app/main.py": "def main():\n    print('the neighbour')\n",
    "engine/__init__.py": "",
    "neighbour-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: neighbour\nVersion: 1\n",
    "neighbour-1.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "neighbour-1.dist-info/entry_points.txt": "[console_scripts]\nneighbour = app.main:main\n",
}
"""The files of the other wheel."""


def run(*command: str | Path, **environment: str) -> str:
    """What a program prints; the test fails if the program does."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, env=kept | environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def pip(*arguments: str | Path) -> None:
    """Run pip without a network."""
    run(sys.executable, "-m", "pip", *arguments, PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INDEX="1")


def build(project: Path, wheels: Path) -> Path:
    """Build the wheel of a project."""
    pip("wheel", "-q", "--no-deps", "--no-build-isolation", "-w", wheels, project)
    (wheel,) = wheels.iterdir()
    return wheel


def write_neighbour(folder: Path) -> Path:
    """Write the wheel of the other package."""
    wheel = folder / "neighbour-1-py3-none-any.whl"
    record = "neighbour-1.dist-info/RECORD"
    with ZipFile(wheel, "w") as archive:
        for name, content in (*NEIGHBOUR.items(), (record, "".join(f"{each},,\n" for each in (*NEIGHBOUR, record)))):
            archive.writestr(name, content)
    return wheel


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the wheel is made of, so that the build leaves nothing in the checkout."""
    copy = tmp_path / "checkout"
    copy.mkdir()
    names = ("app", "engine", "plugins", "resources", "src", "pyproject.toml", "README.md")
    run("cp", "-a", *(PROJECT / name for name in names), copy)
    return copy


@pytest.mark.slow
def test_the_wheel_and_a_package_of_the_same_folders(checkout: Path, tmp_path: Path) -> None:
    wheels = [build(checkout, tmp_path / "wheels"), write_neighbour(tmp_path)]
    neighbour = tmp_path / "neighbour"
    with ZipFile(wheels[1]) as archive:
        archive.extractall(neighbour)

    venv.create(tmp_path / "venv", symlinks=True)
    bin_folder = tmp_path / "venv" / "bin"
    site = Path(run(bin_folder / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
    # The libraries of this environment, without the lines of its .pth files: these name this checkout.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip("--python", bin_folder / "python", "install", "-q", "--no-deps", "--no-compile", "--force-reinstall", *wheels)

    assert sorted(path.name for path in site.iterdir() if path.name in ("app", "engine", "plugins", "resources", "framefleet")) == [
        "app",
        "engine",
        "framefleet",
    ]
    version = run(bin_folder / "framefleet", "--version")
    assert "framefleet" in version.lower()
    assert run(bin_folder / "neighbour") == "the neighbour"
    assert run(bin_folder / "framefleet", "--version", PYTHONPATH=str(neighbour)) == version
    assert "cpu:0" in run(bin_folder / "framefleet", "devices", PYTHONPATH=str(neighbour))

    pip("--python", bin_folder / "python", "uninstall", "-q", "-y", "neighbour")
    assert run(bin_folder / "framefleet", "--version") == version
