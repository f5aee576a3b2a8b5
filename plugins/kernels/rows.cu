// Outputs with a row for each box into candidates, for networks whose reading is not Darknet's. Semantics: engine/detection/readings.py.
// As in yolo_layer.cu, one kernel counts and a second one writes, so that the order is that of the CPU.

// Numbers of one output, float32: the address of the first one, and the numbers from picture to picture, row to row and value to value.
struct Values {
    unsigned long long address;  // 0: there is no such output
    int picture, row, step;

    __device__ __forceinline__ float at(int index, int line, int place) const {
        return __ldg(reinterpret_cast<const float*>(address) + static_cast<long long>(index) * picture + static_cast<long long>(line) * row +
                     static_cast<long long>(place) * step);
    }
};

// Filled by plugins/rows.py, see ROWS there.
struct Rows {
    Values boxes, scores, objectness, ids, number;  // ids: class ids, where a row has only one score; number: of the rows that count
    unsigned long long cells;                       // column, row and stride of each row's cell, if boxes are relative to cells
    int items;                                      // rows; or pairs of a row and a class, if each pair is a candidate
    int classes, pairs, centre;                     // centre: boxes are centre and size, not corners
    float width, height;                            // factors of the boxes
    float confidence, floor;                        // floor: the lowest logit that can reach the confidence
};

__device__ __forceinline__ float4 box_of(const Rows& rows, int picture, int row) {
    float x = rows.boxes.at(picture, row, 0), y = rows.boxes.at(picture, row, 1);
    float z = rows.boxes.at(picture, row, 2), w = rows.boxes.at(picture, row, 3);
    if (rows.cells != 0) {
        const float* cell = reinterpret_cast<const float*>(rows.cells) + 3LL * row;
        x = (x + cell[0]) * cell[2], y = (y + cell[1]) * cell[2];
        z = expf(z > WIDEST ? WIDEST : z) * cell[2], w = expf(w > WIDEST ? WIDEST : w) * cell[2];
    }
    if (rows.centre) {
        const float half_width = z / 2.0f, half_height = w / 2.0f;
        z = x + half_width, w = y + half_height, x = x - half_width, y = y - half_height;
    }
    return make_float4(x * rows.width, y * rows.height, z * rows.width, w * rows.height);
}

// What one item gives. score: 0 = no candidate. sound: false if the host has to look at the picture, see NOT_FINITE.
struct Item {
    float score;
    int class_id;
    bool sound;
};

__device__ __forceinline__ Item pair_of(const Rows& rows, int picture, int item) {
    const int row = item / rows.classes, class_id = item - row * rows.classes;
    const float raw = rows.scores.at(picture, row, class_id);
    if (!isfinite(raw)) {
        return {0.0f, 0, false};
    }
    const float score = logistic(raw);
    return raw >= rows.floor && score >= rows.confidence ? Item{score, class_id, true} : Item{0.0f, 0, true};
}

// The best class of a row: the first one of equal ones. A number that is none wins, so that it is noticed.
__device__ __forceinline__ Item row_of_boxes(const Rows& rows, int picture, int row) {
    const Item nothing = {0.0f, 0, true};
    if (rows.number.address != 0 && !(row < truncf(rows.number.at(picture, 0, 0)))) {
        return nothing;
    }
    const float sure = rows.objectness.address != 0 ? rows.objectness.at(picture, row, 0) : 1.0f;
    if (rows.objectness.address != 0 && sure < rows.confidence) {  // a score is never higher
        return nothing;
    }
    float score = sure * rows.scores.at(picture, row, 0);
    int class_id = 0;
    if (rows.ids.address != 0) {
        const float id = rows.ids.at(picture, row, 0);
        class_id = id > -1.0f && id < static_cast<float>(rows.classes) ? static_cast<int>(id) : -1;
    } else {
#pragma unroll 8
        for (int other = 1; other < rows.classes; ++other) {
            const float value = sure * rows.scores.at(picture, row, other);
            if (value > score || (isnan(value) && !isnan(score))) {
                score = value, class_id = other;
            }
        }
    }
    return score < rows.confidence ? nothing : Item{score, class_id, isfinite(score) && class_id >= 0};
}

__device__ __forceinline__ void share(Rows* rows, const Rows* __restrict__ table) {
    static_assert(sizeof(Rows) % 4 == 0 && sizeof(Rows) / 4 <= YOLO_THREADS, "copied by words");
    if (threadIdx.x < sizeof(Rows) / 4) {
        reinterpret_cast<int*>(rows)[threadIdx.x] = reinterpret_cast<const int*>(table)[threadIdx.x];
    }
    __syncthreads();
}

// found: (pictures, items), score and class id of each item. block_counts: (pictures, blocks), candidates of each block.
extern "C" __global__ void __launch_bounds__(YOLO_THREADS)
    rows_count(const Rows* __restrict__ table, int2* __restrict__ found, int* __restrict__ block_counts) {
    __shared__ Rows rows;
    __shared__ int numbers[WARPS];
    share(&rows, table);
    const int picture = blockIdx.y, item = blockIdx.x * YOLO_THREADS + threadIdx.x;
    Item mine = {0.0f, 0, true};
    if (item < rows.items) {
        mine = rows.pairs ? pair_of(rows, picture, item) : row_of_boxes(rows, picture, item);
        if (mine.sound && mine.score > 0.0f) {
            const float4 box = box_of(rows, picture, rows.pairs ? item / rows.classes : item);
            mine.sound = isfinite(box.x) && isfinite(box.y) && isfinite(box.z) && isfinite(box.w);
            if (box.z < box.x || box.w < box.y) {
                mine.score = 0.0f;
            }
        }
        found[static_cast<long long>(picture) * rows.items + item] = make_int2(__float_as_int(mine.sound ? mine.score : 0.0f), mine.class_id);
    }
    const unsigned votes = __ballot_sync(0xffffffffu, mine.sound && mine.score > 0.0f);
    const bool sound = __ballot_sync(0xffffffffu, !mine.sound) == 0;
    const WarpSums sums(numbers, __popc(votes) + (sound ? 0 : NOT_FINITE));
    if (threadIdx.x == 0) {
        block_counts[blockIdx.y * gridDim.x + blockIdx.x] = sums.total;
    }
}

// boxes, scores, class_ids: (pictures, capacity). counts: candidates of each picture, also where they exceed the capacity.
extern "C" __global__ void __launch_bounds__(YOLO_THREADS)
    rows_write(const Rows* __restrict__ table, const int2* __restrict__ found, const int* __restrict__ block_counts,
               float4* __restrict__ boxes, float* __restrict__ scores, int* __restrict__ class_ids, int* __restrict__ counts, int capacity) {
    __shared__ Rows rows;
    __shared__ int numbers[WARPS];
    share(&rows, table);
    const int picture = blockIdx.y, item = blockIdx.x * YOLO_THREADS + threadIdx.x, lane = threadIdx.x & 31;
    block_counts += blockIdx.y * gridDim.x;
    const int start = sum_before(numbers, block_counts), mine = block_counts[blockIdx.x];
    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) {
        counts[picture] = start + mine;
    }
    if (mine == 0 || start + mine > capacity) {  // with too many, nobody reads the candidates
        return;
    }
    const int2 known = item < rows.items ? found[static_cast<long long>(picture) * rows.items + item] : make_int2(0, 0);
    const unsigned votes = __ballot_sync(0xffffffffu, known.x != 0);
    const WarpSums sums(numbers, __popc(votes));
    const int slot = start + sums.before + __popc(votes & ((1u << lane) - 1));
    if (known.x != 0) {
        const long long place = static_cast<long long>(picture) * capacity + slot;
        boxes[place] = box_of(rows, picture, rows.pairs ? item / rows.classes : item);
        scores[place] = __int_as_float(known.x), class_ids[place] = known.y;
    }
}
