"""The result formats: one module each, which describes its format by an ``Exporter``."""

from engine.store.exporters import coco, jsonl, video
from engine.store.exporters.base import Exporter

EXPORTERS: dict[str, Exporter] = {"jsonl": jsonl.EXPORTER, "coco": coco.EXPORTER, "video": video.EXPORTER}
"""By the name that users give. A new format is a module with an ``EXPORTER``, and an entry here."""
