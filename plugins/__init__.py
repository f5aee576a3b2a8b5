"""Custom CUDA layers, and what compiles and launches them."""
