// Mish: x · tanh(ln(1 + eˣ)) = x · n / (n + 2) with n = e (e + 2), e = eˣ, computed in float.

__device__ __forceinline__ float mish_of(float x) {
    // From 10 on the quotient is 1 in float, and e² stays finite. (fminf would replace a NaN by 10.)
    const float e = __expf(x > 10.0f ? 10.0f : x);
    const float n = e * (e + 2.0f);
    return x < -1e5f ? 0.0f : x * __fdividef(n, n + 2.0f);  // the only half-precision number below -1e5 is minus infinity
}

// In place: each thread replaces eight values at a time.
extern "C" __global__ void mish(__half* values, int count) {
    const long long stride = 8LL * gridDim.x * blockDim.x;
    for (long long at = 8 * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x); at < count; at += stride) {
        if (at + 8 <= count) {
            Half8 eight = *reinterpret_cast<Half8*>(values + at);
#pragma unroll
            for (int pair = 0; pair < 4; ++pair) {
                const float2 two = __half22float2(eight.pairs[pair]);
                eight.pairs[pair] = __floats2half2_rn(mish_of(two.x), mish_of(two.y));
            }
            *reinterpret_cast<Half8*>(values + at) = eight;
        } else {
#pragma unroll
            for (int last = 0; last < 7; ++last) {
                if (at + last < count) {
                    values[at + last] = __float2half(mish_of(__half2float(values[at + last])));
                }
            }
        }
    }
}
