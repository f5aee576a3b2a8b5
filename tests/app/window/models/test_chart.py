"""Names in the chart of models cover neither each other nor marks."""

from __future__ import annotations

from itertools import combinations

import pytest
from pytestqt.qtbot import QtBot

from app.scaling_results import Speed
from app.window.models.chart import MARGIN, ModelChart
from engine.model.registry.catalogue import FAMILY


@pytest.mark.parametrize("width", [800, 1040, 1600])
@pytest.mark.parametrize("ran", [False, True])
def test_names_do_not_cover_each_other(qtbot: QtBot, width: int, ran: bool) -> None:
    chart = ModelChart(FAMILY)
    qtbot.addWidget(chart)
    chart.resize(width, chart.height())
    chart.show()
    chart.show_speeds({entry.name: Speed(33.1, "CPU") for entry in FAMILY} if ran else {})
    areas = [name.mapRectToScene(name.boundingRect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)) for name in chart._names]
    assert len(areas) == len(FAMILY)
    for one, other in combinations(areas, 2):
        assert (one & other).isEmpty()
