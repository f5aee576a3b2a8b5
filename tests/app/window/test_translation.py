"""Every text of the window can be translated, the German translation is complete, and the window starts in German."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QLocale, QSettings
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.widgets import formats, translation
from framefleet.app.window.widgets.translation import FOLDER, LANGUAGES, translate
from tools import translations
from tools.translations import PROJECT

texts = cache(translations.texts)
"""It reads the whole code of the window."""

NAMES = {"translate", "marked", "tr"}
SHOWING = re.compile(
    "label|push_button|tool_button|setText|setToolTip|setWindowTitle|addItem|addAction|addButton|setAccessibleName|"
    "setPlaceholderText|setInformativeText|QLabel|QCheckBox|QPushButton|QAction|QMenu|PathField|combo_box|clearable|"
    "drawText|show_banner|show_message|Metric"
)
"""Functions whose texts a person sees."""
INTERNAL = re.compile(
    "setObjectName|setProperty|property|setStyleSheet|getattr|QColor|QKeySequence|Formatter|info|warning|error|debug|"
    "exception|critical|compile|match|fullmatch|sub|split|finditer|RuntimeError|TypeError|ValueError|TypeVar|Background|"
    "Thread|Keys|log|setDesktopFileName|setApplicationName"
)
"""Functions whose texts a person does not see, and ``Keys``, whose keys have the same names in every language."""
ROLES = {"label": 1, "tool_button": 1, "Panel": 1, "show_banner": 1, "show_message": 1}
"""How many of a function's first arguments are names of styles, icons or subjects."""
ELSEWHERE = {
    "devices/bottleneck.py: video decoder",
    "settings/preferences.py: framefleet settings",
    "settings/form.py: decoded by",
    "sessions/dialog.py: Delete",
    "settings/pages.py: Cache",
    "player/preview_client.py: the preview process",
    "run/thread.py: framefleet run",
    "devices/telemetry.py: memory",
    "messages/progress.py: Update",
    "devices/telemetry.py: power limit",
    "devices/telemetry.py: sync boost",
    "devices/telemetry.py: clocks set by an application",
    "devices/telemetry.py: clocks of the display",
}
"""Messages of the command line, keys, names in logs and of signals, and values that the engine gives and the window compares with."""
KEYS = re.compile("Up|Down|Left|Right|Home|End|Del|Tab|Return|Enter|Esc|Escape|Space|Backspace")
SAME = {
    "Framefleet",
    "framefleet",
    "CPU",
    "GPU",
    "CPUs",
    "MHz",
    "PCIe",
    "NVLink",
    "GB/s",
    "MB/s",
    "kB/s",
    "GiB",
    "MiB",
    "KiB",
    "COCO AP",
    "mAP@0.5",
    "mAP@0.5:0.95",
    "Shift",
    "Fusion",
    "— Framefleet",
    "English",
    "Deutsch",
}
"""Names and units, which are the same in every language."""


def name_of(call: ast.AST) -> str:
    function = call.func if isinstance(call, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def literals(tree: ast.AST) -> Iterator[tuple[ast.expr, str, str, int]]:
    """Texts outside of docstrings, annotations and format specifications: the node, the text, the call around it and its place there."""

    def visit(node: ast.AST, call: str, place: int) -> Iterator[tuple[ast.expr, str, str, int]]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node, node.value, call, place
        elif isinstance(node, ast.JoinedStr):
            parts = [part for part in node.values if isinstance(part, ast.Constant)]
            yield node, "{}".join(str(part.value) for part in parts) if parts else "{}", call, place
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    yield from visit(part.value, "", 0)
        elif isinstance(node, ast.Call):
            name = name_of(node)
            if name not in NAMES and not INTERNAL.fullmatch(name):
                for number, argument in enumerate(node.args):
                    yield from visit(argument, name, number)
                for keyword in node.keywords:
                    yield from visit(keyword.value, name if keyword.arg in ("tip", "text", "title", None) else "", 99)
            yield from visit(node.func, "", 0)
        else:
            for field, value in ast.iter_fields(node):
                if field not in ("annotation", "returns", "args") or not isinstance(node, ast.FunctionDef | ast.AnnAssign):
                    for child in value if isinstance(value, list) else [value]:
                        if isinstance(child, ast.AST):
                            yield from visit(child, call if isinstance(node, ast.IfExp | ast.BoolOp | ast.Tuple | ast.List) else "", place)

    yield from visit(tree, "", 0)


def unwrapped(path: Path) -> list[str]:
    """The texts of a file that a person sees and that are not translated."""
    found = []
    for node, text, call, place in literals(ast.parse(path.read_text())):
        plain = text.replace("{}", " ").strip()
        place_of_file = path.relative_to(PROJECT / "app" / "window").as_posix()
        if (
            plain in SAME
            or KEYS.fullmatch(plain)
            or f"{place_of_file}: {plain}" in ELSEWHERE
            or not re.search(r"[^\W\d_]{2,}", plain)
            or place < ROLES.get(call, 0)
        ):
            continue
        if re.search(r"%Ln|[;{}<>\\^]|background|border|padding|color|^\.|^(Ctrl|Shift)\b|^[FEGC]  ", text):
            continue  # style sheets, patterns, keys, and what is counted
        a_name = re.fullmatch(r"[\w.-]*[_.-][\w.-]*", plain)
        if (SHOWING.fullmatch(call) and not a_name) or re.search(r"[a-z] [a-z]", plain) or re.match(r"[A-Z][a-z]+(…|:)?$", plain):
            found.append(f"{place_of_file}:{node.lineno}: {text!r}")
    return found


def test_no_text_of_the_window_misses_translation() -> None:
    found = [line for path in sorted((PROJECT / "app" / "window").rglob("*.py")) for line in unwrapped(path)]
    assert not found, "wrap these texts in translate(context, text):\n" + "\n".join(found)


def messages(language: str) -> Iterator[tuple[str, ElementTree.Element]]:
    """The context and the element of each message."""
    for context in ElementTree.parse(FOLDER / f"framefleet_{language}.ts").getroot().iter("context"):
        for message in context.iter("message"):
            yield str(context.findtext("name")), message


def test_the_translations_have_all_texts_of_the_code_and_no_others() -> None:
    found = texts()
    wanted = {(context, text) for context, text, _ in found}
    have = {(context, str(message.findtext("source"))) for context, message in messages("de")}
    assert (wanted - have, have - wanted) == (set(), set()), "run python -m tools.translations"
    counted = {(context, text) for context, text, plural in found if plural}
    assert {(context, str(message.findtext("source"))) for context, message in messages("en")} == counted


def test_texts_have_the_words_of_users() -> None:
    sources = [source.text or "" for source in ElementTree.parse(FOLDER / "framefleet_de.ts").getroot().iter("source")]
    assert len(sources) > 1000
    words = re.compile(r"\b(infer|isolation|byte order mark|thread pool)\b|99 %: ", re.IGNORECASE)
    assert [text for text in sources if words.search(text)] == ["infer"], "a stage, which is shown as 'detect'"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_is_complete_and_keeps_placeholders(language: str) -> None:
    for context, message in messages(language):
        source, made = str(message.findtext("source")), message.find("translation")
        assert made is not None
        forms = [str(form.text) for form in made.iter("numerusform")] or [made.text or ""]
        assert made.get("type") is None, f"{context}: '{source}' is not translated: see tools/translations.py"
        for form in forms:
            assert form.strip(), f"{context}: '{source}' is empty"
            assert placeholders(form) == placeholders(source), f"{context}: '{source}'"
        assert len(forms) == 1 or all("%Ln" in form for form in forms[1:]), f"{context}: '{source}' shows no number"


def placeholders(text: str) -> list[str]:
    return sorted(str(name) for _, name, _, _ in Formatter().parse(text) if name is not None)


def test_the_compiled_translations_are_those_of_the_texts(tmp_path: Path) -> None:
    for language in LANGUAGES:
        name = f"framefleet_{language}"
        release = Path(sys.executable).with_name("pyside6-lrelease")
        subprocess.run([release, "-silent", FOLDER / f"{name}.ts", "-qm", tmp_path / f"{name}.qm"], check=True)
        assert (tmp_path / f"{name}.qm").read_bytes() == (FOLDER / f"{name}.qm").read_bytes(), "run python -m tools.translations"


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    translation.install(qapp, "de")
    yield
    translation.install(qapp, "en")


@pytest.mark.usefixtures("german")
def test_the_window_starts_in_german(qtbot: QtBot, tmp_path: Path) -> None:
    window = MainWindow(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat), tmp_path / "sessions")
    qtbot.addWidget(window)
    window.show()
    shown = {widget.text() for kind in (QLabel, QPushButton) for widget in window.findChildren(kind)}
    assert {"Objekte in Ihren Videos erkennen", "Modell wählen …", "Dateien", "Konfidenz"} <= shown
    english = {text for _, text, _ in texts()} - {message.findtext("translation") for _, message in messages("de")}
    assert not {text for text in shown if text in english}
    window.close()


@pytest.mark.usefixtures("german")
def test_numbers_and_plurals_follow_the_language() -> None:
    assert [formats.plural(count, "file") for count in (1, 1200, 3 * 10**9)] == ["1 Datei", "1.200 Dateien", "3.000.000.000 Dateien"]
    assert (formats.rate(9.74), formats.clock(7.45, 1), formats.size(4.2 * (1 << 20))) == ("9,7", "0:07,4", "4,2 MiB")


def test_an_unknown_language_becomes_that_of_the_system(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "system_language", lambda: "de")
    translation.install(qapp, "xx")
    assert (translate("window", "Quit"), QLocale().name()) == ("Beenden", "de_DE")
    translation.install(qapp, "en")
    assert (translate("window", "Quit"), QLocale().name()) == ("Quit", "en_US")
