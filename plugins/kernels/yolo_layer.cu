// Raw heads into candidates: boxes whose objectness times class probability reaches the threshold. Semantics: engine/yolo.py.
// A block decodes a picture, so that its candidates come in the order of the CPU's decoder, always the same.

constexpr int MOST_HEADS = 8, MOST_ANCHORS = 16;
constexpr int YOLO_THREADS = 1024, WARPS = YOLO_THREADS / 32, PER_THREAD = 8, SPAN = YOLO_THREADS * PER_THREAD;
constexpr float WIDEST = 20.0f;  // exp(20) anchors is wider than any picture

// plugins/yolo_layer.py fills this: see HEAD there.
struct Head {
    unsigned long long values;      // FP16 (batch, anchors · (5 + classes), rows, columns)
    int rows, columns, anchors;
    int first;                      // cells of the heads before this one; a cell is a place and an anchor
    int side_by_side;               // 0; or the values of a place lie side by side, and so many (with padding) they are
    int new_coords;
    float scale_x_y, shift;
    float sizes[2 * MOST_ANCHORS];  // width and height of each anchor, network pixels
};

__device__ __forceinline__ float logistic(float x) { return 1.0f / (1.0f + expf(-x)); }

// One cell of one picture, and how its values are found.
struct Cell {
    const Head* head;
    const __half* raw;
    int step, anchor, place;

    __device__ __forceinline__ Cell(const Head* heads, int head_count, int classes, int picture, int index) : head(heads) {
        for (const Head* last = heads + head_count - 1; head < last && index >= head[1].first; ++head) {
        }
        const int area = head->rows * head->columns, local = index - head->first;
        anchor = local / area, place = local - anchor * area;
        const int values = 5 + classes, wide = head->side_by_side;
        raw = reinterpret_cast<const __half*>(head->values);
        if (wide) {
            step = 1;
            raw += (static_cast<long long>(picture) * area + place) * wide + anchor * values;
        } else {
            step = area;
            raw += (static_cast<long long>(picture) * head->anchors + anchor) * values * area + place;
        }
    }

    __device__ __forceinline__ float value(int channel) const { return __half2float(raw[static_cast<long long>(channel) * step]); }

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

// Where a picture's candidates go.
struct Room {
    float4* boxes;
    float* scores;
    int* class_ids;
    int capacity;
};

// The candidates of one cell, looked for by a whole warp: how many; with room, they are also written, from ``start`` on.
__device__ int candidates_of(const Cell& cell, int classes, float width, float height, float confidence, const Room* room, int start) {
    const int lane = threadIdx.x & 31;
    const bool direct = cell.head->new_coords;
    const float objectness = cell.value(4), sure = direct ? fminf(objectness, 1.0f) : logistic(objectness);
    float4 box;
    int count = 0;
    for (int first = 0; first < classes; first += 32) {
        const int class_id = first + lane;
        float score = 0.0f;
        bool found = false;
        if (class_id < classes) {
            const float value = cell.value(5 + class_id);
            score = sure * (direct ? fminf(value, 1.0f) : logistic(value));
            found = score >= confidence && (!direct || value >= confidence);  // fminf makes a number of what is none
        }
        const unsigned votes = __ballot_sync(0xffffffffu, found);
        if (votes == 0) {
            continue;
        }
        if (count == 0) {
            box = cell.box(width, height);
            if (!isfinite(box.x) || !isfinite(box.y) || !isfinite(box.z) || !isfinite(box.w)) {
                return 0;
            }
        }
        const int slot = start + count + __popc(votes & ((1u << lane) - 1));
        if (room != nullptr && found && slot < room->capacity) {
            room->boxes[slot] = box, room->scores[slot] = score, room->class_ids[slot] = class_id;
        }
        count += __popc(votes);
    }
    return count;
}

// The sums of all numbers before each, and of all; by the block's first warp. COUNT: a multiple of 32.
template <int COUNT>
__device__ void sum_before(int* numbers, int* total) {
    constexpr int EACH = COUNT / 32;
    if (threadIdx.x < 32) {
        int mine[EACH], sum = 0;
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            mine[i] = numbers[threadIdx.x * EACH + i];
            sum += mine[i];
        }
        int up_to = sum;
        for (int distance = 1; distance < 32; distance *= 2) {
            const int before = __shfl_up_sync(0xffffffffu, up_to, distance);
            up_to += threadIdx.x >= distance ? before : 0;
        }
        int running = up_to - sum;
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            numbers[threadIdx.x * EACH + i] = running;
            running += mine[i];
        }
        if (threadIdx.x == 31) {
            *total = running;
        }
    }
}

// boxes, scores, class_ids: (pictures, capacity). counts: candidates of each picture; the true number, also where it exceeds the capacity.
extern "C" __global__ void __launch_bounds__(YOLO_THREADS)
    yolo_layer(const Head* __restrict__ table, int head_count, int classes, int cells, float width, float height, float confidence,
               float floor, float4* __restrict__ boxes, float* __restrict__ scores, int* __restrict__ class_ids, int* __restrict__ counts,
               int capacity) {
    constexpr unsigned short EMPTY = 0x8000;  // no cell's number within a span
    __shared__ Head heads[MOST_HEADS];
    __shared__ unsigned short promising[SPAN];
    __shared__ int before[WARPS * PER_THREAD], warp_before[WARPS], promising_count, total;
    const int picture = blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const long long offset = static_cast<long long>(picture) * capacity;
    const Room room = {boxes + offset, scores + offset, class_ids + offset, capacity};
    for (int i = threadIdx.x; i < head_count * static_cast<int>(sizeof(Head) / 4); i += YOLO_THREADS) {
        reinterpret_cast<int*>(heads)[i] = reinterpret_cast<const int*>(table)[i];
    }
    __syncthreads();
    int found = 0;
    for (int start = 0; start < cells; start += SPAN) {
        // Cells whose objectness suffices: a score is at most that, and most cells end here.
        bool promises[PER_THREAD];
#pragma unroll
        for (int i = 0; i < PER_THREAD; ++i) {
            const int index = start + i * YOLO_THREADS + threadIdx.x;
            promises[i] = false;
            if (index < cells) {
                const Cell cell(heads, head_count, classes, picture, index);
                promises[i] = cell.value(4) >= (cell.head->new_coords ? confidence : floor);
            }
        }
        unsigned votes[PER_THREAD];
#pragma unroll
        for (int i = 0; i < PER_THREAD; ++i) {
            votes[i] = __ballot_sync(0xffffffffu, promises[i]);
            if (lane == 0) {
                before[i * WARPS + warp] = __popc(votes[i]);
            }
        }
        __syncthreads();
        sum_before<WARPS * PER_THREAD>(before, &promising_count);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < PER_THREAD; ++i) {
            if (promises[i]) {
                promising[before[i * WARPS + warp] + __popc(votes[i] & ((1u << lane) - 1))] =
                    static_cast<unsigned short>(i * YOLO_THREADS + threadIdx.x);
            }
        }
        __syncthreads();
        // The values of a cell's classes are far apart in memory: a whole warp looks at one cell after the other, first to count, then to write.
        const int from = promising_count * warp / WARPS, to = promising_count * (warp + 1) / WARPS;
        int mine = 0;
        for (int i = from; i < to; ++i) {
            const Cell cell(heads, head_count, classes, picture, start + promising[i]);
            const int count = candidates_of(cell, classes, width, height, confidence, nullptr, 0);
            __syncwarp();
            if (count == 0 && lane == 0) {
                promising[i] = EMPTY;
            }
            mine += count;
        }
        if (lane == 0) {
            warp_before[warp] = mine;
        }
        __syncthreads();
        sum_before<WARPS>(warp_before, &total);
        __syncthreads();
        int slot = found + warp_before[warp];
        for (int i = from; i < to && slot < capacity; ++i) {
            if (promising[i] != EMPTY) {
                const Cell cell(heads, head_count, classes, picture, start + promising[i]);
                slot += candidates_of(cell, classes, width, height, confidence, &room, slot);
            }
        }
        found += total;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        counts[picture] = found;
    }
}
