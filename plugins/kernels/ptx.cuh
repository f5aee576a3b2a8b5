// Instructions that C++ cannot express, or only more slowly.

#ifdef __CUDACC__
// sums += left · right with FP16 factors, by a warp: (16 × 8) += (16 × 16) · (16 × 8). With g = lane / 4 and q = lane % 4 a thread holds
// sums (g, 2q), (g, 2q + 1), (g + 8, 2q), (g + 8, 2q + 1); left (g, k), (g + 8, k), (g, k + 8), (g + 8, k + 8) and right (k, g), (k + 8, g),
// each for the pair of k = 2q and 2q + 1. Source: PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point type".
__device__ __forceinline__ void multiply_add(float (&sums)[4], const unsigned (&left)[4], const unsigned (&right)[2]) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
#else
    for (int half = 0; half < 2; ++half) {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(left[2 * half]), "r"(left[2 * half + 1]), "r"(right[half]));
    }
#endif
}

// Begins to copy 16 bytes to shared memory. Call ``copies_begun`` after the last of several copies; ``copies_done`` waits for all of this thread.
__device__ __forceinline__ void begin_copy(void* to, const void* from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from) : "memory");
#else
    *static_cast<uint4*>(to) = *static_cast<const uint4*>(from);
#endif
}
__device__ __forceinline__ void copies_begun() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
__device__ __forceinline__ void copies_done() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 0;" ::: "memory");
#endif
}

// Four 8 × 8 matrices of FP16 numbers from shared memory, by a warp: lane 8 i + r has the address of row r of matrix i. Then each thread has
// the numbers 2q and 2q + 1 of row g of each, so that they are a left factor of ``multiply_add`` if matrices 1 and 3 are 8 rows below.
__device__ __forceinline__ void load_matrices(unsigned (&numbers)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(numbers[0]), "=r"(numbers[1]), "=r"(numbers[2]), "=r"(numbers[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
}

// 2ˣ and 1 / x with a relative error of some 2⁻²², and 0 for subnormal numbers.
__device__ __forceinline__ float fast_exp2(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
__device__ __forceinline__ float fast_reciprocal(float x) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
#endif
