// Frames of a batch into the network's input: colour, orientation, resizing and letterbox in one pass.
// The bytes equal those of the CPU (engine/media/picture.py, engine/detection/preprocess.py). docs/adr/0022-same-input.md defines the arithmetic.
// The compiler must not fuse multiplications and additions (plugins/kernels/__init__.py says so).

constexpr int NV12 = 0, P016 = 1, RGB8 = 2, I420 = 3;
constexpr int COLOUR_SHIFT = 13;
constexpr int TRANSPOSED = 1, LEFT_RIGHT = 2, UP_DOWN = 4;

// Filled by plugins/preprocess.py, see FRAME there.
struct Frame {
    unsigned long long luma, chroma;  // device addresses; RGB8 has its pixels at luma; I420 has V behind U, without a gap
    double step[2];                   // upright pixels from one resized pixel to the next: x and y
    int pitch;                        // bytes from row to row of luma; like the addresses a multiple of 2 for NV12, of 4 for P016
    int format;
    int width, height;                // pixels, as stored
    int left, top, right, bottom;     // where the picture lies in the network's input
    int turn;                         // from the stored picture to the upright one: TRANSPOSED first, then LEFT_RIGHT and UP_DOWN
    int still;                        // resize like Darknet's resize_image, without rounding, not like OpenCV's resize
    int colour[6];                    // see colour_factors in plugins/colour.py
    float back[4];                    // from network pixels to pixels of the picture as shown: scale and offset of x, then of y
    float shown_width, shown_height;
};

// Adding 1.5 · 2²³ rounds numbers within ±2²² to even; rounding instructions are an eighth as fast as additions.
constexpr float WHOLE = 12582912.0f;
__device__ __forceinline__ int nearest(float value) { return static_cast<int>((value + WHOLE) - WHOLE); }

// Two neighbours along an axis, and their weights, which add up to 2048.
struct Pair {
    int first, second, of_first, of_second;
};

// The pair for a resized pixel, as in OpenCV's resize with INTER_LINEAR. bound: clamp the share at the edges, as OpenCV does along x only.
__device__ __forceinline__ Pair pair(int at, double step, int size, bool bound) {
    const float place = static_cast<float>((at + 0.5) * step - 0.5);
    const float below = floorf(place);
    int first = static_cast<int>(below);
    float share = place - below;
    if (bound && (first < 0 || first >= size - 1)) {
        share = 0.0f;
    }
    const int second = min(max(first + 1, 0), size - 1);
    first = min(max(first, 0), size - 1);
    return {first, second, nearest((1.0f - share) * 2048.0f), nearest(share * 2048.0f)};
}

// Between four bytes, as OpenCV computes it: along x in 11 bits, then along y in parts of 16 bits.
__device__ __forceinline__ int between(int a, int b, int c, int d, const Pair& x, const Pair& y) {
    const int upper = a * x.of_first + b * x.of_second, lower = c * x.of_first + d * x.of_second;
    return ((((y.of_first * (upper >> 4)) >> 16) + ((y.of_second * (lower >> 4)) >> 16)) + 2) >> 2;
}

__device__ __forceinline__ const unsigned char* row_of(unsigned long long plane, int row, int pitch) {
    return reinterpret_cast<const unsigned char*>(plane) + static_cast<long long>(row) * pitch;
}

// A sample of 16 bits, rounded to 8.
__device__ __forceinline__ int byte_of(unsigned short sample) { return min((sample + 128) >> 8, 255); }

__device__ __forceinline__ int colour(int sum) { return min(max(sum, 0), 255); }

struct Rgb {
    int r, g, b;
};

// A stored pixel. Each product is rounded down separately, as in libswscale.
template <int FORMAT> __device__ __forceinline__ Rgb pixel(const Frame& frame, int x, int y) {
    const unsigned char* row = row_of(frame.luma, y, frame.pitch);
    if constexpr (FORMAT == RGB8) {
        row += 3 * x;
        return {__ldg(row), __ldg(row + 1), __ldg(row + 2)};
    }
    int luma, u, v;
    if constexpr (FORMAT == P016) {
        luma = byte_of(__ldg(reinterpret_cast<const unsigned short*>(row) + x));
        const ushort2 both = __ldg(reinterpret_cast<const ushort2*>(row_of(frame.chroma, y >> 1, frame.pitch)) + (x >> 1));
        u = byte_of(both.x), v = byte_of(both.y);
    } else if constexpr (FORMAT == NV12) {
        luma = __ldg(row + x);
        const uchar2 both = __ldg(reinterpret_cast<const uchar2*>(row_of(frame.chroma, y >> 1, frame.pitch)) + (x >> 1));
        u = both.x, v = both.y;
    } else {
        const int pitch = frame.pitch / 2;
        const unsigned char* of_u = row_of(frame.chroma, y >> 1, pitch) + (x >> 1);
        luma = __ldg(row + x), u = __ldg(of_u), v = __ldg(of_u + static_cast<long long>(pitch) * ((frame.height + 1) / 2));
    }
    const int* factor = frame.colour;
    const int grey = ((luma - factor[0]) * factor[1]) >> COLOUR_SHIFT;
    u -= 128, v -= 128;
    return {colour(grey + ((v * factor[2]) >> COLOUR_SHIFT)),
            colour(grey + ((u * factor[3]) >> COLOUR_SHIFT) + ((v * factor[4]) >> COLOUR_SHIFT)),
            colour(grey + ((u * factor[5]) >> COLOUR_SHIFT))};
}

// A pixel of the upright picture, whose size is width × height.
template <int FORMAT> __device__ __forceinline__ Rgb upright(const Frame& frame, int x, int y, int width, int height) {
    x = frame.turn & LEFT_RIGHT ? width - 1 - x : x;
    y = frame.turn & UP_DOWN ? height - 1 - y : y;
    return frame.turn & TRANSPOSED ? pixel<FORMAT>(frame, y, x) : pixel<FORMAT>(frame, x, y);
}

// A pixel of the resized picture.
template <int FORMAT> __device__ __forceinline__ float3 resized(const Frame& frame, int column, int row) {
    const int width = frame.turn & TRANSPOSED ? frame.height : frame.width, height = frame.turn & TRANSPOSED ? frame.width : frame.height;
    const Pair x = pair(column, frame.step[0], width, true), y = pair(row, frame.step[1], height, false);
    const Rgb a = upright<FORMAT>(frame, x.first, y.first, width, height), b = upright<FORMAT>(frame, x.second, y.first, width, height);
    const Rgb c = upright<FORMAT>(frame, x.first, y.second, width, height), d = upright<FORMAT>(frame, x.second, y.second, width, height);
    return make_float3(between(a.r, b.r, c.r, d.r, x, y), between(a.g, b.g, c.g, d.g, x, y), between(a.b, b.b, c.b, d.b, x, y));
}

// Between two numbers, rounded as in NumPy.
__device__ __forceinline__ float mixed(float a, float b, float share) { return a * (1.0f - share) + b * share; }

// A pixel of a resized single picture: corner pixels stay corner pixels.
__device__ __forceinline__ float3 still_picture(const Frame& frame, int column, int row) {
    const float x = static_cast<float>(column * frame.step[0]), y = static_cast<float>(row * frame.step[1]);
    const int x0 = static_cast<int>(x), y0 = static_cast<int>(y);
    const int width = frame.turn & TRANSPOSED ? frame.height : frame.width, height = frame.turn & TRANSPOSED ? frame.width : frame.height;
    const int x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
    const Rgb a = upright<RGB8>(frame, x0, y0, width, height), b = upright<RGB8>(frame, x1, y0, width, height);
    const Rgb c = upright<RGB8>(frame, x0, y1, width, height), d = upright<RGB8>(frame, x1, y1, width, height);
    const float of_x = x - x0, of_y = y - y0;
    return make_float3(mixed(mixed(a.r, c.r, of_y), mixed(b.r, d.r, of_y), of_x), mixed(mixed(a.g, c.g, of_y), mixed(b.g, d.g, of_y), of_x),
                       mixed(mixed(a.b, c.b, of_y), mixed(b.b, d.b, of_y), of_x));
}

// One pixel of the network's input, 0..255. grey: fills a letterbox.
template <int FORMAT> __device__ __forceinline__ float3 sample(const Frame& frame, int column, int row, float grey) {
    if (column < frame.left || column >= frame.right || row < frame.top || row >= frame.bottom) {
        return make_float3(grey, grey, grey);
    }
    column -= frame.left, row -= frame.top;
    if constexpr (FORMAT == RGB8) {
        if (frame.still) {
            return still_picture(frame, column, row);
        }
    }
    return resized<FORMAT>(frame, column, row);
}

// How values 0..255 become the network's input: (value - mean) * factor, for each of its channels.
struct Scaling {
    float3 mean, factor;
    bool bgr;

    __device__ __forceinline__ float3 operator()(float3 pixel) const {
        const float first = bgr ? pixel.z : pixel.x, third = bgr ? pixel.x : pixel.z;
        return make_float3((first - mean.x) * factor.x, (pixel.y - mean.y) * factor.y, (third - mean.z) * factor.z);
    }
};

// Two neighbouring pixels, scaled, into the three planes of a picture.
__device__ __forceinline__ void store(float* picture, long long plane, long long at, float3 first, float3 second) {
    picture += at;
    picture[0] = first.x, picture[plane] = first.y, picture[2 * plane] = first.z;
    picture[1] = second.x, picture[plane + 1] = second.y, picture[2 * plane + 1] = second.z;
}

__device__ __forceinline__ void store(__half* picture, long long plane, long long at, float3 first, float3 second) {
    const __half2 red_green = __floats2half2_rn(first.x, first.y), blue = __floats2half2_rn(first.z, 0.0f);
    const __half2 red_green2 = __floats2half2_rn(second.x, second.y), blue2 = __floats2half2_rn(second.z, 0.0f);
    __half2* out = reinterpret_cast<__half2*>(picture + at);
    out[0] = __lows2half2(red_green, red_green2);
    out[plane / 2] = __highs2half2(red_green, red_green2);
    out[plane] = __lows2half2(blue, blue2);
}

// pictures: (batch, 3, height, width); two pixels a thread, the width is even. A frame without address leaves its picture as it is.
template <typename Number>
__device__ void fill(const Frame* __restrict__ frames, Number* __restrict__ pictures, int width, int height, float grey, const Scaling& scaled) {
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
        first = sample<NV12>(frame, column, row, grey), second = sample<NV12>(frame, column + 1, row, grey);
    } else if (frame.format == P016) {
        first = sample<P016>(frame, column, row, grey), second = sample<P016>(frame, column + 1, row, grey);
    } else if (frame.format == I420) {
        first = sample<I420>(frame, column, row, grey), second = sample<I420>(frame, column + 1, row, grey);
    } else {
        first = sample<RGB8>(frame, column, row, grey), second = sample<RGB8>(frame, column + 1, row, grey);
    }
    store(pictures + 3 * plane * blockIdx.z, plane, static_cast<long long>(row) * width + column, scaled(first), scaled(second));
}

#define PREPROCESS_KERNEL(NAME, NUMBER)                                                                                                \
    extern "C" __global__ void preprocess_##NAME(const Frame* __restrict__ frames, NUMBER* __restrict__ pictures, int width,           \
                                                 int height, float grey, int bgr, float mean0, float mean1, float mean2,               \
                                                 float factor0, float factor1, float factor2) {                                        \
        const Scaling scaled = {make_float3(mean0, mean1, mean2), make_float3(factor0, factor1, factor2), bgr != 0};                   \
        fill(frames, pictures, width, height, grey, scaled);                                                                           \
    }

PREPROCESS_KERNEL(fp16, __half)
PREPROCESS_KERNEL(fp32, float)
