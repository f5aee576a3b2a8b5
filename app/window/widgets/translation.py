"""The language of the window: which texts are translated, and into which language."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from framefleet import resources

FOLDER = Path(resources.__file__).parent / "translations"
"""Holds a .ts file for each language, which people edit, and a .qm file, which Qt reads. ``tools/translations.py`` writes both."""
LANGUAGES = {"en": "English", "de": "Deutsch"}
"""The languages of the window, each by its own name."""
LANGUAGE = "window/language"
"""The key of the stored language; nothing is stored for the system's."""

language = "en"
"""The current language: ``install`` sets it."""
translate = QCoreApplication.translate
"""Takes a context, which is the folder's name, and the English text. "%n" in a text stands for the fourth argument."""


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
