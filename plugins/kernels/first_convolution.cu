// The first convolution of a network, 3 × 3 over three channels, with its activation, on tensor cores: planes in, channels last out.
//
// It is a product of matrices, (pixels × 48) · (48 × channels): a step of 16 for each row of the 3 × 3, in it four neighbouring pixels of
// four values. The fourth value is 1, and has the bias for a weight; the fourth pixel's weights are zeros. So a thread's part of the left
// factor is two pixels, and needs no other arithmetic; the columns of the right factor are ordered such that its part of the
// result is 2 · TILES channels side by side of each of these pixels.

// A block reads TILE × TILE pixels of a picture, and a halo.
constexpr int CONVOLUTION_THREADS = 256, TILE = 32, STRIP = 16;

// Mish: x · (1 - 2 / d) with d = eˣ (eˣ + 2) + 2. The four quotients share one reciprocal: the product of their denominators is at most 6e34.
__device__ __forceinline__ void mish_of_four(float (&x)[4]) {
    float d[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float e = fast_exp2(fminf(x[i] * 1.44269504f, 14.4269504f));
        d[i] = __fmaf_rn(e, e + 2.0f, 2.0f);
    }
    const float first = d[0] * d[1], second = d[2] * d[3], both = -2.0f * fast_reciprocal(first * second);
    const float of_first = both * second, of_second = both * first;
    x[0] *= __fmaf_rn(of_first, d[1], 1.0f), x[1] *= __fmaf_rn(of_first, d[0], 1.0f);
    x[2] *= __fmaf_rn(of_second, d[3], 1.0f), x[3] *= __fmaf_rn(of_second, d[2], 1.0f);
}

__device__ __forceinline__ unsigned half_bits(float low, float high) {
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned*>(&pair);
}

// A block computes 8 · TILES channels of OUT_ROWS rows of STRIPS strips of STRIP pixels, a warp a few rows of one strip.
template <int STRIDE>
struct Tile {
    static constexpr int OUT_ROWS = TILE / STRIDE, STRIPS = TILE / (STRIDE * STRIP), ROWS = STRIDE * (OUT_ROWS - 1) + 3;
    // pairs of pixels from an even column on: from two pixels before the first to two behind the last
    static constexpr int PAIRS = (STRIDE * (STRIP * STRIPS - 1) + 6) / 2;
    uint2 red_green[ROWS][PAIRS], blue_one[ROWS][PAIRS];
};

template <int STRIDE, int TILES, bool MISH>
__device__ __forceinline__ void convolve(Tile<STRIDE>& tile, const __half* __restrict__ pictures, const uint4* __restrict__ weights, int height,
                                         int width, int channels, float slope, __half* __restrict__ out) {
    constexpr int OUT_ROWS = Tile<STRIDE>::OUT_ROWS, STRIPS = Tile<STRIDE>::STRIPS;
    constexpr int TILE_PAIRS = Tile<STRIDE>::PAIRS, SOURCE_ROWS = Tile<STRIDE>::ROWS;
    constexpr int ROWS = OUT_ROWS * STRIPS / (CONVOLUTION_THREADS / 32), SEEN_ROWS = STRIDE * (ROWS - 1) + 3;

    const int groups = channels / (8 * TILES), group = blockIdx.z % groups, picture = blockIdx.z / groups;
    const int left = TILE * blockIdx.x - 2, top = TILE * blockIdx.y - 1;
    const int plane = height * width / 2;
    const unsigned* pairs = reinterpret_cast<const unsigned*>(pictures) + 3LL * plane * picture;
#pragma unroll
    for (int start = 0; start < SOURCE_ROWS * TILE_PAIRS; start += CONVOLUTION_THREADS) {
        const int at = start + threadIdx.x, row = at / TILE_PAIRS, pair = at % TILE_PAIRS;
        const int y = top + row, x = left + 2 * pair;
        unsigned red = 0, green = 0, blue = 0;  // of two pixels
        if (row < SOURCE_ROWS && y >= 0 && y < height && x >= 0 && x < width) {
            const unsigned* source = pairs + (y * width + x) / 2;
            red = __ldg(source), green = __ldg(source + plane), blue = __ldg(source + 2 * plane);
        }
        constexpr unsigned one = 0x3C000000;  // 1 as the upper half
        if (row < SOURCE_ROWS) {
            tile.red_green[row][pair] = make_uint2((red & 0xFFFF) | green << 16, red >> 16 | (green & 0xFFFF0000));
            tile.blue_one[row][pair] = make_uint2((blue & 0xFFFF) | one, blue >> 16 | one);
        }
    }

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, pixel = lane / 4, quarter = lane % 4;
    unsigned right[3][TILES][2];
#pragma unroll
    for (int row = 0; row < 3; ++row) {
#pragma unroll
        for (int t = 0; t < TILES; t += 2) {
            const uint4 four = __ldg(weights + ((group * 3 + row) * TILES + t) * 16 + lane);
            right[row][t][0] = four.x, right[row][t][1] = four.y, right[row][t + 1][0] = four.z, right[row][t + 1][1] = four.w;
        }
    }
    __syncthreads();

    const int strip = warp % STRIPS, first_row = warp / STRIPS * ROWS;
    const unsigned* seen = reinterpret_cast<const unsigned*>(tile.red_green[STRIDE * first_row]) + STRIDE * (STRIP * strip + pixel) + quarter + 1;
    unsigned rows[SEEN_ROWS][4];
#pragma unroll
    for (int row = 0; row < SEEN_ROWS; ++row) {
#pragma unroll
        for (int part = 0; part < 4; ++part) {
            rows[row][part] = seen[2 * TILE_PAIRS * (SOURCE_ROWS * (part / 2) + row) + 8 * STRIDE * (part % 2)];
        }
    }
    const int y = OUT_ROWS * blockIdx.y + first_row, x = STRIP * (STRIPS * blockIdx.x + strip) + pixel;
    const int out_height = height / STRIDE, out_width = width / STRIDE;
    const long long place = (static_cast<long long>(picture) * out_height + y) * out_width + x;
    __half* target = out + place * channels + 8 * TILES * group + 2 * TILES * quarter;
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        float sums[TILES][4] = {};
#pragma unroll
        for (int k = 0; k < 3; ++k) {
#pragma unroll
            for (int t = 0; t < TILES; ++t) {
                multiply_add(sums[t], rows[STRIDE * row + k], right[k][t]);
            }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {  // the warp's left and right eight pixels
            unsigned bits[TILES];
#pragma unroll
            for (int t = 0; t < TILES; t += 2) {
                float values[4] = {sums[t][2 * half], sums[t][2 * half + 1], sums[t + 1][2 * half], sums[t + 1][2 * half + 1]};
                if constexpr (MISH) {
                    mish_of_four(values);
                } else {
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        values[i] = values[i] > 0.0f ? values[i] : slope * values[i];
                    }
                }
                bits[t] = half_bits(values[0], values[1]), bits[t + 1] = half_bits(values[2], values[3]);
            }
            __half* at = target + (row * out_width + 8 * half) * channels;
            if constexpr (TILES == 4) {
                *reinterpret_cast<uint4*>(at) = make_uint4(bits[0], bits[1], bits[2], bits[3]);
            } else {
                *reinterpret_cast<uint2*>(at) = make_uint2(bits[0], bits[1]);
            }
        }
    }
}

template <int STRIDE, int CHANNELS>
__device__ __forceinline__ void convolve_first(const __half* pictures, const uint4* weights, int height, int width, int channels, int is_mish,
                                               float slope, __half* out) {
    __shared__ Tile<STRIDE> tile;
    if (is_mish) {
        convolve<STRIDE, CHANNELS / 8, true>(tile, pictures, weights, height, width, channels, slope, out);
    } else {
        convolve<STRIDE, CHANNELS / 8, false>(tile, pictures, weights, height, width, channels, slope, out);
    }
}

// pictures: (batch, 3, height, width). out: (batch, height / STRIDE, width / STRIDE, channels). weights: see plugins/first_convolution.py.
// is_mish: Mish; otherwise negative values are multiplied by slope. Kernels are named after the stride and the channels of a block.
#define FIRST_CONVOLUTION(STRIDE, CHANNELS)                                                                                           \
    extern "C" __global__ void __launch_bounds__(CONVOLUTION_THREADS, 3)                                                              \
        first_convolution_##STRIDE##_##CHANNELS(const __half* pictures, const uint4* weights, int height, int width, int channels,    \
                                                int is_mish, float slope, __half* out) {                                              \
        convolve_first<STRIDE, CHANNELS>(pictures, weights, height, width, channels, is_mish, slope, out);                            \
    }

FIRST_CONVOLUTION(1, 16)
FIRST_CONVOLUTION(1, 32)
FIRST_CONVOLUTION(2, 16)
FIRST_CONVOLUTION(2, 32)
