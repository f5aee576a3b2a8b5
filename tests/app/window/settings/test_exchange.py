import json
from pathlib import Path
from typing import Any

import pytest

from framefleet.app.window.settings.exchange import read_settings, write_settings
from framefleet.engine.errors import ExportError, UsageError
from framefleet.engine.settings import Parallel, Precision
from framefleet.engine.settings.kinds import Moments
from framefleet.engine.settings.table import DEFAULTS
from tests.support.window import CPU

CHANGED = DEFAULTS | {"devices": (CPU,), "parallel": Parallel.FRAMES, "precision": Precision.FP32, "batch": 4, "confidence": 0.355,
                      "begin": Moments().read("1:30"), "full_frame": False}  # fmt: skip


def test_another_machine_reads_what_was_written(tmp_path: Path) -> None:
    write_settings(tmp_path / "settings.json", CHANGED, {"theme": "light", "language": "de"})
    values, window = read_settings(tmp_path / "settings.json")
    assert values == CHANGED
    assert window == {"theme": "light", "language": "de"}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"file": "a recipe"}, "has no settings of Framefleet"),
        ({"version": 2}, "has version 2, and this Framefleet reads version 1"),
        ({"settings": ["fp32"]}, "is damaged"),
        ({"settings": {"precision": 3}}, "is damaged"),
        ({"window": None}, "is damaged"),
        ({"settings": {"colour": "red"}}, "has the unknown setting 'colour'"),
        ({"settings": {"precision": "fp8"}}, "setting 'precision': 'fp8' is unknown; choose from: auto, fp32"),
        ({"settings": {"confidence": "2"}}, "setting 'confidence': '2' cannot be used"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    path = tmp_path / "settings.json"
    write_settings(path, DEFAULTS, {})
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(UsageError) as refused:
        read_settings(path)
    assert str(path) in str(refused.value)
    assert problem in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[1]", b"{", b"x" * 2_000_000])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(UsageError, match="has no settings of Framefleet"):
        read_settings(tmp_path / "a.json")


def test_a_missing_file_and_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_settings(tmp_path / "none.json")
    with pytest.raises(ExportError, match="cannot write"):
        write_settings(tmp_path / "none" / "a.json", DEFAULTS, {})
