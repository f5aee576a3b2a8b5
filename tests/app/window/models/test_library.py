"""The list of models in the window, with a real web server behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMessageBox, QScrollArea
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.models import library
from framefleet.app.window.models.card import ModelCard
from framefleet.app.window.models.chart import Speed
from framefleet.app.window.models.files import ModelDownloads
from framefleet.app.window.models.library import ModelList
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets.banner import Banner
from framefleet.app.window.widgets.translation import install
from framefleet.engine.model.registry import catalogue as registry
from framefleet.engine.model.registry.catalogue import FAMILY, ModelEntry, files_of, is_installed
from framefleet.engine.settings import ModelFiles
from tests.support.http import Page, Site
from tests.support.media import make_video
from tests.support.models import TINY_CFG
from tests.support.window import drop

PATIENCE = 30_000


@pytest.fixture
def downloads(tmp_path: Path) -> Iterator[ModelDownloads]:
    background = Background()
    made = ModelDownloads(background, tmp_path / "models")
    yield made
    made.stop()
    background.stop()


@pytest.fixture
def open_list(qtbot: QtBot, downloads: ModelDownloads, entry: ModelEntry) -> Callable[..., ModelCard]:
    kept = []  # Qt's objects go with Python's

    def open_one(in_use: Path | None = None) -> ModelCard:
        dialog = ModelList(downloads, in_use, entries=(entry,))
        kept.append(dialog)
        qtbot.addWidget(dialog)
        dialog.show()
        return dialog.cards[entry.name]

    return open_one


def shown(card: ModelCard) -> set[str]:
    return {button.text() for button in (card.download, card.cancel, card.use, card.remove) if button.isVisible()}


def test_a_model_is_downloaded_used_and_removed(
    qtbot: QtBot, open_list: Callable[..., ModelCard], downloads: ModelDownloads, site: Site, entry: ModelEntry
) -> None:
    site.pages["/tiny.weights"].pause = 0.02
    card = open_list()
    assert shown(card) == {"Download"}
    assert not card.bar.isVisible()
    card.download.click()
    assert shown(card) == {"Cancel"}
    qtbot.waitUntil(lambda: 0 < card.bar.value() < 1000)
    assert " % · 0 of 0 MB" in card.message.text()
    qtbot.waitUntil(lambda: shown(card) == {"Use", "Remove"})
    assert not card.bar.isVisible()
    assert is_installed(entry, downloads.folder)
    chosen: list[ModelFiles] = []
    dialog = card.window()
    assert isinstance(dialog, ModelList)
    dialog.chosen.connect(chosen.append)
    card.use.click()
    assert chosen == [files_of(entry, downloads.folder)]
    again = open_list(chosen[0].cfg)
    assert shown(again) == {"In use", "Remove"}
    assert not again.use.isEnabled()
    assert not again.remove.isEnabled()
    card.remove.click()
    assert shown(card) == {"Download"}
    assert not is_installed(entry, downloads.folder)


@pytest.mark.parametrize("agreed", [True, False])
def test_files_that_nobody_vouches_for_are_downloaded_after_a_question(
    qtbot: QtBot, downloads: ModelDownloads, site: Site, entry: ModelEntry, agreed: bool
) -> None:
    entry = replace(entry, weights=replace(entry.weights, sha256=None))
    dialog = ModelList(downloads, None, entries=[entry])
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.cards[entry.name].download.click()
    (box,) = dialog.findChildren(QMessageBox)
    assert "tiny.weights" in box.text()
    assert not site.requests
    next(button for button in box.buttons() if button.text() == ("Download" if agreed else "Cancel")).click()
    if agreed:
        qtbot.waitUntil(lambda: is_installed(entry, downloads.folder))
    assert is_installed(entry, downloads.folder) is agreed


def test_cancelling_is_quick_and_what_there_is_can_be_continued_or_discarded(
    qtbot: QtBot, open_list: Callable[..., ModelCard], downloads: ModelDownloads, site: Site, entry: ModelEntry
) -> None:
    page = site.pages["/tiny.weights"]
    page.stall = 40_000
    card = open_list()
    card.download.click()
    assert site.stalled.wait(10)
    qtbot.waitUntil(lambda: card.bar.value() > 500)
    card.cancel.click()
    qtbot.waitUntil(lambda: shown(card) == {"Continue", "Discard"})
    assert card.message.text() == "57 % is downloaded"
    assert not is_installed(entry, downloads.folder)
    page.stall = None
    card.download.click()
    qtbot.waitUntil(lambda: shown(card) == {"Use", "Remove"})
    assert site.ranges("/tiny.weights")[-1] == "bytes=40960-"


def test_what_went_wrong_is_said_in_place_and_can_be_tried_again(
    qtbot: QtBot, open_list: Callable[..., ModelCard], downloads: ModelDownloads, site: Site
) -> None:
    right = site.pages["/tiny.weights"]
    site.pages["/tiny.weights"] = Page(status=404)
    card = open_list()
    card.window().activateWindow()
    card.download.setFocus()
    card.download.click()
    qtbot.waitUntil(lambda: shown(card) == {"Retry"})
    assert card.window().focusWidget() is card.download  # the keyboard stays there
    assert "answers '404 Not Found'" in card.message.text()
    assert card.message.property("role") == "error"
    site.pages["/tiny.weights"] = right
    card.download.click()
    qtbot.waitUntil(lambda: shown(card) == {"Use", "Remove"})
    assert not card.message.isVisible()


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, entry: ModelEntry, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv(registry.MIRROR, raising=False)
    monkeypatch.setattr(library, "FAMILY", (entry,))
    window = MainWindow(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat), tmp_path / "sessions")
    window.show()
    yield window
    window.close()
    window.deleteLater()


def download_and_use(qtbot: QtBot, window: MainWindow) -> ModelCard:
    models = window.context.settings.library.dialog
    assert models is not None
    card = models.cards["tiny"]
    card.download.click()
    qtbot.waitUntil(card.use.isVisible)
    card.use.click()
    return card


@pytest.mark.slow  # the first test here downloads, tests/app/window/test_main_window.py detects after a first start
def test_from_the_start_page_to_detections_by_clicks(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.start.choose_model.click()
    download_and_use(qtbot, window)
    assert window.context.settings.library.dialog is None
    qtbot.waitUntil(lambda: window.top.model.text() == "tiny · 96×96")
    drop(window, [make_video(tmp_path / "clip.mp4", 10, (64, 64))])
    qtbot.waitUntil(lambda: len(window.context.queue) == 1 and next(iter(window.context.queue)).ended, timeout=PATIENCE)
    assert next(iter(window.context.queue)).state is ItemState.DONE


def test_a_download_goes_on_without_the_list_and_is_announced(qtbot: QtBot, window: MainWindow, site: Site) -> None:
    site.pages["/tiny.weights"].pause = 0.01
    window.context.settings.open_models()
    models = window.context.settings.library.dialog
    assert models is not None
    models.cards["tiny"].download.click()
    models.close_button.click()
    assert window.context.banners.texts == ["Downloading tiny."]
    qtbot.waitUntil(lambda: window.context.banners.texts == ["The model tiny is downloaded."])
    button = next(banner.button for banner in window.context.banners.findChildren(Banner) if "is downloaded" in banner.message)
    assert button is not None
    button.click()
    qtbot.waitUntil(lambda: window.top.model.text() == "tiny · 96×96")


def test_the_settings_take_a_model_from_the_list(qtbot: QtBot, window: MainWindow) -> None:
    window.context.settings.open_dialog()
    settings = window.context.settings.dialog
    assert settings is not None
    settings.model.from_list.click()
    card = download_and_use(qtbot, window)
    qtbot.waitUntil(lambda: settings.model.summary is not None)
    assert settings.model.files == files_of(card.entry, window.context.settings.library.downloads.folder)
    settings.reject()


def test_files_of_ones_own_go_by_drag_and_drop(qtbot: QtBot, window: MainWindow, site: Site, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "net.cfg").write_bytes(TINY_CFG.read_bytes())
    (own / "trained.weights").write_bytes(site.pages["/tiny.weights"].body)
    (own / "classes.names").write_text("helmet\nvest\nboots\n")
    drop(window, [own / "classes.names", own / "net.cfg", own / "trained.weights"])
    qtbot.waitUntil(lambda: window.top.model.text() == "net · 96×96")
    assert window.context.settings.labels == ("helmet", "vest", "boots")

    (own / "classes.names").write_text("a\nb\nc\n")
    (own / "other.cfg").write_bytes(TINY_CFG.read_bytes())
    window.context.settings.open_models()
    models = window.context.settings.library.dialog
    assert models is not None
    drop(models, [own / "other.cfg", own / "trained.weights", own / "classes.names"])  # on the list as well
    qtbot.waitUntil(lambda: [card.files.cfg.name for card in models.own_cards] == ["other.cfg", "net.cfg"])
    models.own_cards[0].use.click()
    assert window.context.settings.library.dialog is None
    qtbot.waitUntil(lambda: window.context.settings.labels == ("a", "b", "c"))

    window.context.settings.open_models()
    models = window.context.settings.library.dialog
    assert models is not None
    models.own.click()
    (files,) = models.findChildren(QFileDialog)
    assert Path(files.directory().path()) == Path.home()
    files.filesSelected.emit([str(own / "net.cfg"), str(own / "trained.weights")])
    qtbot.waitUntil(lambda: window.context.settings.library.dialog is None)  # they are used at once
    qtbot.waitUntil(lambda: window.top.model.text() == "net · 96×96")

    window.context.settings.open_models()
    models = window.context.settings.library.dialog
    assert models is not None
    models.own.click()
    (files,) = models.findChildren(QFileDialog)
    assert Path(files.directory().path()) == own, "it begins where the last model was chosen"
    models.reject()


def test_closing_the_window_ends_a_download_at_once(qtbot: QtBot, window: MainWindow, site: Site, entry: ModelEntry) -> None:
    site.pages["/tiny.weights"].stall = 20_000
    window.context.settings.library.downloads.start(entry)
    assert site.stalled.wait(10)
    window.close()  # the download itself would not end
    assert not any("background" in thread.name for thread in threading.enumerate())
    assert not is_installed(entry, window.context.settings.library.downloads.folder)


def test_the_figures_of_all_models_form_columns(qtbot: QtBot, downloads: ModelDownloads) -> None:
    dialog = ModelList(downloads, None)
    qtbot.addWidget(dialog)
    dialog.show()
    (heading,) = [each for each in dialog.findChildren(QLabel) if each.text() == "accuracy"]
    figures = [heading, *(card.figures.labels[2] for card in dialog.cards.values())]
    assert len({figure.mapTo(dialog, figure.rect().topRight()).x() for figure in figures}) == 1


@pytest.mark.parametrize(("gpu", "name"), [(False, "yolov4-tiny"), (True, "yolov4-csp")])
def test_the_list_begins_with_what_suits_this_machine_and_what_it_costs(
    qtbot: QtBot, downloads: ModelDownloads, gpu: bool, name: str
) -> None:
    dialog = ModelList(downloads, None, gpu=gpu)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.show_speeds({name: Speed(31.4, "Some Processor")})
    tops = {card.entry.name: card.mapTo(dialog, QPoint(0, 0)).y() for card in dialog.cards.values()}
    assert min(tops, key=lambda each: tops[each]) == name
    figures = dialog.cards[name].figures
    size, speed, accuracy = (label.text() for label in figures.labels[:3])
    assert (size, speed, accuracy) == (("212 MB", "31.4", "46.2 %") if gpu else ("24 MB", "31.4", "22.0 %"))
    assert not dialog.chart.isVisible()
    dialog.fold.click()
    assert dialog.chart.isVisible()


def test_the_model_in_use_is_seen_without_scrolling(qtbot: QtBot, downloads: ModelDownloads) -> None:
    last = FAMILY[-1]
    dialog = ModelList(downloads, files_of(last, downloads.folder).cfg)
    qtbot.addWidget(dialog)
    dialog.resize(984, 602)
    dialog.show()
    qtbot.waitUntil(lambda: not dialog.cards[last.name].visibleRegion().isEmpty())
    first = min(dialog.cards.values(), key=lambda card: card.mapTo(dialog, QPoint(0, 0)).y())
    assert first.entry is last


def test_every_button_fits_on_a_small_screen_in_german(qtbot: QtBot, qapp: QApplication, downloads: ModelDownloads) -> None:
    install(qapp, "de")
    dialog = ModelList(downloads, None)
    install(qapp, "en")
    qtbot.addWidget(dialog)
    dialog.resize(984, 602)  # without the window's frame: 1000 × 650
    dialog.show()
    (scroll,) = dialog.findChildren(QScrollArea)
    qtbot.waitUntil(lambda: scroll.widget().width() == scroll.viewport().width())
