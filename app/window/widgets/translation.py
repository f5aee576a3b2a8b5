"""The language of the window: which texts are translated, into which language, and how the engine's notices become texts.

The engine has no Qt: it gives a ``Notice``, a code with fields. The window translates the text of the code and fills in the fields.
"""

from dataclasses import dataclass
from pathlib import Path
from string import Formatter

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from framefleet import resources
from framefleet.engine.notices import Notice, Option, in_english, texts
from framefleet.engine.settings.kinds import Choice
from framefleet.engine.settings.table import TABLE

FOLDER = Path(resources.__file__).parent / "translations"
"""Holds a .ts file for each language, which people edit, and a .qm file, which Qt reads. ``tools/translations.py`` writes both."""
LANGUAGES = {"en": "English", "de": "Deutsch"}
"""The languages of the window, each by its own name."""
LANGUAGE = "window/language"
"""The key of the stored language; nothing is stored for the system's."""

language = "en"
"""The current language: ``install`` sets it."""
_MOST = 2**31 - 1
"""The largest number that Qt can put into a text. A run on eight GPUs has more frames after a day."""


def translate(context: str, text: str, about: str | None = None, number: int = -1) -> str:
    """Translate a text. context: the folder's name. text: in English; "%n" and, with thousands separated, "%Ln" stand for the number."""
    translated = QCoreApplication.translate(context, text, about, min(number, _MOST))
    if number > _MOST:
        for written in (QLocale().toString, str):
            translated = translated.replace(written(_MOST), written(number))
    return translated


def marked(_context: str, text: str) -> str:
    """Mark the text of a constant for translation. ``translate`` must translate it where it is shown."""
    return text


def of_settings(text: str) -> str:
    """Translate a text of the engine's table of settings."""
    return translate("settings", text)


def system_language() -> str:
    """The first of the user's languages that the window has, else English."""
    wanted = (name.partition("-")[0] for name in QLocale.system().uiLanguages())
    return next((language for language in wanted if language in LANGUAGES), "en")


def install(application: QCoreApplication, wanted: str = "") -> None:
    """Show texts, numbers and dates in a language; "" = the system's. The widgets must be created after this."""
    global language
    language = wanted if wanted in LANGUAGES else system_language()
    system = QLocale.system()
    QLocale.setDefault(system if system.name().startswith(f"{language}_") else QLocale(language))
    for old in application.findChildren(QTranslator):
        application.removeTranslator(old)
        old.deleteLater()
    for name, folder in (("qtbase", Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))), ("framefleet", FOLDER)):
        translator = QTranslator(application)
        if translator.load(str(folder / f"{name}_{language}.qm")):
            application.installTranslator(translator)


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


def of_engine(said: Notice | None, *, names: bool = False, capital: bool = False, beside: Path | None = None) -> str:
    """Render what the engine says in the window's language. A text without translation stays English.

    Parameters
    ----------
    said : Notice or None
        A code with fields. None gives "".
    names : bool, optional
        Show the names of files without their folders.
    capital : bool, optional
        Begin with a capital, unless the text begins with a value, such as the name of a file or device.
    beside : Path, optional
        This file is shown beside the text: a text that begins with it begins with the next word instead.
    """
    return "" if said is None else _Rendering(names, beside).text(said, capital)


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
        text = texts().get(notice.code, "")
        if not text:
            return str(notice)
        fields = notice.fields
        template = translate("engine", text if isinstance(text, str) else text[fields["count"] != 1])
        values = {name: self._field(value) for name, value in fields.items()}
        start, first, *_ = next(iter(Formatter().parse(template)))
        begins = "" if start else first or ""
        if begins and self.beside is not None and fields.get(begins) == self.beside:
            template, begins = template[len(begins) + 2 :].lstrip(": "), ""
        if capital and isinstance(cause := fields.get(begins), Notice):
            values[begins] = self.text(cause, capital=True)
        if notice.code == "general.detail" and str(values["detail"]).partition(" ")[0].isalpha():  # no name of a file or device
            begins = ""
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
                return translate("engine", value)  # what a library says may have a translation
        return in_english(value)


class _Number:
    """A number that is formatted with the separators of the window's language."""

    def __init__(self, value: float) -> None:
        self._value = value

    def __format__(self, spec: str) -> str:
        locale = QLocale()
        percent = "%" if language == "en" else " %"
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
