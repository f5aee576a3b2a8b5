// Frames of a batch into the network's input: colour, orientation, bilinear resizing and letterbox in one pass.

constexpr int NV12 = 0, P016 = 1, RGB8 = 2;

// Filled by plugins/preprocess.py, see FRAME there.
struct Frame {
    unsigned long long luma, chroma;  // device addresses; RGB8 has its pixels at luma
    int pitch;                        // bytes from row to row; like the addresses a multiple of 2 for NV12, of 4 for P016
    int format;
    int width, height;                // pixels, as stored
    int left, top, right, bottom;     // where the picture lies in the network's input
    float map[6];                     // from a network pixel to a place in the stored picture, where whole numbers are pixel centres
    float colour[6];                  // black among Y (0..255); factors of Y - black, of V in R, of U and V in G, of U in B
    int rounded;                      // round the result to a whole number of 0..255, as in a resized picture of bytes
    float back[4];                    // from network pixels to pixels of the picture as shown: scale and offset of x, then of y
    float shown_width, shown_height;
};

// Adding 1.5 · 2²³ rounds numbers within ±2²²; rounding instructions are an eighth as fast as additions.
constexpr float WHOLE = 12582912.0f;
__device__ __forceinline__ float nearest(float value) { return __fadd_rn(value, WHOLE) - WHOLE; }
__device__ __forceinline__ float floor_of_product(float a, float b) { return __fmaf_rd(a, b, WHOLE) - WHOLE; }

__device__ __forceinline__ float byte_of(float value) { return fminf(fmaxf(value, 0.0f), 255.0f); }

__device__ __forceinline__ float between(float a, float b, float share) { return __fmaf_rn(share, b - a, a); }

__device__ __forceinline__ float3 between(float3 a, float3 b, float share) {
    return make_float3(between(a.x, b.x, share), between(a.y, b.y, share), between(a.z, b.z, share));
}

// One stored pixel, R, G and B of 0..255.
template <int FORMAT>
__device__ __forceinline__ float3 pixel(const Frame& frame, int x, int y) {
    const unsigned char* row = reinterpret_cast<const unsigned char*>(frame.luma) + static_cast<long long>(y) * frame.pitch;
    if constexpr (FORMAT == RGB8) {
        row += 3 * x;
        return make_float3(__ldg(row), __ldg(row + 1), __ldg(row + 2));
    }
    const unsigned char* pair = reinterpret_cast<const unsigned char*>(frame.chroma) + static_cast<long long>(y >> 1) * frame.pitch;
    float luma, u, v;
    if constexpr (FORMAT == NV12) {
        const uchar2 both = __ldg(reinterpret_cast<const uchar2*>(pair) + (x >> 1));
        luma = __ldg(row + x), u = both.x, v = both.y;
    } else {  // 10 and more bits, at the upper end of 16: 256 steps become 65536
        const ushort2 both = __ldg(reinterpret_cast<const ushort2*>(pair) + (x >> 1));
        constexpr float scale = 1.0f / 256.0f;
        luma = __ldg(reinterpret_cast<const unsigned short*>(row) + x) * scale, u = both.x * scale, v = both.y * scale;
    }
    // Each product is rounded down separately, as in libswscale, so that frames equal those that the CPU decodes.
    const float* c = frame.colour;
    luma -= c[0], u -= 128.0f, v -= 128.0f;
    const float grey = floor_of_product(c[1], luma);
    return make_float3(byte_of(grey + floor_of_product(c[2], v)), byte_of(grey + floor_of_product(c[3], u) + floor_of_product(c[4], v)),
                       byte_of(grey + floor_of_product(c[5], u)));
}

// One pixel of the network's input, 0..255.
template <int FORMAT>
__device__ __forceinline__ float3 sample(const Frame& frame, int column, int row) {
    const float* m = frame.map;
    const float x = fminf(fmaxf(__fmaf_rn(m[0], column, __fmaf_rn(m[1], row, m[2])), 0.0f), frame.width - 1.0f);
    const float y = fminf(fmaxf(__fmaf_rn(m[3], column, __fmaf_rn(m[4], row, m[5])), 0.0f), frame.height - 1.0f);
    const int x0 = static_cast<int>(x), y0 = static_cast<int>(y);
    const int x1 = min(x0 + 1, frame.width - 1), y1 = min(y0 + 1, frame.height - 1);
    const float3 upper = between(pixel<FORMAT>(frame, x0, y0), pixel<FORMAT>(frame, x1, y0), x - x0);
    const float3 lower = between(pixel<FORMAT>(frame, x0, y1), pixel<FORMAT>(frame, x1, y1), x - x0);
    float3 value = between(upper, lower, y - y0);
    if (frame.rounded) {
        value = make_float3(nearest(value.x), nearest(value.y), nearest(value.z));
    }
    const bool outside = column < frame.left || column >= frame.right || row < frame.top || row >= frame.bottom;
    return outside ? make_float3(127.5f, 127.5f, 127.5f) : value;  // Darknet fills a letterbox with this
}

// Two neighbouring pixels, 0..255, into the three planes of a picture.
__device__ __forceinline__ void store(__half* picture, long long plane, long long at, float3 first, float3 second) {
    constexpr float scale = 1.0f / 255.0f;
    const __half2 red_green = __floats2half2_rn(first.x * scale, first.y * scale), blue = __floats2half2_rn(first.z * scale, 0.0f);
    const __half2 red_green2 = __floats2half2_rn(second.x * scale, second.y * scale), blue2 = __floats2half2_rn(second.z * scale, 0.0f);
    __half2* out = reinterpret_cast<__half2*>(picture + at);
    out[0] = __lows2half2(red_green, red_green2);
    out[plane / 2] = __highs2half2(red_green, red_green2);
    out[plane] = __lows2half2(blue, blue2);
}

// pictures: (batch, 3, height, width), RGB, 0..1; two pixels a thread, the width is even. A frame without address leaves its picture as it is.
extern "C" __global__ void preprocess(const Frame* __restrict__ frames, __half* __restrict__ pictures, int width, int height) {
    __shared__ Frame frame;
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    static_assert(sizeof(Frame) % 4 == 0, "copied by words");
    if (thread < sizeof(Frame) / 4) {
        reinterpret_cast<int*>(&frame)[thread] = reinterpret_cast<const int*>(frames + blockIdx.z)[thread];
    }
    __syncthreads();
    const int column = 2 * (blockIdx.x * blockDim.x + threadIdx.x), row = blockIdx.y * blockDim.y + threadIdx.y;
    if (frame.luma == 0 || column >= width || row >= height) {
        return;
    }
    const long long plane = static_cast<long long>(width) * height;
    float3 first, second;
    if (frame.format == NV12) {  // one copy of the code for each format: a branch at every pixel would be slower
        first = sample<NV12>(frame, column, row), second = sample<NV12>(frame, column + 1, row);
    } else if (frame.format == P016) {
        first = sample<P016>(frame, column, row), second = sample<P016>(frame, column + 1, row);
    } else {
        first = sample<RGB8>(frame, column, row), second = sample<RGB8>(frame, column + 1, row);
    }
    store(pictures + 3 * plane * blockIdx.z, plane, static_cast<long long>(row) * width + column, first, second);
}
