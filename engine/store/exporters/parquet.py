"""Apache Parquet: the columns of the CSV table of detections, with types and compressed.

Frames count from 0. ``track`` is null in sessions without tracks. ``verified`` is there if a person corrected the session.
``clock`` is a time stamp in UTC, null if it is unknown when the source began.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from engine.errors import ExportError
from engine.store.blocks import Block
from engine.store.clock import Clock
from engine.store.exporters.common.base import Export, Exporter, Output, complete_file
from engine.store.exporters.common.rounding import label_of
from engine.store.exporters.csv import columns_of, file_of
from engine.store.schema import explained

REPEATED = ["source", "frame", "time", "clock", "class_id", "label", "picture_width", "picture_height", "device", "track"]
"""Columns whose values repeat, so that a dictionary makes them smaller. Searching the others for repetitions takes time."""

ROW_GROUP = 100_000
"""Least number of rows in a row group: fewer cost space and time, more cost memory."""


def write(export: Export) -> None:
    """Write a row per detection, in row groups of about ``ROW_GROUP`` rows.

    Raises:
        ExportError: pyarrow is not installed, or the file cannot be written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ExportError("--format parquet needs pyarrow: install framefleet[parquet], or pyarrow") from None
    schema = _schema(pa, columns_of(export))
    with (
        explained(export.path, "write"),
        complete_file(export.path) as part,
        pq.ParquetWriter(part, schema, use_dictionary=REPEATED) as file,
        ThreadPoolExecutor(1) as writing,
    ):
        written: Future[None] | None = None
        for group in _row_groups(pa, schema, export):
            if written is not None:
                written.result()
            written = writing.submit(file.write_table, group)  # compression needs no lock of the interpreter
        if written is not None:
            written.result()


def _row_groups(pa: Any, schema: Any, export: Export) -> Iterator[Any]:
    clock = Clock.of(export.reader, export.source)
    tables: list[Any] = []
    for block in export.blocks(export.source):
        tables.append(_table(pa, schema, export, clock, block))
        if sum(table.num_rows for table in tables) >= ROW_GROUP:
            yield pa.concat_tables(tables)
            tables.clear()
    if tables:
        yield pa.concat_tables(tables)


def _schema(pa: Any, columns: tuple[str, ...]) -> Any:
    types = {"verified": pa.bool_(), "time": pa.float64(), "clock": pa.timestamp("ms", "UTC"), "confidence": pa.float64()}
    types |= dict.fromkeys(("source", "label", "device"), pa.string())
    types |= dict.fromkeys(("frame", "track"), pa.int64())
    types |= dict.fromkeys(("class_id", "picture_width", "picture_height"), pa.int32())
    types |= dict.fromkeys(("x", "y", "width", "height"), pa.float64())
    return pa.schema([(name, types[name]) for name in columns])


def _table(pa: Any, schema: Any, export: Export, clock: Clock, block: Block) -> Any:
    labels, devices = export.reader.labels, export.reader.device_names()
    classes = range(int(block.class_ids.max(initial=-1)) + 1)
    numbers, times, widths, heights, _, names, used = zip(*block.rows, strict=True)
    of_frames: dict[str, Sequence[object]] = {
        "source": [file_of(export.source, name) for name in names],
        "frame": numbers,
        "time": [round(pts, 6) for pts in times],
        "clock": [clock.at(pts) for pts in times],
        "picture_width": widths,
        "picture_height": heights,
        "device": [devices[number] for number in used],
    }
    columns = {name: pa.array(values, schema.field(name).type).take(pa.array(block.frame)) for name, values in of_frames.items()}
    columns["label"] = pa.array([label_of(labels, class_id) for class_id in classes], pa.string()).take(pa.array(block.class_ids))
    columns["class_id"] = pa.array(block.class_ids.astype(np.int32))
    columns["confidence"] = pa.array(block.scores)
    columns |= {name: pa.array(block.boxes[:, column]) for column, name in enumerate(("x", "y", "width", "height"))}
    columns["verified"] = pa.array(block.verified)
    columns["track"] = pa.array(block.tracks, mask=block.tracks < 0)
    return pa.table([columns[name] for name in schema.names], schema)


EXPORTER = Exporter("Parquet", "A row per detection, small and fast, for pandas, DuckDB and Spark", (Output(".detections.parquet", write),))
