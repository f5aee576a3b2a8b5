"""The user's sets of lines and zones."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QColor

from framefleet.app.window.widgets import theme
from framefleet.app.window.zones.sets import FilesDialog, ZoneLibrary
from framefleet.engine.notices import UsageError
from framefleet.engine.zones.shapes import Line, ZoneSet

SET = ZoneSet((100, 100), (Line("gate", (1, 1), (9, 9)),))


@pytest.fixture
def library(tmp_path):
    return ZoneLibrary(tmp_path / "zones", QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat))


def test_a_set_belongs_to_its_video_until_it_is_given_to_the_folder(library, tmp_path):
    library.save("street", SET)
    one, two = tmp_path / "a" / "one.mp4", tmp_path / "a" / "two.mp4"
    library.choose(one, "street")
    assert (library.read_for(one), library.is_own(one), library.read_for(two)) == (("street", SET), True, None)
    library.give_folder(one, "street")
    assert (library.read_for(two), library.is_own(one)) == (("street", SET), False)
    assert library.read_for(tmp_path / "b" / "two.mp4") is None
    library.choose(two, None)
    assert (library.read_for(one), library.read_for(two)) == (("street", SET), None), "one video without lines changes no other"
    library.choose(two, "street")
    assert (library.read_for(two), library.is_own(two)) == (("street", SET), False)


def test_a_set_is_shared_by_chosen_files_of_several_folders(library, tmp_path):
    for name in ("street", "yard"):
        library.save(name, SET)
    one, two, three, other = (tmp_path / name for name in ("a/one.mp4", "a/two.mp4", "b/three.mp4", "b/other.mp4"))
    library.give_folder(other, "yard")
    library.share("street", [one, two, three], [other])
    assert [library.name_for(each) for each in (one, two, three, other)] == ["street", "street", "street", "yard"]
    assert library.name_for(tmp_path / "a" / "later.mp4") == "street"
    assert library.name_for(tmp_path / "b" / "later.mp4") == "yard"
    library.choose(three, "yard")  # it has a set of its own, so its folder stays
    library.share("street", [two], [one, three, other])
    assert [library.name_for(each) for each in (one, two, three, other)] == [None, "street", "yard", "yard"]


def test_names_are_free_and_can_be_file_names(library):
    assert library.free_name("../etc/passwd") == "etc-passwd"
    assert library.free_name(" / ") == "camera"
    library.save("street", SET)
    assert library.free_name("Street") == "Street 2"


def test_a_deleted_or_damaged_set_is_none(library, tmp_path):
    library.save("street", SET)
    library.choose(tmp_path / "one.mp4", "street")
    (tmp_path / "zones" / "street.json").write_text("{")
    assert library.read_for(tmp_path / "one.mp4") is None
    with pytest.raises(UsageError, match=r"street\.json: it is not JSON"):
        library.read("street")
    library.delete("street")
    assert library.name_for(tmp_path / "one.mp4") is None
    assert library.names() == []


def test_an_unchecked_file_loses_the_set_that_it_has_by_itself(library, tmp_path):
    one, other = tmp_path / "a" / "1.mp4", tmp_path / "a" / "2.mp4"
    library.save("gate", ZoneSet((100, 100)))
    library.share("gate", [one], [other])
    assert [library.name_for(video) for video in (one, other)] == ["gate", None]
    library.share("gate", [other], [one])
    assert [library.name_for(video) for video in (one, other)] == [None, "gate"]


def box_row(picture, item):
    """The colours of a row of pixels through the middle of the item's box."""
    return [picture.pixelColor(x, item.center().y()) for x in range(item.left(), item.left() + 24)]


def test_a_folder_of_which_some_files_are_checked_has_a_dash(qtbot):
    dialog = FilesDialog("camera", {Path("/videos/a.mp4"): "camera", Path("/videos/b.mp4"): None})
    qtbot.addWidget(dialog)
    dialog.show()
    folder = dialog.tree.visualItemRect(dialog.tree.topLevelItem(0))
    row = box_row(dialog.tree.viewport().grab().toImage(), folder)
    inside = row[row.index(QColor(theme.ACCENT)) :]
    dash = [colour for colour in inside[:14] if colour.lightness() < QColor(theme.ACCENT).lightness() - 60]
    assert 4 <= len(dash) <= 10


def test_unchecked_boxes_can_be_seen_and_do_not_touch(qtbot):
    """The box of a file is as wide as the indentation; its left edge has the colour of edges."""
    dialog = FilesDialog("camera", {Path("/videos/a.mp4"): None, Path("/videos/b.mp4"): None})
    qtbot.addWidget(dialog)
    dialog.show()
    first, second = (dialog.tree.visualItemRect(dialog.tree.topLevelItem(0).child(number)) for number in range(2))
    picture = dialog.tree.viewport().grab().toImage()
    row = box_row(picture, first)
    edge, inside = QColor(theme.EDGE), QColor(theme.RAISED)
    assert row.count(edge) == 2
    assert row[row.index(edge) + 1] == inside
    assert second.top() - first.top() >= 20
