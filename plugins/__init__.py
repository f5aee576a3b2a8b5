"""Custom CUDA layers and what compiles, launches and registers them."""
