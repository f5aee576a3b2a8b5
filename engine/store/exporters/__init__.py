"""The export formats. Each module defines one format as an ``Exporter``."""

from engine.store.exporters import coco, csv, jsonl, parquet, video
from engine.store.exporters.base import Exporter

EXPORTERS: dict[str, Exporter] = {
    "jsonl": jsonl.EXPORTER,
    "csv": csv.EXPORTER,
    "parquet": parquet.EXPORTER,
    "coco": coco.EXPORTER,
    "video": video.EXPORTER,
}
"""The formats by their names in the settings. To add a format, add a module with an ``EXPORTER`` and an entry here."""
