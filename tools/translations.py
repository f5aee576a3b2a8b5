"""Collects the window's texts for translation, and compiles the translations: ``python -m tools.translations``.

It updates resources/translations/framefleet_*.ts from the code and writes the .qm files that Qt reads. New texts are marked
"unfinished" in the German file: translate them there, and run this again. The English file has the plural forms only.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from app.window.devices.stage_bar import ORDER
from app.window.widgets.formats import COUNTED
from app.window.widgets.translation import FOLDER, LANGUAGES
from engine.devices.topology.tree import Kind
from engine.devices.topology.types import LEVELS
from engine.settings.kinds import Choice, Number
from engine.settings.table import SETTINGS, Section
from engine.store.exporters import EXPORTERS

PROJECT = Path(__file__).resolve().parents[1]


def engine_texts() -> Iterator[tuple[str, str]]:
    """Texts of the engine's tables that the window shows, each with its context."""
    texts: list[str] = [*Section]
    for setting in SETTINGS:
        if setting.field is not None:
            texts += (setting.field.title, setting.field.note, setting.field.spoken, setting.field.empty)
            match setting.kind:
                case Choice():
                    texts += setting.kind.titles.values()
                case Number():
                    texts.append(setting.kind.none)
    yield from (("settings", text) for text in texts)
    yield from (("exporters", text) for exporter in EXPORTERS.values() for text in (exporter.title, exporter.purpose))
    yield from (("topology", text) for text in (*LEVELS.values(), *Kind))
    yield from (("stages", name) for name in ORDER)


def window_texts() -> Iterator[tuple[str, str, bool]]:
    """Texts of the window's code: context, text, and whether it has plural forms.

    lupdate would skip calls whose arguments are longer expressions, so the calls are found in Python's own syntax trees.

    Raises:
        ValueError: a text is no literal.
    """
    for path in sorted((PROJECT / "app" / "window").rglob("*.py")):
        tree = ast.parse(path.read_text())
        inside = {call: part.name for part in ast.walk(tree) if isinstance(part, ast.ClassDef) for call in ast.walk(part)}
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call):
                continue
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            values = [argument.value if isinstance(argument, ast.Constant) else None for argument in call.args]
            if name == "tr" and values:
                values.insert(0, inside.get(call))
            if name in ("translate", "marked", "tr") and len(values) > 1 and isinstance(values[1], str):
                if not isinstance(values[0], str):
                    raise ValueError(f"{path}:{call.lineno}: the context is no literal")
                yield values[0], values[1], len(values) > 3 or any(keyword.arg == "n" for keyword in call.keywords)


def texts() -> list[tuple[str, str, bool]]:
    """All texts in order: context, text, and whether it has plural forms."""
    engine = ((context, str(text), False) for context, text in engine_texts() if text)
    return sorted({*window_texts(), *engine, *(("counts", text, True) for text in COUNTED.values())})


def update(folder: Path) -> None:
    """Write the .ts and .qm files of all languages into a folder, from the .ts files there."""
    with tempfile.TemporaryDirectory() as made:
        code = Path(made) / "texts.py"
        calls = (
            f"translate({context!r}, {json.dumps(text, ensure_ascii=False)}{', None, 1' * plural})" for context, text, plural in texts()
        )
        code.write_text("\n".join(calls), encoding="utf-8")
        for language in LANGUAGES:
            source = folder / f"framefleet_{language}.ts"
            plural = ["-pluralonly"] if language == "en" else []
            languages = ["-source-language", "en", "-target-language", language]
            _run("lupdate", "-silent", "-no-obsolete", "-locations", "none", *plural, *languages, str(code), "-ts", str(source))
            _run("lrelease", "-silent", str(source), "-qm", str(source.with_suffix(".qm")))


def _run(program: str, *arguments: str) -> None:
    subprocess.run([Path(sys.executable).with_name(f"pyside6-{program}"), *arguments], check=True)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    update(FOLDER)
