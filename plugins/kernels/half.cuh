// Half-precision numbers, and vectors of eight of them, which one 16-byte access moves.
#include <cuda_fp16.h>

struct alignas(16) Half8 {
    __half2 pairs[4];

    Half8() = default;
    __device__ __forceinline__ Half8(const Half8& other) { *this = other; }
    // The compiler's own assignment moves pair by pair, because __half2 has an assignment of its own.
    __device__ __forceinline__ Half8& operator=(const Half8& other) {
        *reinterpret_cast<uint4*>(this) = *reinterpret_cast<const uint4*>(&other);
        return *this;
    }
};
