"""The backend of NVIDIA GPUs: batches under way as CUDA graphs, around a network built by TensorRT or cuDNN."""
