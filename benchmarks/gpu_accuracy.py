"""Whether an NVIDIA GPU detects what fp32 OpenVINO detects, frame by frame, by every precision and decoder.

The reference is made on any machine, with the same model and video:

    framefleet detect VIDEO --model M.cfg --weights M.weights --devices cpu:0 --precision fp32 --confidence 0.25 --format jsonl --out DIR

A box counts as found when both sides have it one to one: same class, IoU ≥ 0.9, confidence within 0.03. A box whose confidence is
within 0.03 of the threshold may rightly be on one side only; such boxes are counted apart.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from pathlib import Path

from benchmarks.report import table, write
from engine.media.probe import probe
from engine.pool.events import DeviceReady, FramesDone, SourceFinished
from engine.pool.pool import EnginePool
from engine.settings import Decode, EngineSettings, ModelFiles, Precision, RunSettings
from engine.types import Detections, DeviceId
from tests.support.detections import Comparison, compare, read_jsonl

THRESHOLD = 0.25
WANTED = 0.99


def detect(model: ModelFiles, video: Path, device: DeviceId, precision: Precision, decoder: Decode) -> tuple[list[Detections], str]:
    """Of every frame, and what ran."""
    engine = EngineSettings(precision=precision, decode=decoder, confidence=THRESHOLD)
    found, name = [], ""
    with EnginePool(RunSettings(model, engine=engine), [device]) as pool:
        pool.add(video)
        pool.finish()
        for event in pool.events():
            match event:
                case DeviceReady():
                    name = f"{event.engine.device_name}, {event.engine.backend}"
                case FramesDone():
                    found += [frame.detections or Detections() for frame in event.frames]
                case SourceFinished():
                    assert event.error is None, event.error
    return found, name


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("video", type=Path)
    parser.add_argument("--model", type=Path, required=True, help="M.cfg; its weights and labels lie beside it")
    parser.add_argument("--reference", type=Path, required=True, help="the jsonl file that the other machine made")
    parser.add_argument("--device", type=DeviceId.parse, default=DeviceId("cuda", "0"))
    arguments = parser.parse_args()
    info = probe(arguments.video)
    reference = read_jsonl(arguments.reference, info.width, info.height)
    model = ModelFiles(arguments.model, arguments.model.with_suffix(".weights"))
    rows, name = [], ""
    for precision, decoder in product((Precision.FP32, Precision.FP16), (Decode.CPU, Decode.AUTO)):
        found, name = detect(model, arguments.video, arguments.device, precision, decoder)
        assert len(found) == len(reference), (len(found), len(reference))
        pairs = zip(reference, found, strict=True)
        total = sum((compare(theirs, ours, THRESHOLD) for theirs, ours in pairs), Comparison())
        judged = total.reference - total.missed_at_threshold, total.ours - total.surplus_at_threshold
        shares = (total.recovered, total.confirmed, total.paired / judged[0], total.paired / judged[1])
        rows.append([precision, decoder, total.reference, total.ours, *(f"{share:.2%}" for share in shares)])
        print(rows[-1], flush=True)
    head = [
        "precision",
        "decoded by",
        "reference",
        "ours",
        "recovered",
        "confirmed",
        "recovered, threshold apart",
        "confirmed, threshold apart",
    ]
    body = f"{name}. {len(reference)} frames of {arguments.video.name}. Wanted: {WANTED:.0%}.\n\n{table(head, rows)}"
    write("gpu_accuracy", "An NVIDIA GPU against fp32 OpenVINO", body, ["numpy", "av", "cuda-core"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
