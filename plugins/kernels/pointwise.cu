// One pointwise (1 × 1) convolution, or a chain of two, with activations, on tensor cores. For layers that memory traffic limits.
//
// A warp computes 16 pixels at a time, while the next ones are copied to its part of the shared memory. A chunk is 32 channels of a pixel. The
// rows of the first product are ordered such that each of the four threads that share a pixel gets eight channels side by side, one 16-byte
// access, and that its result has the form of the next product's input, so that nothing between the two convolutions leaves the registers.

constexpr int POINTWISE_THREADS = 256, POINTWISE_WARPS = POINTWISE_THREADS / 32, PIXELS = 16;
constexpr float AS_IT_IS = 1.0f;  // as slope

// An activation: slope is the factor of negative values, below 0 = Mish.
__device__ __forceinline__ void activate(float (&values)[4], float slope) {
    if (slope < 0.0f) {
        mish_of_four(values);
    } else if (slope != AS_IT_IS) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            values[i] = values[i] > 0.0f ? values[i] : slope * values[i];
        }
    }
}

__device__ __forceinline__ float2 two_floats(unsigned bits) { return __half22float2(*reinterpret_cast<const __half2*>(&bits)); }

// Chunks of 16 pixels, as left factors of 16 channels.
template <int CHUNKS> struct Left {
    unsigned parts[2 * CHUNKS][4];
};

// Where the n-th eight channels of a pixel lie among those of 16 pixels: the same eight channels of eight pixels lie in different banks.
template <int CHUNKS> __device__ __forceinline__ int place_of(int pixel, int eight) {
    static_assert(CHUNKS % 2 == 0, "eight times eight channels");
    return 4 * CHUNKS * pixel + (eight ^ (pixel & 7));
}

// Begins to copy 16 pixels to shared memory. Past the end, the last pixel is repeated.
template <int CHUNKS> __device__ __forceinline__ void fetch(const uint4* from, int pitch, int start, int last, uint4* to) {
#pragma unroll
    for (int i = 0; i < 2 * CHUNKS; ++i) {
        const int at = (threadIdx.x & 31) + 32 * i, pixel = at / (4 * CHUNKS), eight = at % (4 * CHUNKS);
        begin_copy(to + place_of<CHUNKS>(pixel, eight), from + min(start + pixel, last) * pitch + eight);
    }
}

template <int CHUNKS> __device__ __forceinline__ void read(const uint4* from, unsigned (*parts)[4]) {
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int part = 0; part < 2 * CHUNKS; ++part) {
        load_matrices(parts[part], from + place_of<CHUNKS>(lane % 16, 2 * part + lane / 16));
    }
}

// A chunk of a convolution's output, activated: out[t] has two channels of both of a thread's pixels. weights: (4, CHUNKS, 32), bias: (4, 4) of
// the chunk.
template <int CHUNKS>
__device__ __forceinline__ void compute_chunk(const Left<CHUNKS>& left, const uint4* weights, const float4* bias, float slope, unsigned (&out)[4][2]) {
    const int lane = threadIdx.x & 31;
    float sums[4][4];
#pragma unroll
    for (int t = 0; t < 4; ++t) {
        const float4 four = bias[4 * t + (lane & 3)];
        sums[t][0] = four.x, sums[t][1] = four.y, sums[t][2] = four.z, sums[t][3] = four.w;
    }
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; ++chunk) {
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            const uint4 right = weights[(t * CHUNKS + chunk) * 32 + lane];
            const unsigned first[2] = {right.x, right.y}, second[2] = {right.z, right.w};
            multiply_add(sums[t], left.parts[2 * chunk], first);
            multiply_add(sums[t], left.parts[2 * chunk + 1], second);
        }
    }
#pragma unroll
    for (int t = 0; t < 4; ++t) {
        activate(sums[t], slope);
        out[t][0] = half_bits(sums[t][0], sums[t][1]), out[t][1] = half_bits(sums[t][2], sums[t][3]);
    }
}

// Stores a chunk of the thread's two pixels. pitch: see ``pointwise``.
__device__ __forceinline__ void store(const unsigned (&out)[4][2], uint4* target, int pitch, const int (&pixels)[2], int chunk) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        target[pixels[i] * pitch + 4 * chunk + (threadIdx.x & 3)] = make_uint4(out[0][i], out[1][i], out[2][i], out[3][i]);
    }
}

// All sizes are in chunks. The first convolution has INPUT and MIDDLE chunks. The second one reads the first KEPT ones of the first one's
// output, then SIDE chunks from elsewhere, and has OUTPUT chunks; 0 if there is only one convolution. WRITES: whether the first one's output is
// stored.
//
// Pitches are in Half8, from pixel to pixel. input_slope: activation of the input. Without WRITES, ``residual`` is added then, if that is
// given. weights, bias: of both, as plugins/pointwise.py packs them, which also knows how much shared memory a block needs.
template <int INPUT, int MIDDLE, bool WRITES, int KEPT, int SIDE, int OUTPUT>
__device__ __forceinline__ void pointwise(const uint4* __restrict__ input, int input_pitch, float input_slope, const uint4* __restrict__ residual,
                                          int residual_pitch, const uint4* __restrict__ side, int side_pitch, uint4* __restrict__ middle,
                                          int middle_pitch, uint4* __restrict__ output, int output_pitch, const uint4* __restrict__ weights,
                                          const float* __restrict__ bias, int pixels, float slope, float next_slope) {
    constexpr int SEEN = KEPT + SIDE, FIRST = 128 * INPUT * MIDDLE, WEIGHTS = FIRST + 128 * SEEN * OUTPUT;
    extern __shared__ uint4 shared[];
    uint4* own_weights = shared;
    float4* own_bias = reinterpret_cast<float4*>(shared + WEIGHTS);  // those of two channels, twice
    uint4* inputs = shared + WEIGHTS + 16 * (MIDDLE + OUTPUT) + 64 * (INPUT + SIDE + (WRITES ? 0 : INPUT)) * (threadIdx.x / 32);
    uint4 *sides = inputs + 64 * INPUT, *residuals = sides + 64 * SIDE;
    const int last = pixels - 1, step = gridDim.x * POINTWISE_WARPS * PIXELS;
    const auto fetch_all = [&](int start) {
        fetch<INPUT>(input, input_pitch, start, last, inputs);
        if constexpr (SIDE > 0) {
            fetch<SIDE>(side, side_pitch, start, last, sides);
        }
        if (!WRITES && residual != nullptr) {
            fetch<INPUT>(residual, residual_pitch, start, last, residuals);
        }
        copies_begun();
    };
    int start = (blockIdx.x * POINTWISE_WARPS + threadIdx.x / 32) * PIXELS;
    if (start <= last) {
        fetch_all(start);
    }
    for (int i = threadIdx.x; i < WEIGHTS; i += POINTWISE_THREADS) {
        own_weights[i] = weights[i];
    }
    for (int i = threadIdx.x; i < 16 * (MIDDLE + OUTPUT); i += POINTWISE_THREADS) {
        const int first = 32 * (i / 16) + 8 * (i % 4) + 2 * (i / 4 % 4);
        own_bias[i] = make_float4(bias[first], bias[first + 1], bias[first], bias[first + 1]);
    }
    __syncthreads();
    for (; start <= last; start += step) {
        Left<INPUT> own;
        Left<(OUTPUT > 0 ? SEEN : 1)> next;
        copies_done();
        __syncwarp();
        read<INPUT>(inputs, own.parts);
        if constexpr (SIDE > 0) {
            read<SIDE>(sides, next.parts + 2 * KEPT);
        }
        if (input_slope != AS_IT_IS || (!WRITES && residual != nullptr)) {
            unsigned more[2 * INPUT][4] = {};
            if (!WRITES && residual != nullptr) {
                read<INPUT>(residuals, more);
            }
#pragma unroll
            for (int part = 0; part < 2 * INPUT; ++part) {
#pragma unroll
                for (int i = 0; i < 4; i += 2) {
                    const float2 one = two_floats(own.parts[part][i]), two = two_floats(own.parts[part][i + 1]);
                    const float2 to_one = two_floats(more[part][i]), to_two = two_floats(more[part][i + 1]);
                    float values[4] = {one.x, one.y, two.x, two.y};
                    activate(values, input_slope);
                    own.parts[part][i] = half_bits(values[0] + to_one.x, values[1] + to_one.y);
                    own.parts[part][i + 1] = half_bits(values[2] + to_two.x, values[3] + to_two.y);
                }
            }
        }
        __syncwarp();
        if (start + step <= last) {
            fetch_all(start + step);
        }
        const int first = start + (threadIdx.x & 31) / 4, at[2] = {min(first, last), min(first + 8, last)};
#pragma unroll
        for (int chunk = 0; chunk < MIDDLE; ++chunk) {
            unsigned out[4][2];
            compute_chunk<INPUT>(own, own_weights + 128 * INPUT * chunk, own_bias + 16 * chunk, slope, out);
            if constexpr (WRITES) {
                store(out, middle, middle_pitch, at, chunk);
            }
            if (chunk < KEPT) {
#pragma unroll
                for (int i = 0; i < 8; ++i) {
                    next.parts[2 * chunk + i / 4][i % 4] = out[i / 2][i % 2];
                }
            }
        }
        if constexpr (OUTPUT > 0) {
#pragma unroll
            for (int chunk = 0; chunk < OUTPUT; ++chunk) {
                unsigned out[4][2];
                compute_chunk<SEEN>(next, own_weights + FIRST + 128 * SEEN * chunk, own_bias + 16 * (MIDDLE + chunk), next_slope, out);
                store(out, output, output_pitch, at, chunk);
            }
        }
    }
}

// The kernel for these sizes, which name it.
#define POINTWISE(INPUT, MIDDLE, WRITES, KEPT, SIDE, OUTPUT)                                                                               \
    extern "C" __global__ void __launch_bounds__(POINTWISE_THREADS, 2) pointwise_##INPUT##_##MIDDLE##_##WRITES##_##KEPT##_##SIDE##_##OUTPUT( \
        const uint4* input, int input_pitch, float input_slope, const uint4* residual, int residual_pitch, const uint4* side,              \
        int side_pitch, uint4* middle, int middle_pitch, uint4* output, int output_pitch, const uint4* weights, const float* bias,         \
        int pixels, float slope, float next_slope) {                                                                                       \
        pointwise<INPUT, MIDDLE, WRITES, KEPT, SIDE, OUTPUT>(input, input_pitch, input_slope, residual, residual_pitch, side, side_pitch,  \
                                                             middle, middle_pitch, output, output_pitch, weights, bias, pixels, slope,     \
                                                             next_slope);                                                                  \
    }

POINTWISE(2, 4, 1, 2, 0, 1)
POINTWISE(4, 4, 1, 2, 0, 2)
POINTWISE(2, 2, 0, 2, 2, 2)
POINTWISE(2, 2, 0, 2, 2, 4)
POINTWISE(2, 2, 1, 0, 0, 0)
POINTWISE(4, 4, 1, 0, 0, 0)
