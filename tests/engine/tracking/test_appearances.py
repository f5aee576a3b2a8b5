import numpy as np

from framefleet.engine.tracking.appearances import class_appearances, track_appearances, vote

# frame, class, track, confidence; 10 frames/s
SEEN = ((0, 2, 7, 0.5), (1, 2, 7, 0.9), (1, 0, -1, 0.8), (2, 5, 7, 0.9), (2, 0, 3, 0.4), (30, 0, 3, 0.6), (30, 2, 7, 0.9))


def columns():
    frames, class_ids, tracks = (np.array([row[place] for row in SEEN]) for place in range(3))
    return frames, frames / 10, class_ids, tracks, np.array([row[3] for row in SEEN])


def rows(found, *names):
    return [tuple(row[name].item() for name in names) for row in found]


def test_a_class_appears_again_behind_a_gap():
    frames, times, class_ids, _, scores = columns()
    found = class_appearances(frames, times, times + 0.1, class_ids, scores, gap=1.0)
    assert rows(found, "class_id", "track", "start", "end", "detections") == [
        (2, -1, 0.0, 0.1, 2),
        (0, -1, 0.1, 0.2, 2),
        (5, -1, 0.2, 0.2, 1),
        (0, -1, 3.0, 3.0, 1),
        (2, -1, 3.0, 3.0, 1),
    ]
    assert len(class_appearances(frames, times, times + 0.1, class_ids, scores, gap=3.0)) == 3


def test_a_track_appears_once_with_the_class_of_most_confidence_and_its_best_moment():
    found = track_appearances(*columns())
    assert rows(found, "track", "class_id", "first", "last", "best_frame", "best", "confidence", "detections") == [
        (7, 2, 0, 30, 1, 0.1, 0.9, 4),
        (3, 0, 2, 30, 30, 3.0, 0.6, 2),
    ]


def test_nothing_appears_where_nothing_was_found():
    none = [values[:0] for values in columns()]
    assert len(track_appearances(*none)) == len(class_appearances(none[0], none[1], none[1], none[2], none[4])) == 0


def test_a_class_appears_again_only_behind_a_longer_gap():
    """The class is seen from 0 to 0.5 s and from 1.5 s on."""
    frames, scores = np.array([0, 3]), np.ones(2)
    for gap, appearances in ((1.0, 1), (0.9, 2)):
        assert len(class_appearances(frames, frames / 2, frames / 2 + 0.5, np.zeros(2, int), scores, gap)) == appearances


def test_the_class_of_a_track_has_the_highest_sum_of_confidences_not_the_most_detections():
    tracks, class_ids = np.array([4, 4, 4, -1]), np.array([0, 0, 1, 0])
    assert vote(tracks, class_ids, np.array([0.3, 0.3, 0.9, 1.0])).tolist() == [1, 1, 1, 0]
