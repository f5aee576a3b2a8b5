"""A network built for one GPU and one batch size from cuDNN's convolutions and our own kernels, on one stream."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeAlias

import numpy as np
from cuda.core import Device, Stream
from numpy.typing import NDArray

from engine.backends.cudnn.convolution import BIAS, CONSTANTS, INPUT, OUTPUT, RESIDUAL, WEIGHTS, WORKSPACE, Plan, Shape
from engine.backends.cudnn.library import Library
from engine.backends.cudnn.plans import Plans
from engine.backends.cudnn.program import Buffer, Chain, Convolve, Enlarge, FirstConvolve, Operation, Pool, Program, View, plan_memory
from engine.backends.tensorrt.engine import download, in_batches
from engine.backends.tensorrt.trials_time import time_steps
from engine.cuda.graph import Step, copy
from engine.cuda.memory import Memory
from engine.errors import ModelError
from engine.model.network import Activation, Convolution, Network
from plugins import channels_last, pointwise
from plugins.first_convolution import FirstConvolution, packed
from plugins.kernels import Kernels
