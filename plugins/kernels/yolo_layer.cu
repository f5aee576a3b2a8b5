// Raw heads into candidates: boxes whose objectness times class probability reaches the threshold. Semantics: engine/yolo.py.

// plugins/yolo_layer.py fills this: see HEAD there.
struct Head {
    unsigned long long values;  // FP16 (batch, anchors · (5 + classes), rows, columns)
    int rows, columns, anchors;
    int first;                  // cells of the heads before this one, times their anchors
    float scale_x_y;
    int new_coords;
    float sizes[32];            // width and height of each anchor, network pixels
};

struct Candidate {
    float x1, y1, x2, y2, score;  // network pixels, not clipped
    int class_id;
    int index;                    // place in the order of the CPU's decoder: equal scores keep it
    int padding;
};

constexpr float WIDEST = 20.0f;  // exp(20) anchors is wider than any picture

__device__ __forceinline__ float logistic(float x) { return 1.0f / (1.0f + expf(-x)); }

// counts: candidates of each picture, zero before; it counts on where the capacity ends.
extern "C" __global__ void yolo_layer(const Head* __restrict__ heads, int head_count, int classes, int cells, float width, float height,
                                      float confidence, float floor, Candidate* __restrict__ candidates, int* __restrict__ counts,
                                      int capacity) {
    const int picture = blockIdx.y, lane = threadIdx.x & 31;
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    int number = 0;
    while (number + 1 < head_count && cell >= heads[number + 1].first) {
        ++number;
    }
    const Head* mine = heads + number;
    const int area = mine->rows * mine->columns, values = 5 + classes;
    const int local = cell - mine->first, anchor = local / area, place = local - anchor * area;
    const __half* raw = reinterpret_cast<const __half*>(mine->values) +
                        (static_cast<long long>(picture) * mine->anchors + anchor) * values * area + place;
    bool wanted = false;
    float objectness = 0.0f;
    if (cell < cells) {
        objectness = __half2float(raw[4LL * area]);
        // a score is at most its objectness: most cells end here
        wanted = objectness >= (mine->new_coords ? confidence : floor);
    }
    // the classes of a cell are far apart in memory: the whole warp looks at one cell after the other
    for (unsigned cells_left = __ballot_sync(0xffffffffu, wanted); cells_left; cells_left &= cells_left - 1) {
        const int owner = __ffs(cells_left) - 1;
        const int its_cell = __shfl_sync(0xffffffffu, cell, owner), its_number = __shfl_sync(0xffffffffu, number, owner);
        const float its_objectness = __shfl_sync(0xffffffffu, objectness, owner);
        const __half* its_raw = reinterpret_cast<const __half*>(__shfl_sync(0xffffffffu, reinterpret_cast<unsigned long long>(raw), owner));
        const Head* head = heads + its_number;
        const int its_area = head->rows * head->columns;
        const bool direct = head->new_coords;
        for (int class_id = lane; class_id < classes; class_id += 32) {
            const float value = __half2float(its_raw[(5LL + class_id) * its_area]);
            const float score = direct ? fminf(its_objectness, 1.0f) * fminf(value, 1.0f) : logistic(its_objectness) * logistic(value);
            if (!(score >= confidence) || (direct && !(value >= confidence))) {  // fminf makes a number of what is none
                continue;
            }
            const int its_local = its_cell - head->first, its_anchor = its_local / its_area, its_place = its_local - its_anchor * its_area;
            float x = __half2float(its_raw[0]), y = __half2float(its_raw[1LL * its_area]);
            float w = __half2float(its_raw[2LL * its_area]), h = __half2float(its_raw[3LL * its_area]);
            if (direct) {
                w = (2.0f * w) * (2.0f * w), h = (2.0f * h) * (2.0f * h);
            } else {
                x = logistic(x), y = logistic(y), w = expf(w > WIDEST ? WIDEST : w), h = expf(h > WIDEST ? WIDEST : h);
            }
            const float shift = 0.5f * (head->scale_x_y - 1.0f);
            x = (x * head->scale_x_y - shift + its_place % head->columns) * (width / head->columns);
            y = (y * head->scale_x_y - shift + its_place / head->columns) * (height / head->rows);
            w = w * head->sizes[2 * its_anchor] / 2.0f, h = h * head->sizes[2 * its_anchor + 1] / 2.0f;
            if (!isfinite(x - w) || !isfinite(y - h) || !isfinite(x + w) || !isfinite(y + h)) {
                continue;
            }
            const int slot = atomicAdd(counts + picture, 1);
            if (slot < capacity) {
                candidates[static_cast<long long>(picture) * capacity + slot] = {x - w, y - h,    x + w, y + h,
                                                                                 score, class_id, its_cell * classes + class_id, 0};
            }
        }
    }
}
