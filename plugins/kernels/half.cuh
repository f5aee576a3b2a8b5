// Half-precision numbers, and vectors of eight of them, which one 16-byte access moves.
#include <cuda_fp16.h>

struct alignas(16) Half8 {
    __half2 pairs[4];
};
