"""Measures how fast the window shows many boxes, a playing video, and an hour of stored results.

Boxes: processor time of the window's thread for one new frame of 1280×720 logical pixels with boxes of 80 classes, from the new picture to
the end of its painting. The pictures of labels are created once for each class and percentage, so only the second pass over the same frames
counts.

Playing: processor time of the window and of its preview process for 30 shown pictures of a 1080p30 video, as a share of a second. It does
not depend on how busy the machine is. Decoding the same video with PyAV and nothing else is the lower limit.

An hour: 108,000 frames with two million boxes. "Opened" is the time until the file is in the queue. "Counted" is the processor time of the
background thread that counts its detections for the timeline and the list of classes. Reading every row with SQLite is the reference.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median
from threading import Event
from typing import Any

import numpy as np

from benchmarks.meters import in_new_process
from benchmarks.report import table, write
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult
from framefleet.resources import DEMO

CPU = DeviceId("cpu", "0")
LABELS = tuple(f"class {number}" for number in range(80))
SECONDS = 10.0


def frame(random: np.random.Generator, index: int, boxes: int) -> FrameResult:
    """A frame of 1920×1080 with boxes of 20 to 200 pixels."""
    corner, size = random.uniform(0, 1, (boxes, 2)) * (1800, 1000), random.uniform(20, 200, (boxes, 2))
    edges = np.concatenate([corner, np.minimum(corner + size, (1920, 1080))], 1).astype(np.float32)
    scores = np.sort(random.uniform(0.25, 1, boxes).astype(np.float32))[::-1].copy()
    found = Detections(edges, scores, random.integers(0, len(LABELS), boxes).astype(np.int32))
    return FrameResult(FrameRef(0, index, index / 30), CPU, 1920, 1080, found)


def repaints(boxes: int) -> list[float]:
    """Processor time of the window's thread for each of 60 frames, ms."""
    from PySide6.QtGui import QColor, QImage

    from framefleet.app.window.main import GarbageCollector, make_application
    from framefleet.app.window.viewer.canvas import VideoCanvas
    from framefleet.app.window.viewer.filter import ViewFilter

    application = make_application()
    garbage = GarbageCollector()
    garbage.start()
    canvas = VideoCanvas()
    canvas.resize(1280, 720)
    canvas.set_labels(LABELS)
    canvas.set_filter(ViewFilter(0.2))
    canvas.show()
    while not canvas.windowHandle().isExposed():
        application.processEvents()
    image = QImage(1280, 720, QImage.Format.Format_RGB32)
    image.fill(QColor(90, 90, 90))
    random = np.random.default_rng(0)
    frames = [frame(random, index, boxes) for index in range(60)]
    times: list[float] = []
    for _ in range(2):
        times.clear()
        for result in frames:
            start = time.thread_time()
            canvas.show_picture(image, (1920, 1080), result)
            canvas.repaint()
            times.append(1000 * (time.thread_time() - start))
    return times


def make_video(path: Path) -> None:
    """The demo's clip as a 1080p30 video of 15 seconds, H.264."""
    import av
    import cv2

    with av.open(str(DEMO.clip)) as source, av.open(str(path), "w") as target:
        stream = target.add_stream("libx264", rate=Fraction(30), options={"preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = 1920, 1080, "yuv420p"
        for number, picture in enumerate(source.decode(video=0)):
            if number == 450:
                break
            large = cv2.resize(picture.to_ndarray(format="rgb24"), (1920, 1080), interpolation=cv2.INTER_CUBIC)
            target.mux(stream.encode(av.VideoFrame.from_ndarray(np.asarray(large, np.uint8), "rgb24")))
        target.mux(stream.encode())


def bare_decoding(video: Path, threads: int | None = None, loop_filter: bool = True, size: tuple[int, int] | None = None) -> float:
    """Processor time of decoding 30 frames, as a share of a second.

    threads: of the decoder, None = its default. loop_filter: also of frames to which no others refer. size: to which frames are scaled.
    """
    import av
    from av.video.reformatter import VideoReformatter

    scale = VideoReformatter()
    with av.open(str(video)) as container:
        codec = container.streams.video[0].codec_context
        if threads is not None:
            codec.thread_count = threads
        if not loop_filter:
            codec.options = {"skip_loop_filter": "noref"}
        start, frames = time.process_time(), 0
        for frame in container.decode(video=0):
            frames += 1
            if size is not None:
                scale.reformat(frame, *size, "bgra", interpolation="AREA", threads=1)
        return (time.process_time() - start) / frames * 30


def processor(pid: int) -> float:
    """Processor time of a process so far, seconds. Linux only."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def playing(video: Path, folder: Path) -> dict[str, float]:
    """Play for ``SECONDS``; return the shares of a core at 30 pictures/s of the window and the preview, and the shown pictures/s."""
    from PySide6.QtCore import QSettings, QTimer

    from framefleet.app.window.main import make_application
    from framefleet.app.window.main_window import MainWindow

    application = make_application()
    window = MainWindow(QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat), folder / "sessions")
    window.show()
    window.open_paths([video])
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    shown = 0

    def count(_: object) -> None:
        nonlocal shown
        shown += 1

    def read(into: dict[str, float]) -> None:
        preview = window.context.preview.process_id
        assert preview is not None
        into.update(time=time.monotonic(), window=processor(os.getpid()), preview=processor(preview), shown=shown)

    def start(_: object) -> None:
        window.context.viewer.player.shown.disconnect(start)
        window.context.viewer.player.shown.connect(count)
        window.context.viewer.player.play()
        QTimer.singleShot(1000, lambda: read(before))
        QTimer.singleShot(1000 + int(1000 * SECONDS), stop)

    def stop() -> None:
        read(after)
        application.quit()

    window.context.viewer.player.shown.connect(start)
    application.exec()
    window.close()
    pictures = after["shown"] - before["shown"]
    shares = {name: 30 * (after[name] - before[name]) / pictures for name in ("window", "preview")}
    return shares | {"shown": pictures / (after["time"] - before["time"])}


def make_hour(path: Path) -> None:
    """A session of 108,000 frames with two million boxes."""
    from framefleet.engine.media.types import SourceInfo, SourceKind

    random = np.random.default_rng(0)
    info = SourceInfo("hour.mp4", SourceKind.VIDEO, "h264", 1920, 1080, 108_000, 3600.0, 30.0, ())
    with SessionWriter(path, LABELS, {}) as writer:
        writer.add_source(0, "hour.mp4", info)
        for first in range(0, info.frames, 2000):
            writer.add_frames(frame(random, index, int(random.poisson(18.6))) for index in range(first, first + 2000))
        writer.finish_source(0, "hour.mp4", Ledger(info.frames, info.frames), 100.0)


def opening(path: Path) -> dict[str, float]:
    """Seconds to open and to count the session, and to read its rows."""
    from framefleet.app.window.results.stored import count_stored, read_stored
    from framefleet.app.window.timeline.class_counts import Tally

    def timed(work: Callable[[], Any], clock: Callable[[], float]) -> tuple[float, Any]:
        start = clock()
        value = work()
        return clock() - start, value

    connection = sqlite3.connect(path)
    rows, _ = timed(lambda: connection.execute("SELECT sum(length(boxes)) FROM frames").fetchall(), time.process_time)
    opened, found = timed(lambda: read_stored(path), time.perf_counter)
    tally = Tally()
    counted, _ = timed(lambda: count_stored([(found[0], tally)], Event()), time.process_time)
    drawn, _ = timed(lambda: (tally.activity(0.25), tally.counts(0.25)), time.perf_counter)
    return {"rows": rows, "opened": opened, "counted": counted, "drawn": drawn}


DECODERS: dict[str, dict[str, Any]] = {
    "decoding": {},
    "with one thread": {"threads": 1},
    "with two threads, as the preview process": {"threads": 2},
    "without the loop filter of frames to which no others refer": {"loop_filter": False},
    "decoding, and scaling to 960×540 for the screen": {"size": (960, 540)},
}
"""Ways of decoding, by what a report calls them."""


def compare_decoders(rounds: int) -> None:
    """Report what decoding costs in each of these ways. They take turns, so that other work on the machine affects all of them."""
    with tempfile.TemporaryDirectory() as name:
        video = Path(name) / "video.mp4"
        make_video(video)
        shares = [{way: in_new_process(bare_decoding, video, **options) for way, options in DECODERS.items()} for _ in range(rounds)]
    rows = [
        (way, f"{100 * median(one[way] for one in shares):.1f} %", f"{100 * min(one[way] for one in shares):.1f} %") for way in DECODERS
    ]
    text = table(("1080p30", "share of a core, median", "lowest"), rows)
    text += f"\n\nProcessor time of {rounds} rounds. These are the parts of playing that no design of the window can avoid without a GPU."
    write("window.speed", "What decoding for the screen costs", text, ("av",), "window")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--decoding", action="store_true", help="only what a decoder's settings and the scaling of its pictures cost")
    options = parser.parse_args()
    if options.decoding:
        compare_decoders(options.rounds)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        video, hour = folder / "video.mp4", folder / "hour.sqlite"
        make_video(video)
        make_hour(hour)
        boxes = {count: [in_new_process(repaints, count) for _ in range(options.rounds)] for count in (0, 30, 300)}
        played = [in_new_process(playing, video, folder) | {"bare": in_new_process(bare_decoding, video)} for _ in range(options.rounds)]
        opened = [in_new_process(opening, hour) for _ in range(options.rounds)]
    empty = median(median(times) for times in boxes[0])
    rows = []
    for count, rounds in boxes.items():
        middle = median(median(times) for times in rounds)
        slowest = median(float(np.percentile(times, 99)) for times in rounds)
        rows.append((str(count), f"**{middle:.2f}**", f"{slowest:.2f}", f"{middle / empty:.1f}"))
    text = table(("boxes", "ms, median", "ms, p99", "÷ no boxes"), rows)
    shares = {key: median(one[key] for one in played) for key in ("window", "preview", "bare", "shown")}
    both = shares["window"] + shares["preview"]
    text += "\n\n" + table(
        ("playing 1080p30", "share of a core"),
        [
            ("window", f"{100 * shares['window']:.1f} %"),
            ("preview process", f"{100 * shares['preview']:.1f} %"),
            ("both", f"**{100 * both:.1f} %**"),
            ("decoding alone", f"{100 * shares['bare']:.1f} %"),
            ("both ÷ decoding alone", f"{median((one['window'] + one['preview']) / one['bare'] for one in played):.2f}"),
        ],
    )
    text += f"\n\n{shares['shown']:.1f} pictures/s were shown."
    hours = {key: median(one[key] for one in opened) for key in opened[0]}
    text += "\n\n" + table(
        ("an hour of results", "seconds"),
        [
            ("opened", f"**{hours['opened']:.2f}**"),
            ("counted in the background (processor time)", f"{hours['counted']:.2f}"),
            ("read every row with SQLite (processor time)", f"{hours['rows']:.2f}"),
            ("activity and counts for another confidence", f"{hours['drawn']:.4f}"),
        ],
    )
    libraries = ("PySide6-Essentials", "av", "numpy", "opencv-python-headless")
    text += f"\n\nMedians of {options.rounds} rounds, each in a new process.\n\n{str(__doc__).partition('.')[2].strip()}"
    write("window.speed", "How fast the window shows things", text, libraries, "window")


if __name__ == "__main__":
    main()
