// Raw heads into candidates: boxes whose objectness times class probability reaches the threshold. Semantics: engine/detection/postprocess.py.
// One kernel counts the candidates of each block's cells; a second one writes them behind those of the blocks before. So their order is
// always that of the CPU's decoder.

constexpr int MAX_HEADS = 8, MAX_ANCHORS = 16;
constexpr int YOLO_THREADS = 256, WARPS = YOLO_THREADS / 32;
constexpr int NOT_FINITE = 1 << 13;    // candidates that a NaN or infinite output counts as: more than are kept, so the host decodes the picture
constexpr int MAX_COUNTED = 1 << 18;  // candidates of one block, so that the sum over all blocks is an int
constexpr float WIDEST = 20.0f;  // exp(20) anchors is wider than any picture

// Filled by plugins/yolo_layer.py, see HEAD there.
struct Head {
    unsigned long long values;      // FP16 or FP32
    int rows, columns, anchors;
    int first;                      // the number of cells in the heads before; a cell is a place and an anchor
    int new_coords;
    int pitch;                      // 0: planes, (batch, anchors · (5 + classes), rows, columns); else channels last, (batch, rows, columns, pitch)
    float scale_x_y, shift;
    float sizes[2 * MAX_ANCHORS];  // width and height of each anchor, network pixels
};

__device__ __forceinline__ float logistic(float x) { return 1.0f / (1.0f + expf(-x)); }

__device__ __forceinline__ float as_float(__half value) { return __half2float(value); }
__device__ __forceinline__ float as_float(float value) { return value; }

// Reads the values of one cell of one picture. Number: the type of the raw outputs.
template <typename Number> struct Cell {
    const Head* head;
    const Number* raw;
    int step, anchor, place;  // step: from channel to channel

    __device__ __forceinline__ Cell(const Head* heads, int head_count, int classes, int picture, int index) : head(heads) {
        for (const Head* last = heads + head_count - 1; head < last && index >= head[1].first; ++head) {
        }
        const int local = index - head->first;
        const int area = head->rows * head->columns;
        anchor = local / area, place = local - anchor * area;
        raw = reinterpret_cast<const Number*>(head->values);
        if (head->pitch == 0) {
            step = area;
            raw += (static_cast<long long>(picture) * head->anchors + anchor) * (5 + classes) * area + place;
        } else {
            step = 1;
            raw += (static_cast<long long>(picture) * area + place) * head->pitch + anchor * (5 + classes);
        }
    }

    __device__ __forceinline__ float value(int channel) const { return as_float(raw[static_cast<long long>(channel) * step]); }

    // x1 y1 x2 y2, network pixels, not clipped
    __device__ __forceinline__ float4 box(float width, float height) const {
        float x = value(0), y = value(1), w = value(2), h = value(3);
        if (head->new_coords) {
            w = (2.0f * w) * (2.0f * w), h = (2.0f * h) * (2.0f * h);
        } else {
            x = logistic(x), y = logistic(y), w = expf(w > WIDEST ? WIDEST : w), h = expf(h > WIDEST ? WIDEST : h);
        }
        x = (x * head->scale_x_y - head->shift + place % head->columns) * (width / head->columns);
        y = (y * head->scale_x_y - head->shift + place / head->columns) * (height / head->rows);
        w = w * head->sizes[2 * anchor] / 2.0f, h = h * head->sizes[2 * anchor + 1] / 2.0f;
        return make_float4(x - w, y - h, x + w, y + h);
    }
};

// Memory for a picture's candidates.
struct Room {
    float4* boxes;
    float* scores;
    int* class_ids;
    int capacity;
};

// Counts the candidates of one cell with a whole warp. With room, also writes them from ``start`` on.
template <typename Number>
__device__ int candidates_of(const Cell<Number>& cell, int classes, float width, float height, float confidence, const Room* room, int start) {
    constexpr int AT_ONCE = 3;  // loads under way together, of 32 classes each
    const int lane = threadIdx.x & 31;
    const bool direct = cell.head->new_coords;
    const float objectness = cell.value(4), sure = direct ? fminf(objectness, 1.0f) : logistic(objectness);
    if (__ballot_sync(0xffffffffu, !isfinite(cell.value(min(lane, 4)))) != 0) {
        return NOT_FINITE;
    }
    float4 box;
    int count = 0;
    for (int first = 0; first < classes; first += 32 * AT_ONCE) {
        float values[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            values[i] = cell.value(5 + min(first + 32 * i + lane, classes - 1));
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (__ballot_sync(0xffffffffu, !isfinite(values[i])) != 0) {
                return NOT_FINITE;
            }
            const int class_id = first + 32 * i + lane;
            const float score = sure * (direct ? fminf(values[i], 1.0f) : logistic(values[i]));
            const bool found = class_id < classes && score >= confidence;
            const unsigned votes = __ballot_sync(0xffffffffu, found);
            if (votes == 0) {
                continue;
            }
            if (count == 0) {
                box = cell.box(width, height);
            }
            const int slot = start + count + __popc(votes & ((1u << lane) - 1));
            if (room != nullptr && found && slot < room->capacity) {
                room->boxes[slot] = box, room->scores[slot] = score, room->class_ids[slot] = class_id;
            }
            count += __popc(votes);
        }
    }
    return count;
}

// The sum of one number of each warp of a block, and the sum of the warps before this one. numbers: shared memory, overwritten.
struct WarpSums {
    int before, total;

    __device__ __forceinline__ WarpSums(int* numbers, int mine) : before(0), total(0) {
        const int warp = threadIdx.x / 32;
        __syncthreads();
        if ((threadIdx.x & 31) == 0) {
            numbers[warp] = mine;
        }
        __syncthreads();
#pragma unroll
        for (int each = 0; each < WARPS; ++each) {
            before += each < warp ? numbers[each] : 0;
            total += numbers[each];
        }
    }
};

// Counts the candidates in a block of 256 cells. With room, also writes them from ``start`` on.
template <typename Number>
__device__ int candidates_of_block(const Head* __restrict__ table, int head_count, int classes, int cells, float width, float height,
                                   float confidence, float floor, const Room* room, int start) {
    __shared__ Head heads[MAX_HEADS];
    __shared__ unsigned char promising[YOLO_THREADS];
    __shared__ int numbers[WARPS];
    const int picture = blockIdx.y, lane = threadIdx.x & 31, warp = threadIdx.x / 32, first = blockIdx.x * YOLO_THREADS;
    for (int i = threadIdx.x; i < head_count * static_cast<int>(sizeof(Head) / 4); i += YOLO_THREADS) {
        reinterpret_cast<int*>(heads)[i] = reinterpret_cast<const int*>(table)[i];
    }
    __syncthreads();
    // Skip cells with too low an objectness, which no score exceeds: most cells end here.
    bool promises = false, finite = true;
    if (first + threadIdx.x < cells) {
        const Cell<Number> cell(heads, head_count, classes, picture, first + threadIdx.x);
        const float objectness = cell.value(4);
        promises = objectness >= (cell.head->new_coords ? confidence : floor);
        finite = isfinite(objectness);
    }
    const bool all_finite = __ballot_sync(0xffffffffu, !finite) == 0;
    const unsigned votes = __ballot_sync(0xffffffffu, promises);
    const WarpSums sums(numbers, __popc(votes));
    if (promises) {
        promising[sums.before + __popc(votes & ((1u << lane) - 1))] = static_cast<unsigned char>(threadIdx.x);
    }
    __syncthreads();
    // A whole warp reads one cell: in planes, the values of its classes are far apart.
    int found = room == nullptr && !all_finite ? NOT_FINITE : 0;
    for (int group = 0; group < sums.total; group += WARPS) {
        int mine = 0;
        if (group + warp < sums.total) {
            const Cell<Number> cell(heads, head_count, classes, picture, first + promising[group + warp]);
            mine = candidates_of(cell, classes, width, height, confidence, nullptr, 0);
        }
        if (room == nullptr) {
            found += mine;
            continue;
        }
        const WarpSums counts(numbers, mine);
        if (mine > 0) {
            const Cell<Number> cell(heads, head_count, classes, picture, first + promising[group + warp]);
            candidates_of(cell, classes, width, height, confidence, room, start + found + counts.before);
        }
        found += counts.total;
    }
    return room == nullptr ? min(WarpSums(numbers, found).total, MAX_COUNTED) : found;
}

// The sum of the numbers of all blocks before this one. numbers: shared memory, overwritten.
__device__ __forceinline__ int sum_before(int* numbers, const int* __restrict__ block_counts) {
    int before = 0;
    for (int block = threadIdx.x; block < blockIdx.x; block += YOLO_THREADS) {
        before += block_counts[block];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        before += __shfl_xor_sync(0xffffffffu, before, distance);
    }
    return WarpSums(numbers, before).total;
}

// block_counts: (pictures, blocks), candidates of each block.
template <typename Number>
__device__ void count_candidates(const Head* __restrict__ table, int head_count, int classes, int cells, float width, float height,
                                 float confidence, float floor, int* __restrict__ block_counts) {
    const int found = candidates_of_block<Number>(table, head_count, classes, cells, width, height, confidence, floor, nullptr, 0);
    if (threadIdx.x == 0) {
        block_counts[blockIdx.y * gridDim.x + blockIdx.x] = found;
    }
}

// boxes, scores, class_ids: (pictures, capacity). counts: candidates of each picture, also where they exceed the capacity.
template <typename Number>
__device__ void write_candidates(const Head* __restrict__ table, int head_count, int classes, int cells, float width, float height,
                                 float confidence, float floor, const int* __restrict__ block_counts, float4* __restrict__ boxes,
                                 float* __restrict__ scores, int* __restrict__ class_ids, int* __restrict__ counts, int capacity) {
    __shared__ int numbers[WARPS];
    block_counts += blockIdx.y * gridDim.x;
    const int start = sum_before(numbers, block_counts), mine = block_counts[blockIdx.x];
    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) {
        counts[blockIdx.y] = start + mine;
    }
    if (mine == 0 || start >= capacity) {
        return;
    }
    const long long offset = static_cast<long long>(blockIdx.y) * capacity;
    const Room room = {boxes + offset, scores + offset, class_ids + offset, capacity};
    candidates_of_block<Number>(table, head_count, classes, cells, width, height, confidence, floor, &room, start);
}

#define YOLO_KERNELS(NAME, NUMBER)                                                                                                     \
    extern "C" __global__ void __launch_bounds__(YOLO_THREADS)                                                                         \
        yolo_count_##NAME(const Head* __restrict__ table, int head_count, int classes, int cells, float width, float height,           \
                          float confidence, float floor, int* __restrict__ block_counts) {                                             \
        count_candidates<NUMBER>(table, head_count, classes, cells, width, height, confidence, floor, block_counts);                   \
    }                                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(YOLO_THREADS)                                                                         \
        yolo_layer_##NAME(const Head* __restrict__ table, int head_count, int classes, int cells, float width, float height,           \
                          float confidence, float floor, const int* __restrict__ block_counts, float4* __restrict__ boxes,             \
                          float* __restrict__ scores, int* __restrict__ class_ids, int* __restrict__ counts, int capacity) {           \
        write_candidates<NUMBER>(table, head_count, classes, cells, width, height, confidence, floor, block_counts, boxes, scores,     \
                                 class_ids, counts, capacity);                                                                         \
    }

YOLO_KERNELS(fp16, __half)
YOLO_KERNELS(fp32, float)
