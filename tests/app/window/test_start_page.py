from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QBoxLayout, QPushButton
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.start_page import StartPage
from framefleet.app.window.streams.dialog import RecentStreams
from framefleet.app.window.widgets import translation
from framefleet.engine.media.live.address import LiveAddress
from tests.support.window import window_actions


@pytest.mark.parametrize(("width", "direction"), [(900, QBoxLayout.Direction.LeftToRight), (340, QBoxLayout.Direction.TopToBottom)])
def test_no_button_is_cut_off(qtbot: QtBot, width: int, direction: QBoxLayout.Direction) -> None:
    page = StartPage(window_actions())
    qtbot.addWidget(page)
    page.resize(width, 420)
    page.show()
    qtbot.waitUntil(lambda: page.steps.direction() is direction)
    qtbot.waitUntil(lambda: all(button.width() >= button.sizeHint().width() for button in page.findChildren(QPushButton)))
    assert page.widget().width() <= page.viewport().width()


@pytest.mark.parametrize("width", [360, 900])
def test_the_last_streams_are_offered(qtbot: QtBot, width: int) -> None:
    page = StartPage(window_actions())
    qtbot.addWidget(page)
    page.resize(width, 640)
    page.show()
    assert not page.last_streams.isVisible()
    long, two = "rtsp://camera-with-a-very-long-name.example.org:8554/streams/the-main-entrance", "rtsp://a/1?one=1&two=2"
    page.show_streams([long, two])
    assert [button.isVisible() for button in page.streams] == [True, True, False]
    assert page.streams[0].toolTip() == long
    assert page.streams[1].text() == two.replace("&", "&&")  # Qt shows one of them
    page.resize(width, 641)
    qtbot.waitUntil(lambda: page.widget().width() <= page.viewport().width())


def test_a_stream_of_this_window_is_offered_when_the_page_appears_again(window: MainWindow) -> None:
    assert not window.start.last_streams.isVisible()
    window.start.hide()
    RecentStreams(window.context.store).add(LiveAddress.growing(Path("growing.ts")))
    window.start.show()
    assert window.start.last_streams.isVisible()
    assert window.start.streams[0].toolTip().endswith("growing.ts")


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("width", [480, 580, 820])
def test_nothing_is_wider_than_the_page(qtbot: QtBot, language: str, width: int) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    translation.install(application, language)
    try:
        page = StartPage(window_actions())
    finally:
        translation.install(application, "en")
    qtbot.addWidget(page)
    page.resize(width, 600)
    page.show()
    qtbot.waitUntil(lambda: page.widget().width() <= page.viewport().width())
    qtbot.waitUntil(lambda: all(button.width() >= button.sizeHint().width() for button in page.findChildren(QPushButton)))
