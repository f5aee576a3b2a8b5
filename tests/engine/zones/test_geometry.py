import numpy as np

from framefleet.engine.zones.geometry import trails, trails_begin


def drawn(tracks, times, boxes, shown):
    lines, owners = trails(np.array(tracks, np.int64), np.array(times, float), np.array(boxes, float), np.array(shown))
    return [(track, *line) for track, line in zip(owners.tolist(), lines.round(6).tolist(), strict=True)]


def box(x, y):
    return [x - 5, y - 20, x + 5, y]


def test_a_trail_joins_the_means_of_parts_and_ends_at_the_last_box():
    times = [0.0, 0.1, 0.2, 0.25, 0.35, 0.5]
    boxes = [box(x, y) for x, y in ((0, 100), (10, 104), (20, 96), (30, 103), (40, 97), (50, 110))]
    assert drawn([3] * 6, times, boxes, [3]) == [(3, 10, 100, 35, 100), (3, 35, 100, 50, 110), (3, 50, 110, 50, 110)]


def test_only_the_shown_tracks_have_trails_and_no_line_joins_two_tracks():
    times, tracks = [0.0, 0.0, 0.0, 0.3, 0.3, 0.3], [7, 2, 9, 2, 7, 9]
    boxes = [box(0, 0), box(100, 0), box(500, 0), box(130, 0), box(30, 0), box(530, 0)]
    found = drawn(tracks, times, boxes, [2, 7, 11])
    assert [line for line in found if line[1:3] != line[3:]] == [(2, 100, 0, 130, 0), (7, 0, 0, 30, 0)]
    assert drawn(tracks, times, boxes, [11]) == []
    assert drawn([], [], np.zeros((0, 4)), [1]) == []


def test_times_may_go_back_where_videos_were_joined():
    lines = drawn([1, 1, 1], [9.0, 0.0, 0.3], [box(0, 100), box(10, 100), box(20, 100)], [1])
    assert lines[-1] == (1, 0, 100, 20, 100)


def test_older_points_stay_while_time_passes():
    """Trembling boxes: parts that are complete do not move with later frames."""
    random = np.random.default_rng(1)
    times = np.arange(100) / 25
    boxes = [box(4 * number + random.normal(0, 3), 100 + random.normal(0, 3)) for number in range(100)]

    def at(last):
        mine = (times >= trails_begin(times[last])) & (times <= times[last])
        return drawn([1] * int(mine.sum()), times[mine], np.array(boxes)[mine], [1])

    before, after = at(80), at(81)
    assert before[:-2] == after[: len(before) - 2]
    assert times[81] - trails_begin(times[81]) >= 2
