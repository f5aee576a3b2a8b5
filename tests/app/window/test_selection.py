"""The file that the window shows."""

from __future__ import annotations

from framefleet.app.window.queue.item import Part
from framefleet.app.window.queue.panel import QueuePanel
from tests.support.media import make_video
from tests.support.window import feature, write_results

FRAMES = 60


def test_each_file_keeps_its_part_and_its_position(window, qtbot, tmp_path):
    videos = [make_video(tmp_path / name, FRAMES, (320, 240)) for name in ("a.mp4", "b.mp4")]
    window.open_paths([write_results(video.with_suffix(".sqlite"), video, FRAMES).database for video in videos])
    qtbot.waitUntil(lambda: len(window.context.queue) == 2)
    player, timeline = window.context.viewer.player, window.context.viewer.transport.timeline
    first, second = (item.key for item in window.context.queue)

    def show(key, pts=None):
        feature(window, QueuePanel).show_item(key)
        qtbot.waitUntil(lambda: window.context.selection.key == key and player.current is not None)
        if pts is not None:
            player.seek(pts)
            qtbot.waitUntil(lambda: player.position == pts)

    show(first, 0.5)
    timeline.set_part(Part(0.5, 1.564))
    assert window.context.viewer.transport.part.text() == "0:00.50 – 0:01.56"
    show(second, 1.0)
    assert timeline.part is None
    show(first)
    assert (player.position, timeline.part, player.playing) == (0.5, Part(0.5, 1.564), False)
    show(second)
    assert (player.position, timeline.part) == (1.0, None)
