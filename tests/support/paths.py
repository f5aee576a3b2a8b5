"""Where this checkout is, and where programs that a test starts find its packages."""

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PYTHONPATH = os.pathsep.join((str(PROJECT / "src"), str(PROJECT)))

PATIENCE_MS = 30_000
"""The longest that a test waits for something that other programs may delay."""
