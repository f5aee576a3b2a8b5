from pytestqt.qtbot import QtBot

from app.window.banner import MOST, BannerArea, Kind


def test_good_news_does_not_push_an_error_away(qtbot: QtBot) -> None:
    banners = BannerArea()
    qtbot.addWidget(banners)
    banners.show_banner("error", Kind.ERROR, "cannot be written")
    banners.show_banner("warning", Kind.WARNING, "no video")
    for number in range(MOST + 1):
        banners.show_banner(str(number), Kind.INFO, f"exported {number}")
    assert banners.texts == ["Cannot be written", "No video", f"Exported {MOST}"]


def test_of_equals_the_newest_stay(qtbot: QtBot) -> None:
    banners = BannerArea()
    qtbot.addWidget(banners)
    for number in range(MOST + 2):
        banners.show_banner(str(number), Kind.ERROR, str(number))
    assert banners.texts == ["2", "3", "4"]


def test_a_long_name_does_not_widen_the_window(qtbot: QtBot) -> None:
    banners = BannerArea()
    qtbot.addWidget(banners)
    text = f"Exported 10 frames to /videos/{'long_name_' * 30}.mp4."
    banner = banners.show_banner("export", Kind.INFO, text, ("Show in folder", print))
    assert banners.minimumSizeHint().width() < 800
    assert banner.text.toolTip() == text
    banners.update_text("export", "written")
    assert (banners.texts, banner.text.toolTip()) == (["written"], "")
