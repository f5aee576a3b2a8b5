"""Processes that render scenes in parallel."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.pool import Pool

import cv2


def process_pool(processes: int) -> Pool:
    """A pool of spawned processes. Each one renders with a single thread, because the scenes already occupy all cores."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    return multiprocessing.get_context("spawn").Pool(processes, cv2.setNumThreads, (1,))
