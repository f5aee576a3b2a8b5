// Frames of a batch into the network's input: colour, orientation, bilinear resizing and letterbox in one pass.

constexpr int NV12 = 0, P016 = 1, RGB8 = 2;

// plugins/preprocess.py fills this: see FRAME there.
struct Frame {
    unsigned long long luma, chroma;  // device addresses; RGB8 has its pixels at luma
    int pitch;                        // bytes from row to row
    int format;
    int width, height;                // pixels, as stored
    int left, top, right, bottom;     // where the picture lies in the network's input
    float map[6];                     // from a network pixel to a place among the stored pixels, whole numbers being pixel centres
    float colour[12];                 // rows of R, G, B: factors of Y, U, V (0..255), and a constant
    int rounded;                      // the result is a whole number of 0..255, as in a resized picture of bytes
    float back[4];                    // from network pixels to pixels of the picture as shown: scale and offset of x, then of y
    float shown_width, shown_height;
};

__device__ __forceinline__ float byte_of(float value) { return rintf(fminf(fmaxf(value, 0.0f), 255.0f)); }

__device__ __forceinline__ float3 pixel(const Frame& frame, int x, int y) {
    const unsigned char* row = reinterpret_cast<const unsigned char*>(frame.luma) + static_cast<long long>(y) * frame.pitch;
    if (frame.format == RGB8) {
        row += 3 * x;
        return make_float3(row[0], row[1], row[2]);
    }
    const unsigned char* pair = reinterpret_cast<const unsigned char*>(frame.chroma) + static_cast<long long>(y >> 1) * frame.pitch;
    float luma, u, v;
    if (frame.format == NV12) {
        const uchar2 both = reinterpret_cast<const uchar2*>(pair)[x >> 1];
        luma = row[x], u = both.x, v = both.y;
    } else {  // 10 and more bits, at the upper end of 16: 256 steps become 65536
        const ushort2 both = reinterpret_cast<const ushort2*>(pair)[x >> 1];
        constexpr float scale = 1.0f / 256.0f;
        luma = reinterpret_cast<const unsigned short*>(row)[x] * scale, u = both.x * scale, v = both.y * scale;
    }
    const float* c = frame.colour;
    return make_float3(byte_of(c[0] * luma + c[1] * u + c[2] * v + c[3]), byte_of(c[4] * luma + c[5] * u + c[6] * v + c[7]),
                       byte_of(c[8] * luma + c[9] * u + c[10] * v + c[11]));
}

__device__ __forceinline__ float3 sample(const Frame& frame, int column, int row) {
    if (column < frame.left || column >= frame.right || row < frame.top || row >= frame.bottom) {
        return make_float3(127.5f, 127.5f, 127.5f);  // what Darknet fills a letterbox with
    }
    const float* m = frame.map;
    const float x = fminf(fmaxf(m[0] * column + m[1] * row + m[2], 0.0f), frame.width - 1.0f);
    const float y = fminf(fmaxf(m[3] * column + m[4] * row + m[5], 0.0f), frame.height - 1.0f);
    const int x0 = static_cast<int>(x), y0 = static_cast<int>(y);
    const int x1 = min(x0 + 1, frame.width - 1), y1 = min(y0 + 1, frame.height - 1);
    const float right = x - x0, down = y - y0, left = 1.0f - right, up = 1.0f - down;
    const float3 a = pixel(frame, x0, y0), b = pixel(frame, x1, y0), c = pixel(frame, x0, y1), d = pixel(frame, x1, y1);
    float3 value = make_float3(up * (left * a.x + right * b.x) + down * (left * c.x + right * d.x),
                               up * (left * a.y + right * b.y) + down * (left * c.y + right * d.y),
                               up * (left * a.z + right * b.z) + down * (left * c.z + right * d.z));
    if (frame.rounded) {
        value = make_float3(rintf(value.x), rintf(value.y), rintf(value.z));
    }
    return value;
}

// pictures: (batch, 3, height, width), RGB, 0..1; two pixels a thread. A frame without address leaves its place as it is.
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
    constexpr float scale = 1.0f / 255.0f;
    const float3 first = sample(frame, column, row), second = sample(frame, column + 1, row);  // the width is even
    const long long plane = static_cast<long long>(width) * height;
    __half2* out = reinterpret_cast<__half2*>(pictures + 3 * plane * blockIdx.z + static_cast<long long>(row) * width + column);
    out[0] = __floats2half2_rn(first.x * scale, second.x * scale);
    out[plane / 2] = __floats2half2_rn(first.y * scale, second.y * scale);
    out[plane] = __floats2half2_rn(first.z * scale, second.z * scale);
}
