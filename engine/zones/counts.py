"""What was counted at lines and in zones: crossings, visits, counts per interval, and routes from place to place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.notices import Notice
from framefleet.engine.tracking.association import areas, pair_overlaps
from framefleet.engine.zones.counter import Flags, Integers, Seen, ZoneCounter
from framefleet.engine.zones.geometry import Array
from framefleet.engine.zones.shapes import Line, Reference, Shape, ZoneSet

CROSSINGS = np.dtype([("shape", np.int64), ("track", np.int64), ("class_id", np.int64), ("time", np.float64), ("forward", np.bool_)])
"""A track that crossed a line. shape: number of the line in the set. time: seconds."""

VISITS = np.dtype(
    [
        *(("shape", np.int64), ("track", np.int64), ("class_id", np.int64), ("begin", np.float64), ("end", np.float64)),
        *(("entered", np.bool_), ("left", np.bool_)),
    ]
)
"""A track in a zone. shape: number of the zone in the set. begin, end: seconds. entered, left: whether it came from outside and went
outside; else it was first or last seen inside."""

RETURN = 1.0
"""Seconds. An object that is back at the other side within this time has not crossed: feet swing over lines, and boxes tremble."""

REPEAT_SECONDS = 1.0
"""Most time between two crossings of one object, and the time around them in which the tracks are compared."""

REPEAT_SEEN = 0.5
"""The weaker track is seen in at most this share of the frames in which the other one is seen."""

REPEAT_OVERLAP, REPEAT_INSIDE, REPEAT_SHARE = 0.3, 0.7, 0.4
"""In this share of the frames in which the weaker track is seen: least intersection over union with the other one's box, and least share of
the smaller box in the larger one. Between detections, the other one's box is interpolated."""

ROUTES = np.dtype([("track", np.int64), ("class_id", np.int64), ("origin", np.int64), ("target", np.int64)])
"""The first and the last line or zone of a track. target: -1 if there is only one."""

_POINTS = {
    Reference.BOTTOM: Notice("zones.bottom"),
    Reference.CENTRE: Notice("zones.centre"),
    Reference.TOP: Notice("zones.top"),
}

ROUTE_COUNTS = np.dtype([("origin", np.int64), ("target", np.int64), ("class_id", np.int64), ("tracks", np.int64)])
"""How many tracks of a class took a route."""


@dataclass(frozen=True, eq=False)
class Counts:
    """What was counted in one source.

    Attributes
    ----------
    crossings, visits : ndarray
        Arrays of ``CROSSINGS`` and ``VISITS``, in the order of their times.
    class_ids : ndarray
        Of each track of a stored source that counts, also if it was at no line and in no zone, int64 (n,).
    """

    zones: ZoneSet
    crossings: NDArray[np.void]
    visits: NDArray[np.void]
    class_ids: Integers = field(default_factory=lambda: np.zeros(0, np.int64))

    def crossed(self, number: int, forward: bool) -> int:
        """How often the line with this number in the set was crossed in one direction."""
        mine = self.crossings["shape"] == number
        return int((mine & (self.crossings["forward"] == forward)).sum())

    def visited(self, number: int) -> int:
        """How many visits the zone with this number in the set had."""
        return int((self.visits["shape"] == number).sum())

    def inside(self, number: int, time: float) -> int:
        """How many objects were in a zone at one time, seconds."""
        mine = self.visits[self.visits["shape"] == number]
        return int(((mine["begin"] <= time) & (time <= mine["end"])).sum())

    def mean_seconds(self, number: int) -> float | None:
        """The mean length of the visits to a zone, seconds; None without visits."""
        mine = self.visits[self.visits["shape"] == number]
        return float((mine["end"] - mine["begin"]).mean()) if len(mine) else None

    def until(self, time: float) -> Counts:
        """What was counted up to this time, seconds."""
        return Counts(self.zones, self.crossings[self.crossings["time"] <= time], self.visits[self.visits["begin"] <= time])

    def moved(self, seconds: float, tracks: int) -> Counts:
        """The same with later times and higher numbers of tracks, so that they can be added to the counts of another source."""
        crossings, visits = self.crossings.copy(), self.visits.copy()
        for table, times in ((crossings, ("time",)), (visits, ("begin", "end"))):
            table["track"] += tracks
            for name in times:
                table[name] += seconds
        return Counts(self.zones, crossings, visits)

    def text(self, number: int) -> str:
        """The counts of one line or zone in a few words."""
        if isinstance(self.zones.shapes[number], Line):
            return f"{self.crossed(number, forward=True)} forward, {self.crossed(number, forward=False)} backward"
        count, mean = self.visited(number), self.mean_seconds(number)
        return f"{count} visit" + "s" * (count != 1) + ("" if mean is None else f", {mean:.1f} s each")

    def crossed_text(self, number: int) -> str:
        """How often a line was crossed in each direction, with arrows, for a label in the picture."""
        shape = self.zones.shapes[number]
        assert isinstance(shape, Line)
        forward, backward = shape.arrows
        return f"{forward}{self.crossed(number, forward=True)} {backward}{self.crossed(number, forward=False)}"

    def short(self, number: int, time: float) -> str:
        """The name of a line or zone, and its counts up to a time in seconds, for a label in the picture."""
        shape = self.zones.shapes[number]
        if isinstance(shape, Line):
            return f"{shape.name}: {self.crossed_text(number)}"
        return f"{shape.name}: {self.inside(number, time)} inside, {self.visited(number)} in all"

    def notes(self, allowed: Mapping[str, frozenset[int] | None]) -> list[Notice]:
        """What may be wrong with lines that no object crossed, although some tracks count there.

        Parameters
        ----------
        allowed
            The class ids that count at each line, from ``ZoneSet.class_ids``.
        """
        notes, crossed = [], set(self.crossings["shape"].tolist())
        for number, line in enumerate(self.zones.shapes):
            wanted = allowed[line.name]
            tracks = len(self.class_ids) if wanted is None else int(np.isin(self.class_ids, [*wanted]).sum())
            if isinstance(line, Line) and number not in crossed and tracks:
                notes.append(Notice("zones.none_crossed", count=tracks, line=line.name, point=_POINTS[self.zones.reference]))
        return notes

    def as_json(self) -> list[dict[str, object]]:
        """The counts of all lines and zones, for ``--json``."""
        return [self._as_json(number, shape) for number, shape in enumerate(self.zones.shapes)]

    def _as_json(self, number: int, shape: Shape) -> dict[str, object]:
        if isinstance(shape, Line):
            ways = {"forward": self.crossed(number, forward=True), "backward": self.crossed(number, forward=False)}
            return {"line": shape.name, **ways}
        mine = self.visits[self.visits["shape"] == number]
        seconds = float((mine["end"] - mine["begin"]).sum())
        return {"zone": shape.name, "visits": len(mine), "entered": int(mine["entered"].sum()), "seconds": round(seconds, 3)}

    def routes(self) -> NDArray[np.void]:
        """The route of each track that was counted anywhere, of type ``ROUTES``, in the order of tracks."""
        places = [(self.crossings, "time"), (self.visits, "begin")]
        track, class_id, shape = (np.concatenate([table[name] for table, _ in places]) for name in ("track", "class_id", "shape"))
        order = np.lexsort((np.concatenate([table[name] for table, name in places]), track))
        tracks, starts, lengths = np.unique(track[order], return_index=True, return_counts=True)
        found = np.zeros(len(tracks), ROUTES)
        found["track"], found["class_id"], found["origin"] = tracks, class_id[order[starts]], shape[order[starts]]
        found["target"] = np.where(lengths > 1, shape[order[starts + lengths - 1]], -1)
        return found

    def route_counts(self) -> NDArray[np.void]:
        """How many tracks of each class took each route, of type ``ROUTE_COUNTS``, in the order of lines and zones."""
        routes, names = self.routes(), ("origin", "target", "class_id")
        kinds, numbers = np.unique(np.stack([routes[name] for name in names]), axis=1, return_counts=True)
        found = np.zeros(len(numbers), ROUTE_COUNTS)
        for name, values in zip((*names, "tracks"), (*kinds, numbers), strict=True):
            found[name] = values
        return found


def counts_of(counter: ZoneCounter, class_ids: Integers, allowed: Mapping[str, frozenset[int] | None]) -> Counts:
    """What was counted in the detections that a counter has.

    Parameters
    ----------
    counter : ZoneCounter
    class_ids : ndarray
        Of each track, by its number, int64; below 0: the track does not count.
    allowed : mapping
        The class ids that count at each shape, from ``ZoneSet.class_ids``.
    """
    lines = _are_lines(counter.zones)
    changes = _settled(_allowed(counter.changes, counter, class_ids, allowed), lines)
    return _counted(changes, lines, counter, class_ids)


def settle(
    counter: ZoneCounter, class_ids: Integers, allowed: Mapping[str, frozenset[int] | None], now: float, seconds: float
) -> tuple[Counts, Flags]:
    """Count what lies further back than some time for good, and let the counter forget it.

    It divides the changes of each shape at a moment without a change, so the result is that of all changes together. A visit that goes on
    is not counted yet.

    Parameters
    ----------
    counter, class_ids, allowed
        See ``counts_of``.
    now, seconds
        Seconds. The counts are divided between twice and once ``seconds`` before ``now``. Tracks of which nothing was seen for ``seconds``
        have ended.

    Returns
    -------
    tuple
        What was counted, and which tracks remain in the counter, bool: these have new numbers from 0 up now, in the same order.
    """
    before = counter.quiet_moments(now - 2 * seconds, now - seconds)
    first = float(before.min(initial=now - seconds))
    changes = counter.changes
    past = changes["time"] < before[changes["shape"]]
    lines = _are_lines(counter.zones)
    mine = _settled(changes[past], lines)
    last = np.append((np.diff(mine["shape"]) != 0) | (np.diff(mine["track"]) != 0), True)[: len(mine)]
    goes_on = last & mine["positive"] & ~lines[mine["shape"]] & (counter.ends[mine["track"]] >= first)
    counts = _counted(_allowed(mine[~goes_on], counter, class_ids, allowed), lines, counter, class_ids)
    kept = counter.forget(np.concatenate((changes[~past], mine[goes_on])), first - REPEAT_SECONDS, first)
    return counts, kept


def _allowed(
    changes: NDArray[np.void], counter: ZoneCounter, class_ids: Integers, allowed: Mapping[str, frozenset[int] | None]
) -> NDArray[np.void]:
    """The changes of tracks that count at their shape."""
    counted = np.zeros(len(changes), bool)
    classes = _classes(counter, class_ids)
    for number, shape in enumerate(counter.zones.shapes):
        mine = changes["shape"] == number
        wanted = allowed[shape.name]
        its = classes[changes["track"][mine]]
        counted[mine] = (its >= 0) if wanted is None else np.isin(its, np.fromiter(wanted, np.int64, len(wanted)))
    return changes[counted]


def _are_lines(zones: ZoneSet) -> Flags:
    return np.array([isinstance(shape, Line) for shape in zones.shapes], bool)


def _classes(counter: ZoneCounter, class_ids: Integers) -> Integers:
    """The class ids of all tracks; -1 for those that have none."""
    classes = np.full(max(len(counter.ends), len(class_ids)), -1, np.int64)
    classes[: len(class_ids)] = class_ids
    return classes


def _counted(changes: NDArray[np.void], lines: Flags, counter: ZoneCounter, class_ids: Integers) -> Counts:
    """What settled changes mean."""
    classes = _classes(counter, class_ids)
    changes = changes[changes["within"]]
    at_line = lines[changes["shape"]]
    crossings = _crossings(changes[at_line], classes)
    crossings = crossings[~_repeated(crossings, counter.seen)]
    return Counts(counter.zones, crossings, _visits(changes[~at_line], classes, counter.ends))


def _settled(changes: NDArray[np.void], lines: NDArray[np.bool_]) -> NDArray[np.void]:
    """Leave out that an object crossed a line and returned at once, on either way beyond its end, and that it left a zone and returned.

    changes: sorted by shape, track and time. lines: which shapes are lines.
    """
    if len(changes) < 2:
        return changes
    same = (np.diff(changes["shape"]) == 0) & (np.diff(changes["track"]) == 0)
    returned = same & (changes["positive"][1:] != changes["positive"][:-1]) & (np.diff(changes["time"]) < RETURN)
    returned &= lines[changes["shape"][1:]] | changes["positive"][1:]
    kept = np.ones(len(changes), bool)
    before = -1
    for row in np.flatnonzero(returned).tolist():
        if row != before:  # of three changes in a row, the first two cancel each other out
            kept[row : row + 2] = False
            before = row + 1
    return changes[kept]


def _crossings(changes: NDArray[np.void], classes: Integers) -> NDArray[np.void]:
    found = np.zeros(len(changes), CROSSINGS)
    for name in ("shape", "track", "time"):
        found[name] = changes[name]
    found["class_id"], found["forward"] = classes[changes["track"]], changes["positive"]
    return found[np.argsort(found["time"], kind="stable")]


def _repeated(crossings: NDArray[np.void], seen: Seen) -> NDArray[np.bool_]:
    """Which crossings show an object that another track carried over the same line in the same direction. crossings: ordered by time."""
    found = np.zeros(len(crossings), bool)
    ends = np.searchsorted(crossings["time"], crossings["time"] + REPEAT_SECONDS, side="right")
    kinds = np.unique(crossings[["shape", "class_id", "forward"]], return_inverse=True)[1]
    for one, end in enumerate(ends.tolist()):
        for other in (one + 1 + np.flatnonzero(kinds[one + 1 : end] == kinds[one])).tolist():
            weaker = _weaker(crossings[[one, other]], seen)
            if weaker is not None:
                found[(one, other)[weaker]] = True
    return found


def _weaker(pair: NDArray[np.void], seen: Seen) -> int | None:
    """Which of two crossings, 0 or 1, is one of a second track on the same object; None: neither."""
    first, last = np.searchsorted(seen.times, (pair["time"].min() - REPEAT_SECONDS, pair["time"].max() + REPEAT_SECONDS))
    rows = [first + np.flatnonzero(seen.tracks[first:last] == track) for track in pair["track"]]
    weaker = int(len(rows[1]) <= len(rows[0]))
    if not len(rows[weaker]) or len(rows[weaker]) > REPEAT_SEEN * len(rows[1 - weaker]):
        return None
    (times, boxes), (other_times, other_boxes) = (
        (seen.times[each], seen.boxes[each].astype(np.float64)) for each in (rows[weaker], rows[1 - weaker])
    )
    others = np.stack([np.interp(times, other_times, side, np.nan, np.nan) for side in other_boxes.T], 1)
    boxes, others = (each[np.isfinite(others[:, 0])] for each in (boxes, others))
    overlap = pair_overlaps(boxes, others)
    both = areas(boxes) + areas(others)
    shared = overlap * both / (1 + overlap)
    hits = (overlap >= REPEAT_OVERLAP) & (shared >= REPEAT_INSIDE * np.minimum(areas(boxes), areas(others)))
    return weaker if len(hits) and hits.mean() >= REPEAT_SHARE else None


def _visits(changes: NDArray[np.void], classes: Integers, ends: Array) -> NDArray[np.void]:
    begins = np.flatnonzero(changes["positive"])
    following = np.append(changes[1:], np.zeros(1, changes.dtype))[begins] if len(changes) else changes
    mine = changes[begins]
    left = (following["shape"] == mine["shape"]) & (following["track"] == mine["track"]) & (begins + 1 < len(changes))
    found = np.zeros(len(begins), VISITS)
    for name in ("shape", "track"):
        found[name] = mine[name]
    found["class_id"], found["entered"], found["left"] = classes[mine["track"]], ~mine["first"], left
    found["begin"], found["end"] = mine["time"], np.where(left, following["time"], ends[mine["track"]])
    return found[np.argsort(found["begin"], kind="stable")]


def interval_numbers(times: Array, length: float, offset: float) -> Integers:
    """The number of the interval of each time, int64 (n,): see ``Intervals.of``. A quotient such as 0.3 / 0.1 is slightly too small."""
    return np.floor(np.round((times + offset) / length, 9)).astype(np.int64)


@dataclass(frozen=True)
class Intervals:
    """Equal intervals of time that cover a source.

    Attributes
    ----------
    starts : ndarray
        float64 (n,), seconds; the first may lie before the source.
    length
        Seconds.
    first, last
        Times of the source's first and last frame, seconds.
    """

    starts: Array
    length: float
    first: float
    last: float

    @classmethod
    def of(cls, first: float, last: float, length: float, offset: float = 0.0) -> Intervals:
        """The intervals that begin at full multiples of ``length`` since ``offset`` seconds before time 0."""
        first_number, last_number = interval_numbers(np.array([first, last]), length, offset)
        return cls(np.round(np.arange(first_number, last_number + 1) * length - offset, 6), length, first, last)

    def at(self, times: Array) -> NDArray[np.intp]:
        """The number of the interval of each time."""
        return np.clip(np.searchsorted(self.starts, np.round(times, 6), side="right") - 1, 0, len(self.starts) - 1)

    def counted(self, times: Array) -> NDArray[np.intp]:
        """How many of these times lie in each interval."""
        return np.bincount(self.at(times), minlength=len(self.starts))

    def occupancy(self, tracks: Integers, begins: Array, ends: Array) -> Iterator[tuple[int, int, float]]:
        """Yield for each interval how many tracks these visits show there, most visits at once, and the mean number at once."""
        edges = np.append(self.starts, np.inf)
        # a visit that ends at the moment when another begins counts at that moment
        moments, steps = np.concatenate((begins, ends)), np.concatenate((np.ones(len(begins), int), -np.ones(len(ends), int)))
        sequence = np.lexsort((-steps, moments))
        moments, level = moments[sequence], np.cumsum(steps[sequence])
        bounds = np.searchsorted(moments, edges)
        for number, start in enumerate(self.starts.tolist()):
            stop = start + self.length
            seen = len(np.unique(tracks[(begins < stop) & (ends >= start)]))  # a track that comes back is one
            low, high = bounds[number], bounds[number + 1]
            most = max([int(level[low - 1]) if low else 0, *level[low:high].tolist()])
            shown = max(min(stop, self.last) - max(start, self.first), 0.0)
            inside = float(np.maximum(np.minimum(ends, stop) - np.maximum(begins, start), 0.0).sum())
            yield seen, most, inside / shown if shown else float(most)
