"""What the engine tells a person: codes, fields and texts agree, and notices survive pickling and storage."""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from types import SimpleNamespace

import pytest

from framefleet.engine.notices import Notice, Option, SourceError, Text, install_extra, render
from framefleet.engine.notices.tables import PARTS, TEXTS
from tests.support.paths import PROJECT, PYTHONPATH, nodes_of, syntax_tree
from tests.support.running import codes

FOLDERS = ("app", "engine", "plugins")


def placeholders(text: Text) -> set[str]:
    """The fields that a text needs."""
    forms = (text,) if isinstance(text, str) else text
    names = {name.partition(".")[0] for form in forms for _, name, *_ in Formatter().parse(form) if name}
    return names if isinstance(text, str) else names | {"count"}


def calls() -> Iterator[tuple[str, str, set[str] | None]]:
    """Each place in the code that makes a notice: the place, the code, and the names of the fields (None: passed as ``**``)."""
    for folder in FOLDERS:
        for path in sorted((PROJECT / folder).rglob("*.py")):
            for node in nodes_of(syntax_tree(path)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Notice" and node.args:
                    first = node.args[0]
                    # a code may be chosen: Notice("a.b" if … else "a.c", …)
                    chosen = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
                    fields = None if any(each.arg is None for each in node.keywords) else {str(each.arg) for each in node.keywords}
                    for each in chosen:
                        if isinstance(each, ast.Constant):
                            yield f"{path.relative_to(PROJECT)}:{node.lineno}", str(each.value), fields


def test_every_notice_has_a_text_with_its_fields() -> None:
    wrong = []
    for place, code, fields in calls():
        if code not in TEXTS:
            wrong.append(f"{place}: no text for {code}")
        elif fields is not None and fields != placeholders(TEXTS[code]):
            wrong.append(f"{place}: {code} needs {sorted(placeholders(TEXTS[code]))}, not {sorted(fields)}")
    assert not wrong, "\n".join(wrong)


def test_every_text_is_used() -> None:
    source = "\n".join(path.read_text() for folder in FOLDERS for path in (PROJECT / folder).rglob("*.py") if "notices" not in path.parts)
    assert [code for code in TEXTS if f'"{code}"' not in source and not code.startswith("general.")] == []


def test_a_code_begins_with_its_part() -> None:
    for name, part in PARTS.items():
        assert [code for code in part if not code.startswith(f"{name}.")] == []


NESTED = Notice(
    "general.several", parts=Notice("general.detail", detail="No such file"), path=Path("a b.mp4"), option=Option("every", "5"), n=3
)


def test_a_notice_is_a_value() -> None:
    assert pickle.loads(pickle.dumps(NESTED)) == NESTED
    assert Notice.from_json(NESTED.as_json()) == NESTED
    assert len({NESTED, Notice.from_json(NESTED.as_json())}) == 1
    assert Notice("general.detail", detail="a") != Notice("general.detail", detail="b")


@pytest.mark.parametrize("wrong", [None, [], ["general.detail"], ["general.detail", {"detail": {"path": 3}}], {"code": "general.detail"}])
def test_something_else_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="not a"):
        Notice.from_json(wrong)


def test_texts_and_fields_are_rendered() -> None:
    assert str(NESTED) == "No such file"
    assert str(Notice("general.several", parts=("a", "b"))) == "a, b"
    assert str(Notice("general.several", parts=(NESTED, NESTED))) == "No such file; No such file"
    assert str(Notice("general.several", parts=Option("restart"))) == "--restart"
    assert render(NESTED, lambda text: f"<{text}>", lambda _: "x") == "<x>"
    assert "unknown.code" in str(Notice("unknown.code", path=Path("a")))


def test_an_error_carries_a_notice() -> None:
    error = pickle.loads(pickle.dumps(SourceError(NESTED)))
    assert error.notice == NESTED
    assert str(error) == "No such file"


def test_what_is_missing_is_installed_where_framefleet_came_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """This machine's metadata say: from a folder, from a wheel, or nothing."""
    wheel = tmp_path / "framefleet-1.whl"
    for url, code in ((tmp_path.as_uri(), "general.install"), (wheel.as_uri(), "general.install"), ("", "general.install_wheel")):
        text = f'{{"url": "{url}"}}' if url else None
        monkeypatch.setattr("importlib.metadata.distribution", lambda _, text=text: SimpleNamespace(read_text=lambda __: text))
        said = install_extra("parquet")
        assert said.code == code
        assert "[parquet]'" in str(said)
        assert (" -e " in str(said)) == (url == tmp_path.as_uri())


def test_codes_that_tests_cannot_make_appear_exist() -> None:
    assert sorted(codes.ELSEWHERE - TEXTS.keys()) == []


def test_codes_are_recorded_that_the_program_makes(tmp_path: Path) -> None:
    script = "from tests.support.running import codes; codes.record(); from framefleet.engine.media import sources; "
    script += "sources.missing(codes.Path('a'))"
    (tmp_path / "codes").touch()
    environment = {**os.environ, codes.VARIABLE: str(tmp_path / "codes"), "PYTHONPATH": PYTHONPATH}
    subprocess.run([sys.executable, "-c", script], check=True, cwd=PROJECT, env=environment)
    assert (tmp_path / "codes").read_text() == "general.missing\n"
    assert "general.missing" not in codes.missing(tmp_path / "codes")
    assert "media.empty_file" in codes.missing(tmp_path / "codes")
