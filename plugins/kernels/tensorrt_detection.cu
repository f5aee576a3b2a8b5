// The YOLO layer and suppression as TensorRT launches them: addresses of inputs, whole numbers, addresses of outputs.
// plugins/tensorrt_plugins_detection.py puts all else before this, as constants, and the heads for HEAD_PARAMETERS and HEAD_ADDRESSES.
// When TensorRT times a layer, its inputs are any numbers: none may lead outside the tensors.

// HEAD_WORDS with the addresses, in shared memory. side_by_side: the heads have TensorRT's layout HWC8, otherwise NCHW.
__device__ __forceinline__ void place_heads(Head* table, const __half* const (&values)[HEADS], int side_by_side) {
    for (int i = threadIdx.x; i < HEADS * static_cast<int>(sizeof(Head) / 4); i += YOLO_THREADS) {
        reinterpret_cast<unsigned*>(table)[i] = HEAD_WORDS[i];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
        for (int i = 0; i < HEADS; ++i) {
            table[i].values = reinterpret_cast<unsigned long long>(values[i]);
            table[i].side_by_side = side_by_side ? (table[i].anchors * (5 + CLASSES) + 7) / 8 * 8 : 0;
        }
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(YOLO_THREADS) tensorrt_yolo_count(HEAD_PARAMETERS, int side_by_side, int* __restrict__ block_counts) {
    __shared__ Head table[HEADS];
    place_heads(table, {HEAD_ADDRESSES}, side_by_side);
    const int found = candidates_of_block(table, HEADS, CLASSES, CELLS, WIDTH, HEIGHT, CONFIDENCE, FLOOR, nullptr, 0);
    if (threadIdx.x == 0) {
        block_counts[blockIdx.y * gridDim.x + blockIdx.x] = found;
    }
}

extern "C" __global__ void __launch_bounds__(YOLO_THREADS)
    tensorrt_yolo_layer(HEAD_PARAMETERS, const int* __restrict__ block_counts, int side_by_side, int capacity, float4* __restrict__ boxes,
                        float* __restrict__ scores, int* __restrict__ class_ids, int* __restrict__ counts) {
    __shared__ Head table[HEADS];
    place_heads(table, {HEAD_ADDRESSES}, side_by_side);
    write_candidates(table, HEADS, CLASSES, CELLS, WIDTH, HEIGHT, CONFIDENCE, FLOOR, block_counts, boxes, scores, class_ids, counts, capacity);
}

extern "C" __global__ void __launch_bounds__(NMS_THREADS, 1)
    tensorrt_nms(const float4* __restrict__ boxes, const float* __restrict__ scores, const int* __restrict__ class_ids,
                 const int* __restrict__ counts, int capacity, int limit, int2* __restrict__ results, Record* __restrict__ records) {
    const auto wanted = [](int class_id) { return class_id >= 0 && class_id < CLASSES && (WANTED[class_id / 32] >> (class_id % 32) & 1) != 0; };
    const Frame& frame = *reinterpret_cast<const Frame*>(FRAME_WORDS);
    suppress(boxes, scores, class_ids, counts, capacity, frame, wanted, IOU, BETA, results, records, limit);
}
