"""Reads NVIDIA's GPUs through NVML, the driver's management library. Only this package calls it.

Use it in a separate process: a crash of the driver's library ends the whole process.
"""
