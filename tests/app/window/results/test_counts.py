"""Files that are not shown keep their totals; what was seen when is read again for the shown file."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.model import FOUND_ROLE
from framefleet.app.window.queue.panel import QueuePanel
from tests.support.media import make_video
from tests.support.window import feature, write_results


def test_a_file_that_is_shown_again_has_its_activity_again(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    context, panel = window.context, feature(window, QueuePanel)
    for name in "ab":
        results = write_results(tmp_path / f"{name}.sqlite", make_video(tmp_path / f"{name}.mp4", 6, (320, 240)), 6)
        window.open_paths([results.database])
        qtbot.waitUntil(lambda name=name: any(item.path.stem == name for item in context.queue))
    first, second = context.queue
    timeline = context.viewer.transport.timeline

    def shows(key: int) -> bool:
        return context.selection.key == key and len(timeline.contents.lanes) == 3

    for item in (second, first, second):
        panel.show_item(item.key)
        qtbot.waitUntil(lambda item=item: shows(item.key))
    tally = context.run.tally(first.key)
    assert tally is not None
    assert tally.compact, "the file that is not shown"
    assert context.queue.index(0).data(FOUND_ROLE) == (("person", 2), ("bicycle", 2), ("car", 2))
