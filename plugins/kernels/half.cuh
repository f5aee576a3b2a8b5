// What every layer needs: half-precision numbers, and vectors of eight of them, moved with one 16-byte access.
#include <cuda_fp16.h>

struct alignas(16) Half8 {
    __half2 pairs[4];
};
