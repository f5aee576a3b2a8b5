// In place of CUDA's header: see cuda.h.
