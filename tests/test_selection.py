"""With ``-k`` and one word, only the files that may have such a test are imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.running.selection import may_select


@pytest.fixture
def tests(tmp_path: Path) -> Path:
    for name, text in {"a/test_boxes.py": "def test_of_a_Frame(): ...", "b/c/test_frames.py": "", "b/d/conftest.py": ""}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("expression", "selected"),
    [
        ("test_boxes", {"a", "a/test_boxes.py"}),
        ("test_of_a", {"a", "a/test_boxes.py"}),
        (" test_OF_A_frame ", {"a", "a/test_boxes.py"}),
        ("test_frames", {"b", "b/c", "b/c/test_frames.py"}),
        ("test_nothing", set()),
    ],
)
def test_files_and_folders_that_have_the_word(tests: Path, expression: str, selected: set[str]) -> None:
    assert {str(place.relative_to(tests)) for place in tests.rglob("*") if may_select(expression, place, tests)} == selected


@pytest.mark.parametrize("expression", ["", "frames", "test_boxes or test_frames", "not test_boxes", "cpu-0.5"])
def test_any_file_may_fit_other_expressions(tests: Path, expression: str) -> None:
    assert all(may_select(expression, place, tests) for place in tests.rglob("*"))
