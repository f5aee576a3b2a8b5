// Preprocessing as TensorRT launches it: addresses of inputs, whole numbers, addresses of outputs.
// plugins/tensorrt_plugins_detection.py puts FRAME_WORDS before this: a Frame for pictures stored alike, but for their addresses.

// surfaces: of each picture so many rows of FRAME's pitch, the luma's before the chroma's, or the pixels'.
template <int CHANNELS>
__device__ __forceinline__ void preprocess_surfaces(const int* __restrict__ surfaces, int rows, int width, int height, __half* __restrict__ pictures) {
    __shared__ Frame frame;
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    if (thread < sizeof(Frame) / 4) {
        reinterpret_cast<unsigned*>(&frame)[thread] = FRAME_WORDS[thread];
    }
    __syncthreads();
    if (thread == 0) {
        frame.luma = reinterpret_cast<unsigned long long>(surfaces) + static_cast<unsigned long long>(blockIdx.z) * rows * frame.pitch;
        frame.chroma = frame.luma + static_cast<unsigned long long>(frame.height) * frame.pitch;
    }
    __syncthreads();
    preprocess_frame<CHANNELS>(frame, pictures, width, height);
}

extern "C" __global__ void tensorrt_preprocess(const int* __restrict__ surfaces, int rows, int width, int height, __half* __restrict__ pictures) {
    preprocess_surfaces<0>(surfaces, rows, width, height, pictures);
}

extern "C" __global__ void tensorrt_preprocess_hwc8(const int* __restrict__ surfaces, int rows, int width, int height, __half* __restrict__ pictures) {
    preprocess_surfaces<8>(surfaces, rows, width, height, pictures);
}
