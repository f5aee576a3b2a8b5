import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.tracking.bytetrack import ByteTrack
from framefleet.engine.tracking.ocsort import OcSort

FIXTURE = Path(__file__).parents[2] / "fixtures" / "tracks.json.gz"


@pytest.fixture(scope="module")
def recorded():
    return json.loads(gzip.decompress(FIXTURE.read_bytes()))


@pytest.mark.parametrize("scene", [0, 1])
@pytest.mark.parametrize(("name", "tracker"), [("bytetrack", ByteTrack), ("ocsort", OcSort)])
def test_tracks_equal_those_of_the_package_trackers(recorded, name, tracker, scene):
    own, ours, theirs, compared = tracker(recorded["interval"]), {}, {}, 0
    for (seconds, boxes, scores), ids in zip(recorded["scenes"][scene], recorded["tracks"][name][scene], strict=True):
        numbers = own.update(np.array(boxes, float).reshape(-1, 4), np.array(scores), seconds).numbers
        for number, track in zip(numbers.tolist(), ids, strict=True):
            if track >= 0:
                compared += 1
                assert number >= 0
                assert ours.setdefault(track, number) == number
                assert theirs.setdefault(number, track) == track
    assert compared > 300
