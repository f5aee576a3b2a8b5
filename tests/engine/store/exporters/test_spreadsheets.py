"""R and LibreOffice Calc read the CSV tables. See ``tests.support.other_programs``: Rscript, soffice, a Python with openpyxl."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from pathlib import Path

import pytest

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.export import export_session
from framefleet.engine.store.exporters.options import ExportOptions
from framefleet.engine.store.session import SessionReader, SessionWriter
from tests.support.notices import words
from tests.support.other_programs import program, read_with, run_program
from tests.support.store import make_frame, video_info

LABELS = ("=1+1", 'Straßenbahn, "rot"', "-car")
VIDEO = 'cam "1", süd\nnorth.mp4'
FRAMES = 12
TABLES = ("cam.detections.csv", "counts.csv", "files.csv")
TEXTS = {"source", "clock", "label", "device", "file", "path", "error"}
TRUTHS = {"empty", "complete"}

R = """
arguments <- commandArgs(TRUE)
table <- read.csv(arguments[1], fileEncoding = arguments[2])
cat(sapply(table, class), sep = ",")
cat("\\n")
write.csv(table, row.names = FALSE, na = "")
"""

CELLS = """
import json, sys
from openpyxl import load_workbook
rows = load_workbook(sys.argv[1]).active.iter_rows()
print("\\n" + json.dumps([[[cell.data_type, cell.value] for cell in row] for row in rows], default=str))
"""


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "bom"])
def tables(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bool]:
    """The folder of the CSV tables of a session with difficult names, and whether they begin with a byte order mark."""
    folder = tmp_path_factory.mktemp("tables")
    with SessionWriter(folder / "s.sqlite", LABELS, {}) as writer:
        for number, name in enumerate((VIDEO, "b.mp4")):
            writer.add_source(number, name, video_info("", FRAMES))
            writer.add_frames(make_frame(number, index, index % 4) for index in range(FRAMES))
            writer.finish_source(number, name, Ledger(FRAMES, FRAMES), 1.0)
        writer.set_start(0, datetime.fromisoformat("2026-11-01T07:55:00+01:00"))
        writer.add_source(2, "+trap", SourceInfo("", SourceKind.IMAGES, "jpeg", 640, 480, 2, None, None, ()))
        writer.add_frames([make_frame(2, 0, 0, "späti.jpg"), make_frame(2, 1, name="c.jpg", failure="no picture")])
        writer.finish_source(2, "+trap", Ledger(2, 1, {}, {words("no picture"): 1}), 1.0)
    with SessionReader(folder / "s.sqlite") as reader:
        export_session(reader, folder, ["csv"], options=ExportOptions(bom=request.param))
    next(folder.glob("cam*.detections.csv")).rename(folder / TABLES[0])
    return folder, request.param


def value_of(column: str, text: str) -> object:
    """The value of a field, None if it is empty."""
    if not text:
        return None
    return text if column in TEXTS else text == "TRUE" if column in TRUTHS else float(text)


def rows_of(content: str, columns: list[str]) -> list[list[object]]:
    """The values of a CSV table without its heading."""
    _, *rows = csv.reader(io.StringIO(content, newline=""))
    return [[value_of(name, text) for name, text in zip(columns, row, strict=True)] for row in rows]


def columns_of(path: Path) -> list[str]:
    return next(csv.reader(io.StringIO(path.read_text("utf-8-sig"))))


def expected_rows(path: Path) -> list[list[object]]:
    """The values of a table, after a comparison of the detections with the session."""
    columns = columns_of(path)
    rows = rows_of(path.read_text("utf-8-sig"), columns)
    if path.name == TABLES[0]:
        named = [dict(zip(columns, row, strict=True)) for row in rows]
        with SessionReader(path.parent / "s.sqlite") as reader:
            found = [(frame, frame.detections) for frame in reader.frames(0)]
        stored = [
            (VIDEO, frame.ref.index, class_id, round(score, 4), *(round(value, 2) for value in box[:2]))
            for frame, detections in found
            if detections
            for class_id, score, box in zip(
                *(each.tolist() for each in (detections.class_ids, detections.scores, detections.boxes)), strict=True
            )
        ]
        assert [tuple(row[name] for name in ("source", "frame", "class_id", "confidence", "x", "y")) for row in named] == stored
        assert {row["label"] for row in named} == {"'=1+1", 'Straßenbahn, "rot"', "'-car"}
    return rows


@pytest.mark.parametrize("name", TABLES)
def test_r_reads_types_and_values(tables: tuple[Path, bool], name: str) -> None:
    folder, bom = tables
    types, content = run_program(program("Rscript"), "-e", R, folder / name, "UTF-8-BOM" if bom else "UTF-8").split("\n", 1)
    columns, expected = columns_of(folder / name), expected_rows(folder / name)
    assert rows_of(content, columns) == expected
    for column, kind, *values in zip(columns, types.split(","), *expected, strict=True):
        if all(value is None for value in values):
            assert kind == "logical"
        else:
            assert kind in ({"character"} if column in TEXTS else {"logical"} if column in TRUTHS else {"integer", "numeric"}), column


@pytest.mark.parametrize("name", TABLES)
def test_calc_has_numbers_texts_and_no_formulas(tables: tuple[Path, bool], tmp_path: Path, name: str) -> None:
    """The import is as the dialog proposes it: separated by commas, UTF-8."""
    folder, _ = tables
    profile, proposal = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--infilter=CSV:44,34,76,1"
    run_program(program("soffice"), profile, proposal, "--convert-to", "xlsx", "--outdir", tmp_path, folder / name)
    _, *rows = read_with("openpyxl", CELLS, (tmp_path / name).with_suffix(".xlsx"))
    columns, expected = columns_of(folder / name), expected_rows(folder / name)
    assert [[value for _, value in row] for row in rows] == expected
    for row in rows:
        for column, (kind, value) in zip(columns, row, strict=True):
            if value is not None:
                assert kind == ("s" if column in TEXTS else "b" if column in TRUTHS else "n"), column
