// Chains of two pointwise (1 × 1) convolutions with their activations, for layers that memory traffic limits, on tensor cores.
//
// A warp computes 16 · STRIPS pixels at a time. A chunk is 32 channels of a pixel; each of the four threads that share a pixel holds
// eight of them side by side, one 16-byte access. The rows and columns of the matrices are ordered such that the result has the form of
// the next convolution's input, so that nothing between the two convolutions leaves the registers.

constexpr int POINTWISE_THREADS = 256, POINTWISE_WARPS = POINTWISE_THREADS / 32;
constexpr float AS_IT_IS = 1.0f;  // as slope

// An activation: slope is the factor of negative values, below 0 = Mish.
__device__ __forceinline__ void activate(float (&values)[8], float slope) {
    if (slope < 0.0f) {
        mish_of_four(values), mish_of_four(values + 4);
    } else if (slope != AS_IT_IS) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            values[i] = values[i] > 0.0f ? values[i] : slope * values[i];
        }
    }
}

__device__ __forceinline__ uint4 packed(const float (&values)[8]) {
    return make_uint4(half_bits(values[0], values[1]), half_bits(values[2], values[3]), half_bits(values[4], values[5]), half_bits(values[6], values[7]));
}

__device__ __forceinline__ void unpack(const uint4& bits, float (&values)[8]) {
    const unsigned words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float2 two = __half22float2(*reinterpret_cast<const __half2*>(words + i));
        values[2 * i] = two.x, values[2 * i + 1] = two.y;
    }
}

// Channels of 16 pixels: chunks of the pixels g and g + 8, with g = lane / 4.
template <int CHUNKS> struct Strip {
    uint4 halves[2][CHUNKS];
};

// A chunk of a convolution's output. weights: (4, CHUNKS, 32), bias: those of the chunk.
template <int STRIPS, int CHUNKS>
__device__ __forceinline__ void chunk_of(const Strip<CHUNKS> (&input)[STRIPS], const uint4* weights, const float* bias, float slope, uint4 (&out)[STRIPS][2]) {
    const int lane = threadIdx.x & 31;
    float sums[STRIPS][4][4];
#pragma unroll
    for (int t = 0; t < 4; ++t) {
        const float2 two = *reinterpret_cast<const float2*>(bias + 8 * (lane & 3) + 2 * t);
#pragma unroll
        for (int strip = 0; strip < STRIPS; ++strip) {
            sums[strip][t][0] = sums[strip][t][2] = two.x, sums[strip][t][1] = sums[strip][t][3] = two.y;
        }
    }
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; ++chunk) {
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            const uint4 right = weights[(t * CHUNKS + chunk) * 32 + lane];
            const unsigned first[2] = {right.x, right.y}, second[2] = {right.z, right.w};
#pragma unroll
            for (int strip = 0; strip < STRIPS; ++strip) {
                const uint4 a = input[strip].halves[0][chunk], b = input[strip].halves[1][chunk];
                const unsigned left[4] = {a.x, b.x, a.y, b.y}, other[4] = {a.z, b.z, a.w, b.w};
                multiply_add(sums[strip][t], left, first);
                multiply_add(sums[strip][t], other, second);
            }
        }
    }
#pragma unroll
    for (int strip = 0; strip < STRIPS; ++strip) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float values[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                values[i] = sums[strip][i / 2][2 * half + i % 2];
            }
            activate(values, slope);
            out[strip][half] = packed(values);
        }
    }
}

// All sizes are in chunks. The first convolution has INPUT and MIDDLE chunks. The second one reads the first KEPT ones of the first one's
// output, then SIDE chunks from elsewhere, and has OUTPUT chunks. WRITES: whether the first one's output is stored.
//
// Pitches are in Half8, from pixel to pixel. input_slope: activation of the input, followed by a sum with ``residual`` if that is given.
// weights, bias: of both, as plugins/pointwise.py packs them.
template <int STRIPS, int INPUT, int MIDDLE, bool WRITES, int KEPT, int SIDE, int OUTPUT>
__device__ __forceinline__ void pointwise(const uint4* __restrict__ input, int input_pitch, float input_slope, const uint4* __restrict__ residual,
                                          int residual_pitch, const uint4* __restrict__ side, int side_pitch, uint4* __restrict__ middle,
                                          int middle_pitch, uint4* __restrict__ output, int output_pitch, const uint4* __restrict__ weights,
                                          const float* __restrict__ bias, int pixels, float slope, float next_slope) {
    constexpr int SEEN = KEPT + SIDE, FIRST = 128 * INPUT * MIDDLE, NEXT = 128 * SEEN * OUTPUT;
    __shared__ uint4 own_weights[FIRST + NEXT];
    __shared__ float2 own_pairs[16 * (MIDDLE + OUTPUT)];
    float* own_bias = reinterpret_cast<float*>(own_pairs);
    for (int i = threadIdx.x; i < FIRST + NEXT; i += POINTWISE_THREADS) {
        own_weights[i] = weights[i];
    }
    for (int i = threadIdx.x; i < 32 * (MIDDLE + OUTPUT); i += POINTWISE_THREADS) {
        own_bias[i] = bias[i];
    }
    __syncthreads();
    const int lane = threadIdx.x & 31, quarter = lane & 3, last = pixels - 1;
    const int step = gridDim.x * POINTWISE_WARPS * 16 * STRIPS;
    for (int start = (blockIdx.x * POINTWISE_WARPS + threadIdx.x / 32) * 16 * STRIPS; start <= last; start += step) {
        int at[STRIPS][2];
        Strip<INPUT> own[STRIPS];
        Strip<SEEN> next[STRIPS];
#pragma unroll
        for (int i = 0; i < 2 * STRIPS; ++i) {  // past the end, threads repeat the last pixel
            at[i / 2][i % 2] = min(start + 8 * i + lane / 4, last);
#pragma unroll
            for (int chunk = 0; chunk < INPUT; ++chunk) {
                own[i / 2].halves[i % 2][chunk] = __ldg(input + at[i / 2][i % 2] * input_pitch + 4 * chunk + quarter);
            }
        }
#pragma unroll
        for (int i = 0; i < 2 * STRIPS; ++i) {
#pragma unroll
            for (int chunk = 0; chunk < SIDE; ++chunk) {
                next[i / 2].halves[i % 2][KEPT + chunk] = __ldg(side + at[i / 2][i % 2] * side_pitch + 4 * chunk + quarter);
            }
        }
        if (input_slope != AS_IT_IS || residual != nullptr) {
#pragma unroll
            for (int i = 0; i < 2 * STRIPS; ++i) {
#pragma unroll
                for (int chunk = 0; chunk < INPUT; ++chunk) {
                    uint4& bits = own[i / 2].halves[i % 2][chunk];
                    float values[8], more[8];
                    unpack(bits, values);
                    activate(values, input_slope);
                    if (residual != nullptr) {
                        unpack(__ldg(residual + at[i / 2][i % 2] * residual_pitch + 4 * chunk + quarter), more);
#pragma unroll
                        for (int k = 0; k < 8; ++k) {
                            values[k] += more[k];
                        }
                    }
                    bits = packed(values);
                }
            }
        }
#pragma unroll
        for (int chunk = 0; chunk < MIDDLE; ++chunk) {
            uint4 out[STRIPS][2];
            chunk_of<STRIPS, INPUT>(own, own_weights + 128 * INPUT * chunk, own_bias + 32 * chunk, slope, out);
#pragma unroll
            for (int i = 0; i < 2 * STRIPS; ++i) {
                if constexpr (WRITES) {
                    middle[at[i / 2][i % 2] * middle_pitch + 4 * chunk + quarter] = out[i / 2][i % 2];
                }
                if (chunk < KEPT) {
                    next[i / 2].halves[i % 2][chunk] = out[i / 2][i % 2];
                }
            }
        }
#pragma unroll
        for (int chunk = 0; chunk < OUTPUT; ++chunk) {
            uint4 out[STRIPS][2];
            chunk_of<STRIPS, SEEN>(next, own_weights + FIRST + 128 * SEEN * chunk, own_bias + 32 * (MIDDLE + chunk), next_slope, out);
#pragma unroll
            for (int i = 0; i < 2 * STRIPS; ++i) {
                output[at[i / 2][i % 2] * output_pitch + 4 * chunk + quarter] = out[i / 2][i % 2];
            }
        }
    }
}

// The kernel for these sizes, which name it.
#define POINTWISE(STRIPS, INPUT, MIDDLE, WRITES, KEPT, SIDE, OUTPUT)                                                                       \
    extern "C" __global__ void __launch_bounds__(POINTWISE_THREADS, 2) pointwise_##INPUT##_##MIDDLE##_##WRITES##_##KEPT##_##SIDE##_##OUTPUT( \
        const uint4* input, int input_pitch, float input_slope, const uint4* residual, int residual_pitch, const uint4* side,              \
        int side_pitch, uint4* middle, int middle_pitch, uint4* output, int output_pitch, const uint4* weights, const float* bias,         \
        int pixels, float slope, float next_slope) {                                                                                       \
        pointwise<STRIPS, INPUT, MIDDLE, WRITES, KEPT, SIDE, OUTPUT>(input, input_pitch, input_slope, residual, residual_pitch, side,      \
                                                                     side_pitch, middle, middle_pitch, output, output_pitch, weights,      \
                                                                     bias, pixels, slope, next_slope);                                     \
    }

POINTWISE(2, 2, 4, 1, 2, 0, 1)
POINTWISE(1, 4, 4, 1, 2, 0, 2)
POINTWISE(2, 2, 2, 0, 2, 2, 2)
POINTWISE(1, 2, 2, 0, 2, 2, 4)
