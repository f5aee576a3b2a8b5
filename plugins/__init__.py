"""Custom CUDA layers, their compiler and their launcher."""
