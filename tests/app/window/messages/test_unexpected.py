import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer, qInstallMessageHandler, qWarning
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.messages.unexpected import CrashReport, UnexpectedErrors, log_to
from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.engine.notices import UsageError, literal


@pytest.fixture
def errors() -> Iterator[UnexpectedErrors]:
    errors = UnexpectedErrors()
    errors.install()
    yield errors
    errors.uninstall()


def fail() -> None:
    raise RuntimeError("nobody expected this")


def test_an_error_in_the_window_s_thread_is_told(qtbot: QtBot, errors: UnexpectedErrors) -> None:
    with qtbot.waitSignal(errors.raised) as raised:
        QTimer.singleShot(0, fail)
    summary, details = raised.args
    assert summary == "RuntimeError: nobody expected this"
    assert "in fail" in details


def test_an_error_in_any_thread_is_told_in_the_window_s(qtbot: QtBot, errors: UnexpectedErrors) -> None:
    thread = threading.Thread(target=fail, name="some thread")
    with qtbot.waitSignal(errors.raised) as raised:
        thread.start()
    thread.join()
    assert raised.args[0] == "RuntimeError: nobody expected this (in some thread)"


def test_the_hooks_are_given_back(errors: UnexpectedErrors) -> None:
    installed = sys.excepthook
    errors.uninstall()
    assert sys.excepthook != installed
    errors.install()
    assert sys.excepthook == installed


def test_the_banner_leads_to_the_traceback(qtbot: QtBot, tmp_path: Path) -> None:
    window, banners = QWidget(), BannerArea()
    for widget in (window, banners):
        qtbot.addWidget(widget)
    report = CrashReport(window, banners, tmp_path / "window.log")
    report.show_error("RuntimeError: oh", "Traceback: all lines")
    assert "RuntimeError: oh" in banners.texts[0]
    banner = banners.findChild(QWidget, "banner")
    assert banner is not None
    banner.button.click()  # type: ignore[attr-defined]
    dialog = window.findChild(QDialog)
    assert dialog is not None
    text = dialog.findChild(QPlainTextEdit)
    assert text is not None
    assert text.toPlainText() == "Traceback: all lines"
    dialog.reject()


@pytest.fixture
def _log() -> Iterator[None]:
    """Undoes ``log_to``."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    qInstallMessageHandler(None)
    for handler in set(root.handlers) - set(handlers):
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)


@pytest.mark.usefixtures("_log")
def test_without_a_folder_for_the_log_the_program_starts(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    log_to(tmp_path / "file" / "logs")
    assert "no log is written" in caplog.text


@pytest.mark.usefixtures("_log")
def test_the_log_gets_our_words_and_qt_s(qtbot: QtBot, tmp_path: Path) -> None:
    path = log_to(tmp_path / "logs")
    logging.getLogger("framefleet").error("something of ours")
    qWarning("something of Qt's")
    written = path.read_text()
    assert "something of ours" in written
    assert "something of Qt's" in written


def test_background_work_hands_back_values_and_errors(qtbot: QtBot, errors: UnexpectedErrors) -> None:
    background = Background()
    values: list[object] = []

    def refuse() -> None:
        raise UsageError(literal("that will not do"))

    background.start(background, lambda: threading.current_thread() is threading.main_thread(), values.append, values.append)
    qtbot.waitUntil(lambda: values == [False])
    background.start(background, refuse, values.append, values.append)
    qtbot.waitUntil(lambda: [str(value) for value in values] == ["False", "that will not do"])
    with qtbot.waitSignal(errors.raised) as raised:
        background.start(background, fail, values.append, values.append)
    assert raised.args[0] == "RuntimeError: nobody expected this"
    assert str(values[-1]) == "RuntimeError: nobody expected this"
    assert not background.busy
    background.stop()


def test_banners_are_one_per_subject_and_can_be_dismissed(qtbot: QtBot) -> None:
    area = BannerArea()
    qtbot.addWidget(area)
    assert not area.isVisibleTo(area.parentWidget()) or area.isHidden()
    area.show_banner("a", Severity.INFO, "first")
    area.show_banner("a", Severity.WARNING, "second")
    assert area.texts == ["second"]
    area.show_banner("b", Severity.WARNING, "third")
    area.show_banner("c", Severity.INFO, "last").dismiss.click()
    assert area.texts == ["second", "third"]
    for subject in "ab":
        area.remove(subject)
    assert area.isHidden()
