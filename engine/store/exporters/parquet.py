"""Apache Parquet: the columns of the CSV table of detections, with types and compressed.

Frames count from 0. ``track`` is null in sessions without tracks. ``verified`` is there if a person corrected the session, ``drawn`` if a
person drew or moved a box.
``clock`` is a time stamp in UTC, null if it is unknown when the source began or the picture was taken.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.store import sources
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.exporters.base import Export, Exporter, Output, complete_file
from framefleet.engine.store.exporters.csv import columns_of, file_of
from framefleet.engine.store.schema import explained
from framefleet.engine.store.session import Block, StoredSource

REPEATED = ["source", "frame", "time", "clock", "class_id", "label", "picture_width", "picture_height", "device", "track"]
"""Columns whose values repeat, so that a dictionary makes them smaller. Searching the others for repetitions takes time."""

EPOCH, MILLISECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(milliseconds=1)

ROW_GROUP = 65_536
"""Least number of rows in a row group: fewer cost space and time, more cost memory."""


def write(export: Export) -> None:
    """Write a row per detection, in row groups of about ``ROW_GROUP`` rows.

    Raises ExportError if pyarrow is not installed, or the file cannot be written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ExportError(Notice("store.no_pyarrow")) from None
    schema = _schema(pa, columns_of(export))
    with (
        explained(export.path, "write"),
        complete_file(export.path) as part,
        pq.ParquetWriter(part, schema, use_dictionary=REPEATED) as file,
        ThreadPoolExecutor(1) as writing,
    ):
        written: Future[None] | None = None
        waiting: Any = None
        for group in _row_groups(pa, schema, export):
            if written is not None:
                written.result()
            if waiting is not None:  # a small file needs no thread
                written = writing.submit(file.write_table, waiting)  # compression needs no lock of the interpreter
            waiting = group
        if written is not None:
            written.result()
        if waiting is not None:
            file.write_table(waiting)


def _row_groups(pa: Any, schema: Any, export: Export) -> Iterator[Any]:
    tables: list[Any] = []
    for source in export.sources:
        clock = Clock.of(export.reader, source)
        for block in export.blocks(source):
            tables.append(_table(pa, schema, export, source, clock, block))
            if sum(table.num_rows for table in tables) >= ROW_GROUP:
                yield pa.concat_tables(tables)
                tables.clear()
    if tables:
        yield pa.concat_tables(tables)


def _schema(pa: Any, columns: tuple[str, ...]) -> Any:
    types = {
        "verified": pa.bool_(),
        "drawn": pa.bool_(),
        "time": pa.float64(),
        "clock": pa.timestamp("ms", "UTC"),
        "confidence": pa.float64(),
    }
    types |= dict.fromkeys(("source", "label", "device"), pa.string())
    types |= dict.fromkeys(("frame", "track"), pa.int64())
    types |= dict.fromkeys(("class_id", "picture_width", "picture_height"), pa.int32())
    types |= dict.fromkeys(("x", "y", "width", "height"), pa.float64())
    return pa.schema([(name, types[name]) for name in columns])


def _table(pa: Any, schema: Any, export: Export, source: StoredSource, clock: Clock, block: Block) -> Any:
    labels, devices = export.reader.labels, export.reader.device_names()
    numbers, times, widths, heights, _, names, used = zip(*block.frames, strict=True)
    clocks = [clock.at(pts) for pts in times]
    moments = [0 if moment is None else (moment - EPOCH) // MILLISECOND for moment in clocks]
    of_frames = {
        "frame": np.array(numbers),
        "time": np.array([round(pts, 6) for pts in times]),
        "clock": np.array(moments),
        "picture_width": np.array(widths, np.int32),
        "picture_height": np.array(heights, np.int32),
    }
    values: dict[str, NDArray[Any]] = {name: column[block.frame] for name, column in of_frames.items()}
    values |= {"class_id": block.class_ids.astype(np.int32), "confidence": block.scores, "track": block.tracks}
    values |= dict(zip(("x", "y", "width", "height"), block.boxes.T, strict=True))
    untimed = source.kind is SourceKind.IMAGES
    missing = {"time": np.full(len(block.frame), untimed), "clock": np.array([moment is None for moment in clocks])[block.frame]}
    missing["track"] = block.tracks < 0
    if "verified" in schema.names:
        values["verified"] = block.verified
    if "drawn" in schema.names:
        values["drawn"] = block.drawn
    texts = {
        "source": ([file_of(source, name) for name in names], block.frame),
        "label": ([sources.label_of(labels, number) for number in range(int(block.class_ids.max(initial=-1)) + 1)], block.class_ids),
        "device": ([devices[number] for number in used], block.frame),
    }
    columns = {name: _texts(pa, known).take(_numbers(pa, pa.int64(), places)) for name, (known, places) in texts.items()}
    columns |= {name: _numbers(pa, schema.field(name).type, column, missing.get(name)) for name, column in values.items()}
    return pa.table([columns[name] for name in schema.names], schema)


def _numbers(pa: Any, kind: Any, values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> Any:
    """Convert an array with the item size of ``kind``. ``pyarrow.array`` would import pandas, which takes a quarter of a second."""
    data = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else np.ascontiguousarray(values)
    valid = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(data)])


def _texts(pa: Any, texts: Sequence[str]) -> Any:
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(texts), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))])


EXPORTER = Exporter(
    "Parquet",
    "A row per detection, small and fast, for pandas, DuckDB and Spark",
    (Output(".detections.parquet", write, joins=True),),
    options=("one_table",),
)
