"""Decodes videos with NVDEC, the hardware decoder of NVIDIA GPUs."""
