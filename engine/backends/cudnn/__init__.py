"""cuDNN: convolutions with fused activations, sums and concatenations on NVIDIA GPUs, beside TensorRT."""
