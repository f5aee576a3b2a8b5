"""Does once in the fork server what each worker would do again: it is imported there last. That is a fifth of a short run.

Nothing here may start a thread that a worker needs, as compiling a network would: a forked process has only the thread that forked it.
"""

from __future__ import annotations

import gc
import importlib

from framefleet.engine.backends.openvino.library import device_name, process_core
from framefleet.engine.backends.openvino.lowering import lower
from framefleet.engine.media.picture import swscale_is_exact
from framefleet.engine.model.split import split
from tests.support.models import tiny_network

for name in ("numpy.polynomial", "numpy.random", "av.subtitles.stream", "http.client", "ssl"):  # loaded when they are first used
    importlib.import_module(name)
device_name(process_core(), "CPU")  # loads OpenVINO's library for processors
network = tiny_network()
for part in split(network):
    lower(network, part, 1, pictures=True)
swscale_is_exact()
gc.collect()
gc.freeze()  # a collection would write to each object, and so copy the memory that the processes share
