"""Shows what the engine says in the window's language.

The engine has no Qt: it gives a ``Notice``, a code with fields. The window translates the text of the code and fills in the fields.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from string import Formatter
from xml.etree import ElementTree

from PySide6.QtCore import QLocale

from framefleet.app.window.widgets import translation
from framefleet.app.window.widgets.translation import FOLDER, marked, translate
from framefleet.engine.notices import Notice, Option, in_english, texts
from framefleet.engine.settings.kinds import Choice
from framefleet.engine.settings.table import TABLE

_LIBRARIES = (
    marked("engine", "Invalid data found when processing input"),
    marked("engine", "Input/output error"),
    marked("engine", "End of file"),
)
"""Reasons of FFmpeg, which are fields of notices."""
_STRATEGIES = {
    "auto": marked("strategies", "Automatic"),
    "segments": marked("strategies", "Segments"),
    "streams": marked("strategies", "Streams"),
    "frames": marked("strategies", "Frames"),
    "tiles": marked("strategies", "Tiles"),
    "depth": marked("strategies", "Depth"),
}
_SEPARATORS = ("\n", "; ", ", ")
"""The engine lists sentences with these between them."""


def of_engine(said: Notice | str, *, names: bool = False, capital: bool = False, beside: Path | None = None) -> str:
    """Render what the engine says in the window's language. A text without translation stays English.

    Parameters
    ----------
    said : Notice or str
        A str is a sentence of the parts of the engine that have no notices yet.
    names : bool, optional
        Show the names of files without their folders.
    capital : bool, optional
        Begin with a capital, unless the text begins with a value, such as the name of a file or device.
    beside : Path, optional
        This file is shown beside the text: a text that begins with it begins with the next word instead.
    """
    if isinstance(said, Notice):
        return _Rendering(names, beside).text(said, capital)
    text = said if translation.language == "en" else _translated(said, translation.language) or said
    return re.sub(r"^[^\W\d_A-Z](?=\w*[ ,])", lambda letter: letter[0].upper(), text, flags=re.MULTILINE) if capital else text


def as_notice(said: Notice | str) -> Notice:
    """A notice, also for a sentence of a part of the engine that has no notices yet."""
    return said if isinstance(said, Notice) else Notice("general.text", text=said)


def headline(said: Notice) -> tuple[str, str]:
    """What the engine says as a bold line and its details: what happened, and behind the colon why, or what to do; "" if there is no more.

    The colon is that of the text with its placeholders. Values, such as the names of files, may have others.
    """
    rendering = _Rendering()
    template = rendering.template(said)
    what, _, why = template.partition(": ")
    inner = said.fields.get(what.strip("{}"))
    if not why and isinstance(inner, Notice) and what == template:  # nothing but another notice
        return headline(inner)
    return rendering.filled(what, said, capital=True), rendering.filled(why, said, capital=True)


def strategy_name(strategy: str) -> str:
    """The name of a strategy, as the settings dialog shows it."""
    return translate("strategies", _STRATEGIES[strategy]) if strategy in _STRATEGIES else strategy


@dataclass(frozen=True)
class _Rendering:
    """How notices become text. names, beside: see ``of_engine``."""

    names: bool = False
    beside: Path | None = None

    def text(self, notice: Notice, capital: bool = False) -> str:
        """The whole text; a code of a newer version, in a stored session or a cluster, is shown in English with its fields."""
        template = self.template(notice)
        return self.filled(template, notice, capital) if template else str(notice)

    def template(self, notice: Notice) -> str:
        """The translated text with its placeholders, "" for an unknown code."""
        text = texts().get(notice.code, "")
        return translate("engine", text if isinstance(text, str) else text[notice.fields["count"] != 1]) if text else ""

    def filled(self, template: str, notice: Notice, capital: bool) -> str:
        """A template, or a part of one, with the values."""
        if not template:
            return ""
        fields = notice.fields
        if notice.code == "general.text" and isinstance(said := fields["text"], str):  # a part of the engine without notices
            return of_engine(said, capital=capital)
        values = {name: self._field(value) for name, value in fields.items()}
        start, first, *_ = next(iter(Formatter().parse(template)))
        begins = "" if start else first or ""
        if begins and self.beside is not None and fields.get(begins) == self.beside:
            template, begins = template[len(begins) + 2 :].lstrip(": "), ""
        if capital and isinstance(cause := fields.get(begins), Notice):
            values[begins] = self.text(cause, capital=True)
        made = template.format_map(values)
        return made[:1].upper() + made[1:] if capital and not begins else made

    def _field(self, value: object) -> object:
        """A field of a notice, for its placeholder."""
        match value:
            case Notice():
                return self.text(value)
            case Path():
                return value.name if self.names or value == self.beside else str(value)
            case Option():
                return _setting(value)
            case tuple():
                separator = "; " if any(isinstance(each, Notice) for each in value) else ", "
                return separator.join(format(self._field(each)) for each in value)
            case int() | float():
                return _Number(value)
            case str():
                return of_engine(value)  # what a library says may have a translation
        return in_english(value)


class _Number:
    """A number that is formatted with the separators of the window's language."""

    def __init__(self, value: float) -> None:
        self._value = value

    def __format__(self, spec: str) -> str:
        locale = QLocale()
        percent = "%" if translation.language == "en" else " %"
        return format(self._value, spec).translate({ord("."): locale.decimalPoint(), ord(","): locale.groupSeparator(), ord("%"): percent})


def _setting(option: Option) -> str:
    """The title of a setting as the dialog shows it, and the chosen value. An option of the command line only stays one."""
    flag = f"--{option.name}"
    setting = next((each for each in TABLE.values() if each.option is not None and each.option.flag == flag), None)
    if setting is None or setting.field is None or not setting.field.title:
        return str(option)
    title, value = translate("settings", setting.field.title), option.value
    if isinstance(setting.kind, Choice) and value:
        value = strategy_name(value) if setting.name == "parallel" else translate("settings", setting.kind.titles[setting.kind.read(value)])
    return translate("settings", "“{setting}”").format(setting=f"{title}: {value}" if value else title)


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
    found = {str(message.findtext("source")): message.findtext("translation") or "" for message in messages}
    found = {source: made for source, made in found.items() if "{" not in source or _is_pattern(source)}
    plain = {source: made for source, made in found.items() if made and "{" not in source}
    patterns = []
    for source in sorted((source for source in found if source not in plain), key=_letters, reverse=True):
        parts = [re.escape(literal) + (f"(?P<{name}>.*?)" if name else "") for literal, name, *_ in Formatter().parse(source)]
        pattern = "".join(parts).replace(".*?)(?P", "[^,;: ]*)(?P")  # of two values side by side, the first one is a single word
        patterns.append((re.compile(pattern, re.DOTALL), found[source]))
    return plain, patterns


def _letters(source: str) -> int:
    """The number of letters beside the placeholders."""
    return len(re.sub(r"{\w+}", "", source))


def _is_pattern(source: str) -> bool:
    """Whether a text can be recognized by its words: other ones are of notices."""
    names = [name for _, name, *_ in Formatter().parse(source) if name]
    return _letters(source) >= 12 and len(set(names)) == len(names) and not any(spec for *_, spec, _ in Formatter().parse(source))
