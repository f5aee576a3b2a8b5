"""CUDA devices, memory, graphs and transfers: all CUDA calls of the engine."""
