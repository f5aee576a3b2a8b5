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

// The largest of ``size`` values from number ``first`` on. Values lie a step apart and have numbers from 0 to ``last``. Other numbers stand for
// the nearest value, which does not change the result: a window that begins or ends outside the input contains that value, too.
__device__ __forceinline__ Half8 largest(const Half8* values, int step, int first, int size, int last) {
    Half8 best = values[min(max(first, 0), last) * step];
#pragma unroll 4  // a thread loads five values before it waits
    for (int number = first + 1; number < first + size; ++number) {
        const Half8 value = values[min(max(number, 0), last) * step];
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
            best.pairs[pair] = larger(best.pairs[pair], value.pairs[pair]);
        }
    }
    return best;
}

// A block computes a tile of rows × blockDim.y outputs, blockDim.x Half8 each, of one picture. It first finds the largest values along x, which
// windows above each other share, and keeps them in shared memory. Then it finds the largest of these along y. At the edges of the output,
// threads repeat the last column or channels. Grid: groups of channels, tiles, pictures.
// channels, in_pitch, out_pitch: in Half8. height, width: of the input. before: padding at the top and left. rows: of a tile.
extern "C" __global__ void __launch_bounds__(384, 4)
    max_pool(const Half8* __restrict__ in, int in_pitch, int height, int width, Half8* __restrict__ out, int out_pitch, int out_height,
             int out_width, int channels, int size, int stride, int before, int rows) {
    extern __shared__ Half8 row_maxima[];  // (input rows, columns, channels)
    const int columns = blockDim.y, tile = blockIdx.y, across = (out_width + columns - 1) / columns, picture = blockIdx.z;
    const int x = min(static_cast<int>(tile % across * columns + threadIdx.y), out_width - 1);
    const int channel = min(static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), channels - 1);
    const int begin = tile / across * rows, end = min(begin + rows, out_height);
    const int top = max(begin * stride - before, 0), bottom = min((end - 1) * stride - before + size, height);
    const int step = blockDim.x * columns, place = threadIdx.y * blockDim.x + threadIdx.x;
    for (int y = top + threadIdx.z; y < bottom; y += blockDim.z) {
        const Half8* const row = in + pixel_at(picture, y, 0, height, width) * in_pitch + channel;
        row_maxima[(y - top) * step + place] = largest(row, in_pitch, x * stride - before, size, width - 1);
    }
    __syncthreads();
    for (int y = begin + threadIdx.z; y < end; y += blockDim.z) {
        const Half8 best = largest(row_maxima + place, step, y * stride - before - top, size, bottom - top - 1);
        out[pixel_at(picture, y, x, out_height, out_width) * out_pitch + channel] = best;
    }
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
