// Max pooling and upsampling of FP16 values, channels last. Pixels are pitches of Half8 apart, so that values may be slices of channels.

struct Place {
    int channel, x, y, picture;
    __device__ __forceinline__ Place(long long index, int channels, int width, int height) {
        channel = static_cast<int>(index % channels), index /= channels;
        x = static_cast<int>(index % width), index /= width;
        y = static_cast<int>(index % height), picture = static_cast<int>(index / height);
    }
};

__device__ __forceinline__ long long pixel_at(int picture, int y, int x, int height, int width) {
    return (static_cast<long long>(picture) * height + y) * width + x;
}

// The larger of two numbers, NaN if one of them is.
__device__ __forceinline__ __half2 larger(__half2 a, __half2 b) { return __hmax2_nan(a, b); }

// channels, in_pitch, out_pitch: in Half8. height, width: of the input. before: padding at the top and left. count: of the output's Half8.
extern "C" __global__ void max_pool(const Half8* __restrict__ in, int in_pitch, int height, int width, Half8* __restrict__ out, int out_pitch,
                                    int out_height, int out_width, int channels, int size, int stride, int before, long long count) {
    const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= count) {
        return;
    }
    const Place at(index, channels, out_width, out_height);
    const int top = max(at.y * stride - before, 0), bottom = min(at.y * stride - before + size, height);
    const int left = max(at.x * stride - before, 0), right = min(at.x * stride - before + size, width);
    Half8 best = in[pixel_at(at.picture, top, left, height, width) * in_pitch + at.channel];
    for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) {
            const Half8 value = in[pixel_at(at.picture, y, x, height, width) * in_pitch + at.channel];
#pragma unroll
            for (int pair = 0; pair < 4; ++pair) {
                best.pairs[pair] = larger(best.pairs[pair], value.pairs[pair]);
            }
        }
    }
    out[pixel_at(at.picture, at.y, at.x, out_height, out_width) * out_pitch + at.channel] = best;
}

// Each pixel becomes factor × factor ones. height, width: of the input. count: of the output's Half8.
extern "C" __global__ void enlarge(const Half8* __restrict__ in, int in_pitch, int height, int width, Half8* __restrict__ out, int out_pitch,
                                   int channels, int factor, long long count) {
    const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= count) {
        return;
    }
    const Place at(index, channels, width * factor, height * factor);
    const Half8 value = in[pixel_at(at.picture, at.y / factor, at.x / factor, height, width) * in_pitch + at.channel];
    out[pixel_at(at.picture, at.y, at.x, height * factor, width * factor) * out_pitch + at.channel] = value;
}
