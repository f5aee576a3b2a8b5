"""Translates sentences of the engine, which has no Qt and writes plain English.

A German sentence is found by its English pattern: the .ts file has both, with placeholders for the engine's values. Nothing has to be
declared, because ``tools/translations.py`` finds the patterns in the engine's code.
"""

import re
from functools import cache, lru_cache
from string import Formatter
from xml.etree import ElementTree

from PySide6.QtCore import QLocale

from framefleet.app.window.widgets import translation
from framefleet.app.window.widgets.translation import FOLDER, marked, translate
from framefleet.engine.settings import Parallel
from framefleet.engine.settings.table import TABLE

_FFMPEG = (
    marked("engine", "Invalid data found when processing input"),
    marked("engine", "Input/output error"),
    marked("engine", "End of file"),
)
"""Reasons of FFmpeg inside sentences of the engine."""
_SEPARATORS = ("\n", "; ", ", ")
"""The engine lists sentences with these between them."""


def of_engine(text: str) -> str:
    """A sentence of the engine in the window's language; a sentence without translation stays English."""
    return text if translation.language == "en" else _translated(text, translation.language) or text


def strategy_name(strategy: str) -> str:
    """The name of a strategy, as the settings dialog shows it."""
    titles = getattr(TABLE["parallel"].kind, "titles")  # noqa: B009
    title = titles.get(strategy) if strategy in [*Parallel] else None
    return translate("settings", title).partition(":")[0] if title else strategy


@lru_cache(1024)
def _translated(text: str, language: str) -> str | None:
    """The translation of a sentence, a list of sentences, or a sentence behind ``cuda:0: ``; None if there is none."""
    sentences = _table(language)[0]
    if text in sentences:
        return sentences[text]
    for separator in filter(text.__contains__, _SEPARATORS):
        if said := _filled(text, language, separator):
            return said
        parts = [_translated(part, language) for part in text.split(separator)]
        if all(parts):
            return separator.join(part or "" for part in parts)
    if said := _filled(text, language):
        return said
    for found in re.finditer(": ", text):
        if (rest := _translated(text[found.end() :], language)) is not None:
            return text[: found.end()] + rest
    return None


def _filled(text: str, language: str, inside: str = "") -> str | None:
    """The translation of a sentence with values. inside: what its pattern must contain."""
    for pattern, translated in _table(language)[1]:
        if re.escape(inside) in pattern.pattern and (found := pattern.fullmatch(text)) is not None:
            return translated.format(**{name: _value(value, language) for name, value in found.groupdict().items()})
    return None


def _value(value: str, language: str) -> str:
    """A value inside a sentence: a sentence itself, a number with a decimal point, or a name."""
    if re.fullmatch(r"\d+(\.\d+)?%?", value):
        return value.replace(".", QLocale().decimalPoint()).replace("%", " %")
    return _translated(value, language) or value


@cache
def _table(language: str) -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """The translations of sentences without values, and those with values, the longest first."""
    contexts = ElementTree.parse(FOLDER / f"framefleet_{language}.ts").getroot().iter("context")
    messages = next(context for context in contexts if context.findtext("name") == "engine").iter("message")
    texts = {str(message.findtext("source")): message.findtext("translation") or "" for message in messages}
    plain = {source: made for source, made in texts.items() if made and "{" not in source}
    patterns = []
    for source in sorted((source for source in texts if source not in plain), key=_letters, reverse=True):
        parts = [re.escape(literal) + (f"(?P<{name}>.*?)" if name else "") for literal, name, *_ in Formatter().parse(source)]
        pattern = "".join(parts).replace(".*?)(?P", "[^,;: ]*)(?P")  # of two values side by side, the first one is a single word
        patterns.append((re.compile(pattern, re.DOTALL), texts[source]))
    return plain, patterns


def _letters(source: str) -> int:
    """The number of letters beside the placeholders."""
    return len(re.sub(r"{\w+}", "", source))
