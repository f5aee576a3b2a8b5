"""Makes the pictures of the guide's jobs: runs the commands of the pages on parts of the demo's clip, and draws the outcome.

Usage: ``python -m tools.guide_pictures``. It takes about five minutes on two CPU cores and writes to ``docs/guide/pictures``.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from framefleet.resources import DEMO

PROJECT = Path(__file__).parents[1]
PICTURES = PROJECT / "docs" / "guide" / "pictures"
MODEL = ("--model", DEMO.cfg, "--labels", DEMO.labels, "--devices", "cpu:0", "--quiet")
JPEG_QUALITY = 82
TEXT, MUTED, GRID, PAPER = "#1c2027", "#646c79", "#e4e7ec", "#ffffff"
SERIES = ("#3b7ddd", "#d9480f", "#2b8a60", "#862e9c", "#b08900", "#0b7285")
"""Colours of lines that are compared."""


def document(width: int, height: int, parts: Sequence[str]) -> str:
    """An SVG document with rounded white paper behind ``parts``."""
    fonts = 'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" {fonts}>'
    paper = f'<rect width="{width}" height="{height}" rx="10" fill="{PAPER}"/>'
    return "\n".join([head, paper, *parts, "</svg>", ""])


def text(x: float, y: float, words: str, size: int, colour: str, anchor: str = "start", weight: int = 400, turned: int = 0) -> str:
    """A line of text. anchor: "start", "middle" or "end". turned: clockwise around x, y, degrees."""
    turn = f'transform="rotate({turned} {x:.1f} {y:.1f})" ' if turned else ""
    place = f'{turn}x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{size}" font-weight="{weight}" fill="{colour}">{escape(words)}</text>'


def framefleet(folder: Path, *arguments: str | Path) -> None:
    """Run a command of Framefleet in a folder."""
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    subprocess.run([sys.executable, "-m", "app", *map(str, arguments)], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def cut(target: Path, start: float, seconds: float, grey: bool = False) -> None:
    """Write a part of the demo's clip. grey: without any object, as a camera trap that the wind has triggered."""
    import av
    import numpy as np

    with av.open(str(DEMO.clip)) as source, av.open(str(target), "w") as output:
        given = source.streams.video[0]
        stream = output.add_stream("libx264", rate=given.average_rate, options={"crf": "20", "g": "25"})
        stream.width, stream.height, stream.pix_fmt = given.width, given.height, "yuv420p"
        for frame in source.decode(video=0):
            time = float(frame.time or 0)
            if time >= start + seconds:
                break
            if time < start:
                continue
            if grey:
                frame = av.VideoFrame.from_ndarray(np.full((given.height, given.width, 3), 96, np.uint8))
            frame.pts = None
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))


def table(title: str, note: str, heading: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    """A table as SVG. The first column is text, the others are numbers. widths: of the columns, pixels."""
    line, top = 27, 96
    width, height = 48 + sum(widths), top + line * len(rows) + 14
    ends = [24 + sum(widths[: number + 1]) for number in range(len(widths))]
    parts = [text(24, 34, title, 17, TEXT, weight=600), text(24, 55, note, 12, MUTED)]
    for number, words in enumerate(heading):
        parts.append(text(24 if number == 0 else ends[number] - 12, top - 12, words, 12, MUTED, "end" if number else "start", 600))
    for place, row in enumerate(rows):
        y = top + line * place
        parts.append(f'<line x1="24" y1="{y}" x2="{width - 24}" y2="{y}" stroke="{GRID}"/>')
        for number, words in enumerate(row):
            parts.append(text(24 if number == 0 else ends[number] - 12, y + 18, words, 13, TEXT, "end" if number else "start"))
    return document(width, height, parts)


def bars(title: str, note: str, groups: Sequence[str], series: dict[str, Sequence[float]]) -> str:
    """A chart with a group of bars for each name, and a bar for each series in it."""
    width, height, left, top, bottom = 760, 380, 52, 96, 44
    inner, most = height - top - bottom, max(max(values) for values in series.values()) or 1
    step = max(1, round(most / 5))
    parts = [text(24, 34, title, 17, TEXT, weight=600), text(24, 55, note, 12, MUTED)]
    for value in range(0, int(most) + step, step):
        y = height - bottom - inner * value / most
        if y >= top - 8:
            parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - 24}" y2="{y:.1f}" stroke="{GRID}"/>')
            parts.append(text(left - 8, y + 4, str(value), 12, MUTED, "end"))
    space = (width - 24 - left) / len(groups)
    bar = space * 0.76 / len(series)
    for number, name in enumerate(groups):
        parts.append(text(left + space * (number + 0.5), height - bottom + 20, name, 12, MUTED, "middle"))
        for place, (values, colour) in enumerate(zip(series.values(), SERIES, strict=False)):
            size = inner * values[number] / most
            x = left + space * (number + 0.12) + bar * place
            parts.append(f'<rect x="{x:.1f}" y="{height - bottom - size:.1f}" width="{bar - 1:.1f}" height="{size:.1f}" fill="{colour}"/>')
    x = 24.0
    for name, colour in zip(series, SERIES, strict=False):
        parts += [f'<rect x="{x:.0f}" y="69" width="11" height="11" rx="2" fill="{colour}"/>', text(x + 17, 79, name, 12, TEXT)]
        x += 36 + 7 * len(name)
    return document(width, height, parts)


def empty_clips(folder: Path) -> None:
    """Twelve clips of two seconds, five of them without objects: the rows of ``files.csv``."""
    import pandas as pd  # type: ignore[import-untyped]

    (folder / "clips").mkdir()
    for number in range(12):
        cut(folder / "clips" / f"trap-{number + 1:02}.mp4", 2.2 * number, 2, grey=number in (0, 3, 4, 8, 10))
    framefleet(folder, "detect", "clips", *MODEL, "--confidence", "0.2", "--format", "csv,megadetector", "--out", "found")
    files = pd.read_csv(folder / "found" / "files.csv")
    labels = [name for name in ("person", "dog", "bicycle", "car") if f"{name}_most_at_once" in files]
    rows = []
    for _, row in files.iterrows():
        counts = [int(row[f"{name}_most_at_once"]) for name in labels]
        first = min((row[f"{name}_first"] for name in labels if row[f"{name}_most_at_once"]), default=None)
        seen = "" if first is None else f"{first:.2f} s"
        rows.append([row["file"], "yes" if row["empty"] else "no", seen, *(str(count) if count else "" for count in counts)])
    note = f"{len(files)} clips, {int(files['empty'].sum())} of them empty; the numbers are the most at once"
    drawn = table("files.csv", note, ["file", "empty", "first seen", *labels], rows, [150, 80, 100, *(90 for _ in labels)])
    (PICTURES / "empty-clips.svg").write_text(drawn, "utf-8")


def traffic_counts(folder: Path) -> None:
    """Parts of the clip as recordings of two hours: different objects per quarter of an hour."""
    import pandas as pd

    (folder / "recordings").mkdir()
    times = [f"{hour:02}{minute:02}00" for hour in (7, 8) for minute in (0, 15, 30, 45)]
    for number, time in enumerate(times):
        cut(folder / "recordings" / f"north_20261101_{time}.mp4", 3.3 * number, 3.3)
    clock = ("--clock", "name", "--time-zone", "Europe/Berlin")
    classes = ("--classes", "car,truck,bus,bicycle,person")
    framefleet(folder, "detect", "recordings", *MODEL, *classes, *clock, "--format", "csv", "--interval", "15m", "--out", "counted")
    framefleet(folder, "track", "counted")
    framefleet(folder, "results", "counted", *clock, "--format", "csv", "--interval", "15m", "--quiet")
    counts = pd.read_csv(folder / "counted" / "counts.csv")
    quarters = counts.groupby(["clock", "label"])["tracks"].sum().unstack()
    labels = quarters.sum().sort_values(ascending=False).index
    note = "different objects (column tracks of counts.csv), summed over the files of each quarter of an hour"
    series = {str(label): quarters[label].tolist() for label in labels}
    drawn = bars("Traffic on 1 November 2026", note, [clock[11:16] for clock in quarters.index], series)
    (PICTURES / "traffic-counts.svg").write_text(drawn, "utf-8")


def retraining(folder: Path) -> None:
    """Doubtful frames of the clip, with the boxes of the labels that are to be corrected."""
    import cv2
    import numpy as np

    from framefleet.engine.media.annotation.layout import class_colour

    (folder / "videos").mkdir()
    (folder / "videos" / "street.mp4").write_bytes(DEMO.clip.read_bytes())
    framefleet(folder, "detect", "videos", *MODEL, "--confidence", "0.1", "--out", "detected")
    chosen = ("--pictures", "jpeg", "--between", "0.3,0.6", "--every", "1s", "--confidence", "0.3")
    framefleet(folder, "results", "detected", "--format", "yolo", *chosen, "--out", "training", "--quiet")
    tiles = []
    for picture in sorted((folder / "training" / "yolo" / "images").rglob("*.jpg"))[1:27:5]:
        image = cv2.imread(str(picture))
        assert image is not None
        height, width = image.shape[:2]
        labels = folder / "training" / "yolo" / "labels" / picture.parent.name / f"{picture.stem}.txt"
        for line in labels.read_text().splitlines():
            class_id, x, y, w, h = map(float, line.split())
            corners = [((x + side * w / 2) * width, (y + side * h / 2) * height) for side in (-1, 1)]
            start, end = (tuple(round(value) for value in corner) for corner in corners)
            cv2.rectangle(image, start, end, class_colour(int(class_id))[::-1], 2)
        cv2.putText(image, picture.name, (8, height - 10), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (255, 255, 255), 2, cv2.LINE_AA)
        tiles.append(cv2.resize(image, (320, round(320 * height / width)), interpolation=cv2.INTER_AREA))
    while len(tiles) % 3:
        tiles.append(np.zeros_like(tiles[0]))
    mosaic = np.vstack([np.hstack(tiles[start : start + 3]) for start in range(0, len(tiles), 3)])
    cv2.imwrite(str(PICTURES / "retraining.jpg"), mosaic, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])


def two_models(folder: Path) -> None:
    """The demo's model at two sizes, compared with the truth: a worst frame in the window."""
    (folder / "street.mp4").write_bytes(DEMO.clip.read_bytes())
    truth = gzip.decompress(DEMO.truth.read_bytes()).decode().replace(f"{DEMO.clip.name}#", "street.mp4#")
    (folder / "truth.json").write_text(truth, "utf-8")
    for name, size in (("old", "256x160"), ("new", "640x352")):
        framefleet(folder, "detect", "street.mp4", *MODEL, "--confidence", "0.005", "--size", size, "--out", name)
    framefleet(folder, "evaluate", "old", "new", "--truth", "truth.json", "--out", "report", "--quiet")
    windows(folder)


def windows(folder: Path) -> None:
    """Screenshots: a worst frame in the window with the list in front of it, and the Export dialog."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtCore import QPoint, QSettings
    from PySide6.QtGui import QPainter
    from PySide6.QtTest import QTest

    from framefleet.app.window.main import make_application
    from framefleet.app.window.main_window import MainWindow
    from framefleet.app.window.results.export import ExportDialog
    from framefleet.app.window.results.worst_frames import WorstFramesDialog

    application = make_application()
    window = MainWindow(QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat), folder / "sessions")
    window.resize(1240, 740)
    window.show()
    window.open_paths([folder / "report" / "worst-frames.json"])
    QTest.qWait(2000)
    dialog = window.findChild(WorstFramesDialog)
    assert dialog is not None
    dialog.resize(480, 300)
    row = dialog.table.topLevelItem(1)
    assert row is not None
    dialog.table.setCurrentItem(row)
    QTest.qWait(2000)
    while window.context.background.busy:  # it counts the detections of each class
        QTest.qWait(200)
    QTest.qWait(2000)
    picture = window.grab()
    painter = QPainter(picture)
    painter.drawPixmap(QPoint(picture.width() - 500, picture.height() - 318), dialog.grab())
    painter.end()
    picture.save(str(PICTURES / "two-models-worst-frames.jpg"), "JPEG", JPEG_QUALITY)
    dialog.close()
    window.context.actions.export.trigger()
    QTest.qWait(1000)
    asked = window.findChild(ExportDialog)
    assert asked is not None
    asked.folder.set_path("/home/ada/street")
    asked.forms.choose(["csv"])
    QTest.qWait(500)
    asked.command.setText(asked.command.text().replace(str(folder), "/home/ada"))
    asked.command.setCursorPosition(0)
    asked.grab().save(str(PICTURES / "export.png"))
    window.close()
    application.quit()


JOBS = {"empty-clips": empty_clips, "traffic-counts": traffic_counts, "retraining": retraining, "two-models": two_models}


def main() -> None:
    """Make the pictures."""
    parser = argparse.ArgumentParser(prog="python -m tools.guide_pictures", description="Make the pictures of the guide's jobs.")
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"only these: {', '.join(JOBS)}")
    PICTURES.mkdir(exist_ok=True)
    for job in parser.parse_args().jobs or JOBS:
        with tempfile.TemporaryDirectory() as folder:
            JOBS[job](Path(folder))


if __name__ == "__main__":
    main()
