// Mish: x · tanh(ln(1 + eˣ)) = x · n / (n + 2) with n = e (e + 2), e = eˣ, computed in float.
// The results may overwrite the values (so nothing is __restrict__): a thread has read its eight before it writes them.

__device__ __forceinline__ float mish_of(float x) {
    // From 10 on the quotient is 1 in float, and e² stays finite. (Not fminf: it would make a number of what is none.)
    const float e = __expf(x > 10.0f ? 10.0f : x);
    const float n = e * (e + 2.0f);
    return x < -1e5f ? 0.0f : x * __fdividef(n, n + 2.0f);  // minus infinity is all there is in half precision below -1e5
}

template <typename Step>
__device__ __forceinline__ void each_eight(const __half* values, int count, __half* out, Step step) {
    const long long stride = 8LL * gridDim.x * blockDim.x;
    for (long long at = 8 * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x); at < count; at += stride) {
        float added[8];
        step(static_cast<unsigned>(at), added);
        if (at + 8 <= count) {
            Half8 eight = *reinterpret_cast<const Half8*>(values + at);
#pragma unroll
            for (int pair = 0; pair < 4; ++pair) {
                const float2 two = __half22float2(eight.pairs[pair]);
                eight.pairs[pair] = __floats2half2_rn(mish_of(two.x + added[2 * pair]), mish_of(two.y + added[2 * pair + 1]));
            }
            *reinterpret_cast<Half8*>(out + at) = eight;
        } else {
#pragma unroll
            for (int last = 0; last < 7; ++last) {
                if (at + last < count) {
                    out[at + last] = __float2half(mish_of(__half2float(values[at + last]) + added[last]));
                }
            }
        }
    }
}

extern "C" __global__ void mish(const __half* values, int count, __half* out) {
    each_eight(values, count, out, [](unsigned, float(&added)[8]) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            added[i] = -0.0f;  // the only number that changes none
        }
    });
}

// bias: one number a channel. inner: values of a channel that lie side by side: rows · columns in NCHW, 1 in NHWC.
extern "C" __global__ void bias_mish(const __half* values, const float* __restrict__ bias, int count, int channels, int inner, __half* out) {
    const bool side_by_side = inner == 1 && channels % 8 == 0, one_channel = inner % 8 == 0;
    each_eight(values, count, out, [=](unsigned at, float(&added)[8]) {
        if (side_by_side) {
            const float4* eight = reinterpret_cast<const float4*>(bias + at % channels);
            const float4 first = eight[0], second = eight[1];
            added[0] = first.x, added[1] = first.y, added[2] = first.z, added[3] = first.w;
            added[4] = second.x, added[5] = second.y, added[6] = second.z, added[7] = second.w;
            return;
        }
        unsigned channel = at / inner;
        if (one_channel) {
            const float same = bias[channel % channels];
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                added[i] = same;
            }
            return;
        }
        int left = inner - static_cast<int>(at - channel * inner);  // values of this channel from here on
        channel %= channels;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            if (left-- == 0) {
                left = inner - 1;
                channel = channel + 1 == channels ? 0 : channel + 1;
            }
            added[i] = bias[channel];
        }
    });
}
