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
from string import Formatter

from framefleet.app.window.devices.figures import ORDER
from framefleet.app.window.widgets.formats import COUNTED
from framefleet.app.window.widgets.translation import FOLDER, LANGUAGES
from framefleet.engine import notices
from framefleet.engine.devices.topology import LEVELS, Kind
from framefleet.engine.model.registry.catalogue import FAMILY
from framefleet.engine.settings.kinds import Choice, Number
from framefleet.engine.settings.table import SETTINGS, Section
from framefleet.engine.store.exporters import EXPORTERS

PROJECT = Path(__file__).resolve().parents[1]


def engine_texts() -> Iterator[tuple[str, str]]:
    """Texts of the engine's tables that the window shows, each with its context."""
    texts: list[str] = [*Section]
    for setting in SETTINGS:
        if setting.field is not None:
            texts += (setting.field.title, setting.field.note, setting.field.spoken, setting.field.empty, *setting.field.choices.values())
            match setting.kind:
                case Choice():
                    texts += setting.kind.titles.values()
                case Number():
                    texts.append(setting.kind.none)
    yield from (("settings", text) for text in texts)
    yield from (("exporters", text) for exporter in EXPORTERS.values() for text in (exporter.title, exporter.purpose))
    yield from (("topology", text) for text in (*LEVELS.values(), *Kind))
    yield from (("stages", name) for name in ORDER)
    yield from (("models", text) for entry in FAMILY for text in (entry.note, entry.published_speed, entry.purpose.capitalize()))
    yield from (("engine", text) for text in notice_texts())


def notice_texts() -> Iterator[str]:
    """The texts of the engine's notices with their placeholders: both forms of a text with a plural. Values alone need no translation."""
    for text in notices.texts().values():
        for form in (text,) if isinstance(text, str) else text:
            if any(letter.isalpha() for literal, *_ in Formatter().parse(form) for letter in literal):
                yield form


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def window_texts() -> Iterator[tuple[str, str, bool]]:
    """Texts of the window's code: context, text, and whether it has plural forms.

    lupdate would skip calls whose arguments are longer expressions, so the calls are found in Python's own syntax trees.

    Raises
    ------
    ValueError
        A text is no literal.
    """
    for path in sorted((PROJECT / "app" / "window").rglob("*.py")):
        tree = ast.parse(path.read_text())
        inside = {call: part.name for part in ast.walk(tree) if isinstance(part, ast.ClassDef) for call in ast.walk(part)}
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call):
                continue
            name = _name(call)
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
            compiled = source.with_suffix(".qm.new")
            _run("lrelease", "-silent", str(source), "-qm", str(compiled))
            compiled.replace(source.with_suffix(".qm"))  # a window maps the file into memory


def _run(program: str, *arguments: str) -> None:
    subprocess.run([Path(sys.executable).with_name(f"pyside6-{program}"), *arguments], check=True)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    update(FOLDER)
