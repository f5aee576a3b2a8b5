// Mish in place: x · tanh(ln(1 + eˣ)) = x · n / (n + 2) with n = e (e + 2), e = eˣ, computed in float.

__device__ __forceinline__ float mish_of(float x) {
    // from 10 on the quotient is 1 in float, and e² stays finite
    const float e = __expf(fminf(x, 10.0f));
    const float n = e * (e + 2.0f);
    return __fdividef(x * n, n + 2.0f);
}

extern "C" __global__ void mish(__half* __restrict__ values, long long count) {
    const long long stride = 8LL * gridDim.x * blockDim.x;
    for (long long at = 8LL * (blockIdx.x * blockDim.x + threadIdx.x); at < count; at += stride) {
        if (at + 8 <= count) {
            Half8* here = reinterpret_cast<Half8*>(values + at);
            Half8 eight = *here;
#pragma unroll
            for (int pair = 0; pair < 4; ++pair) {
                const float2 two = __half22float2(eight.pairs[pair]);
                eight.pairs[pair] = __floats2half2_rn(mish_of(two.x), mish_of(two.y));
            }
            *here = eight;
        } else {
            for (long long last = at; last < count; ++last) {
                values[last] = __float2half(mish_of(__half2float(values[last])));
            }
        }
    }
}
