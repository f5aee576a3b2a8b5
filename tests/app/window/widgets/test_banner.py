import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.banner import MAX_BANNERS, Banner, BannerArea, Severity
from framefleet.app.window.widgets.build import say, wrapped
from tests.support.notices import words


def test_good_news_does_not_push_an_error_away(qtbot: QtBot) -> None:
    banners = BannerArea()
    qtbot.addWidget(banners)
    banners.show_banner("error", Severity.ERROR, "cannot be written")
    banners.show_banner("warning", Severity.WARNING, "no video")
    for number in range(MAX_BANNERS + 1):
        banners.show_banner(str(number), Severity.INFO, f"exported {number}")
    assert banners.texts == ["cannot be written", "no video", f"exported {MAX_BANNERS}"]


def test_what_the_engine_says_begins_with_a_capital_and_names_of_ours_stay(qtbot: QtBot) -> None:
    banners = BannerArea()
    qtbot.addWidget(banners)
    banners.show_banner("sources", Severity.WARNING, "Not opened", details=words("no video in /a"))
    banners.show_banner("download", Severity.INFO, "tiny is downloaded.")
    assert banners.texts == ["Not opened: No video in /a", "tiny is downloaded."]


def test_of_equals_the_newest_are_shown_and_the_others_wait(qtbot: QtBot) -> None:
    banners = BannerArea()
    qtbot.addWidget(banners)
    for number in range(MAX_BANNERS + 2):
        banners.show_banner(str(number), Severity.ERROR, str(number))

    def shown() -> list[str]:
        return [banner.message for banner in banners.findChildren(Banner) if banner.isVisibleTo(banners)]

    assert banners.texts == ["0", "1", "2", "3", "4"]
    assert shown() == ["2", "3", "4"]
    assert "2 more messages" in [line.text() for line in banners.findChildren(QLabel) if line.isVisibleTo(banners)]
    banners.remove("3")
    assert shown() == ["1", "2", "4"]
    assert "1 more message" in [line.text() for line in banners.findChildren(QLabel) if line.isVisibleTo(banners)]
    for number in range(3):
        banners.show_banner(f"news {number}", Severity.INFO, f"exported {number}")
    assert banners.texts == ["0", "1", "2", "4", "exported 2"]
    assert shown() == ["1", "2", "4"]
    banners.remove("0")
    banners.remove("2")
    assert shown() == ["1", "4", "exported 2"]
    assert not [line for line in banners.findChildren(QLabel) if line.isVisibleTo(banners) and "more message" in line.text()]


def test_a_long_name_does_not_widen_the_window(qtbot: QtBot) -> None:
    banners = BannerArea()
    qtbot.addWidget(banners)
    text = f"Exported 10 frames to /videos/{'long_name_' * 30}.mp4."
    banner = banners.show_banner("export", Severity.INFO, text, ("Show in folder", print))
    assert banners.minimumSizeHint().width() < 800
    assert banner.toolTip() == text
    banners.update_text("export", "done")
    assert (banners.texts, banner.toolTip()) == (["done"], "")


@pytest.mark.parametrize(("role", "colour"), [("error", "DANGER"), ("notice", "WARNING")])
def test_a_problem_below_a_field_has_an_icon_beside_its_colour(qtbot: QtBot, role: str, colour: str) -> None:
    line = wrapped(role)
    qtbot.addWidget(line)
    line.resize(300, 40)
    say(line, "The folder cannot be written: choose another one.")
    picture = line.grab().toImage()
    shown = {picture.pixelColor(x, y).name() for x in range(14) for y in range(20)}
    assert theme.colour(colour) in shown
