"""A box that a person verified has another label than the others, in annotated videos and in the window."""

import numpy as np
import pytest

from app.window.viewer.layout import Placement
from app.window.viewer.overlay import Overlay
from engine.media.annotation.colours import class_colour
from engine.media.annotation.draw import Annotator
from engine.types import Detections

SIZE = (320, 240)


def found(score, verified):
    box = np.array([[100, 100, 200, 200]], np.float32)
    return Detections(box, np.array([score], np.float32), np.array([0], np.int32), None, np.array([verified]))


def in_a_video(detections):
    planes = tuple(np.full((240 // part, 320 // part), 128, np.uint8) for part in (1, 2, 2))
    Annotator(SIZE, ("car",)).draw(planes, detections, SIZE)
    return planes[0].tobytes()


def in_the_window(detections):
    overlay = Overlay(detections, Placement(0, 0, *SIZE, SIZE), SIZE, lambda _: "car", 1.0)
    ((_, _, label),) = overlay._labels
    return label.toImage()


@pytest.mark.parametrize("drawn", [in_a_video, in_the_window])
def test_a_verified_box_has_a_sign_instead_of_the_model_s_confidence(qapp, drawn):
    assert drawn(found(0.98, verified=True)) == drawn(found(0.4, verified=True))
    assert drawn(found(0.98, verified=True)) != drawn(found(0.98, verified=False))
    assert drawn(found(0.98, verified=False)) != drawn(found(0.4, verified=False))


def test_an_annotated_video_says_so_in_words():
    annotator = Annotator(SIZE, ("car",))
    planes = tuple(np.full((240 // part, 320 // part), 128, np.uint8) for part in (1, 2, 2))
    annotator.draw(planes, found(0.98, verified=True), SIZE)
    text = annotator.text("car verified", class_colour(0))[0]
    places = np.lib.stride_tricks.sliding_window_view(planes[0][70:110, 90:200], text.shape)
    assert (places == text).all((2, 3)).any()
