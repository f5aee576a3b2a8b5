// Kernels that only memory bandwidth limits; they measure devices and their links.

constexpr int BLOCK = 256;        // threads
constexpr int PRODUCT_ROWS = 8;   // rows of the matrix that a block multiplies at once; each uses the same part of x

// A number in [0, 1) for every place of an array, the same however devices share it.
__device__ __forceinline__ float value_at(unsigned long long place) {
    unsigned bits = static_cast<unsigned>(place) + 2654435769u * static_cast<unsigned>(place >> 32);
    bits = (bits ^ bits >> 16) * 2246822519u;
    bits = (bits ^ bits >> 13) * 3266489917u;
    return static_cast<float>((bits ^ bits >> 16) >> 8) * (1.0f / 16777216.0f);
}

// The columns from `first` on of an array that is `total` columns wide.
extern "C" __global__ void fill(float* values, unsigned long long rows, unsigned long long columns, unsigned long long first, unsigned long long total) {
    const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows * columns; i += stride) {
        values[i] = value_at(i / columns * total + first + i % columns);
    }
}

__device__ __forceinline__ double sum_of(float4 four) { return static_cast<double>((four.x + four.y) + (four.z + four.w)); }

__device__ __forceinline__ double sum_of_block(double mine) {
    __shared__ double sums[BLOCK];
    sums[threadIdx.x] = mine;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
    }
    return sums[0];  // valid in the first thread
}

// One sum a block. quads: values / 4.
extern "C" __global__ void sum_parts(const float4* values, unsigned long long quads, double* parts) {
    const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    double sum = 0.0;
    for (; i + 3 * stride < quads; i += 4 * stride) {
        const float4 a = values[i], b = values[i + stride], c = values[i + 2 * stride], d = values[i + 3 * stride];
        sum += (sum_of(a) + sum_of(b)) + (sum_of(c) + sum_of(d));
    }
    for (; i < quads; i += stride) {
        sum += sum_of(values[i]);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
    }
}

extern "C" __global__ void sum_total(const double* parts, int count, double* total) {
    double sum = 0.0;
    for (int i = threadIdx.x; i < count; i += BLOCK) {
        sum += parts[i];
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        *total = sum;
    }
}

// y = matrix · x, a block for PRODUCT_ROWS rows. columns: a multiple of 4.
extern "C" __global__ void __launch_bounds__(256) product(const float* __restrict__ matrix, const float* __restrict__ x, int columns, float* y) {
    __shared__ float sums[PRODUCT_ROWS][BLOCK];
    const int quads = columns / 4;
    const float4* rows = reinterpret_cast<const float4*>(matrix) + static_cast<unsigned long long>(blockIdx.x) * PRODUCT_ROWS * quads;
    float mine[PRODUCT_ROWS] = {};
    for (int i = threadIdx.x; i < quads; i += BLOCK) {
        const float4 by = reinterpret_cast<const float4*>(x)[i];
        float4 values[PRODUCT_ROWS];
#pragma unroll
        for (int row = 0; row < PRODUCT_ROWS; ++row) {
            values[row] = rows[static_cast<unsigned long long>(row) * quads + i];
        }
#pragma unroll
        for (int row = 0; row < PRODUCT_ROWS; ++row) {
            mine[row] += (values[row].x * by.x + values[row].y * by.y) + (values[row].z * by.z + values[row].w * by.w);
        }
    }
#pragma unroll
    for (int row = 0; row < PRODUCT_ROWS; ++row) {
        sums[row][threadIdx.x] = mine[row];
    }
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            for (int row = 0; row < PRODUCT_ROWS; ++row) {
                sums[row][threadIdx.x] += sums[row][threadIdx.x + half];
            }
        }
    }
    __syncthreads();
    if (threadIdx.x < PRODUCT_ROWS) {
        y[static_cast<unsigned long long>(blockIdx.x) * PRODUCT_ROWS + threadIdx.x] = sums[threadIdx.x][0];
    }
}

// The entries first … first + count of the sum of `devices` vectors, which may lie on other devices or in host memory.
extern "C" __global__ void add_parts(const unsigned long long* addresses, int devices, int first, int count, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    float sum = 0.0f;
#pragma unroll 8
    for (int device = 0; device < devices; ++device) {
        sum += reinterpret_cast<const float*>(addresses[device])[first + i];
    }
    y[first + i] = sum;
}
