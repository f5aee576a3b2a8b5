// Non-maximum suppression, class by class, one block a picture; then boxes in the pixels of the picture as shown.
// Semantics: engine/detection/postprocess.py, and of the boxes Fit.to_source in engine/detection/preprocess.py.

constexpr int NMS_THREADS = 1024;
constexpr int GROUP = 64;  // candidates decided at a time: one bit each

struct Record {
    float x1, y1, x2, y2, score;
    int class_id;
};

// By how much the overlap exceeds the limit; 0 or less: it does not. Boxes are x1 y1 x2 y2. beta: below 0 for plain IoU. aspect: multiplies
// vertical distances, so that all distances are in fractions of the picture.
__device__ __forceinline__ float excess(const float4& a, const float4& b, float iou, float beta, float aspect) {
    const float width = fmaxf(fminf(a.z, b.z) - fmaxf(a.x, b.x), 0.0f);
    const float overlap = width * fmaxf(fminf(a.w, b.w) - fmaxf(a.y, b.y), 0.0f);
    const float area = (a.z - a.x) * (a.w - a.y) + (b.z - b.x) * (b.w - b.y) - overlap;
    const float over = overlap - iou * area;
    if (beta < 0.0f || !(over > 0.0f)) {  // the distance only lowers it
        return over;
    }
    const float dx = a.x + a.z - b.x - b.z, dy = (a.y + a.w - b.y - b.w) * aspect;
    const float around_x = fmaxf(a.z, b.z) - fminf(a.x, b.x), around_y = (fmaxf(a.w, b.w) - fminf(a.y, b.y)) * aspect;
    const float distance = dx * dx + dy * dy, around = around_x * around_x + around_y * around_y;
    constexpr float tiny = 1.17549435e-38f;
    return overlap / fmaxf(area, tiny) - powf(distance / 4.0f / fmaxf(around, tiny), beta) - iou;
}

// Sorts in ascending order. size: a power of two.
__device__ void sort(unsigned long long* keys, int size) {
    for (int run = 2; run <= size; run *= 2) {
        for (int step = run / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < size / 2; i += NMS_THREADS) {
                const int low = 2 * i - (i & (step - 1)), high = low + step;
                const unsigned long long first = keys[low], second = keys[high];
                if ((first > second) == ((low & run) == 0)) {
                    keys[low] = second, keys[high] = first;
                }
            }
        }
    }
    __syncthreads();
}

// boxes, scores, class_ids: (pictures, capacity), a power of two. wanted: one bit a class.
// results: int2 (candidates, records) of each picture, then Record (pictures, limit), strongest first. Both numbers are true where they
// exceed capacity or limit: with too many candidates there are no records; of too many records the first are kept.
// suppress: 0 where boxes do not overlap. most: candidates, the strongest ones, that may become records.
extern "C" __global__ void __launch_bounds__(NMS_THREADS, 1)
    nms(const float4* __restrict__ boxes, const float* __restrict__ scores, const int* __restrict__ class_ids, const int* __restrict__ counts,
        int capacity, const Frame* __restrict__ frames, const unsigned* __restrict__ wanted, float iou, float beta, int suppress, int most,
        int2* __restrict__ results, Record* __restrict__ records, int limit) {
    extern __shared__ unsigned long long keys[];                                // capacity keys
    unsigned short* kept = reinterpret_cast<unsigned short*>(keys + capacity);  // as many numbers of kept candidates
    __shared__ unsigned long long dead, busy, rows[GROUP];  // bits: suppressed by an earlier group; has rows; the members it suppresses
    __shared__ float4 group[GROUP];
    __shared__ int group_classes[GROUP], written, warp_counts[NMS_THREADS / 32];

    const Frame& frame = frames[blockIdx.x];
    const int picture = blockIdx.x, candidates = counts[picture];
    int count = candidates;
    if (count > capacity || frame.luma == 0) {
        if (threadIdx.x == 0) {
            results[picture] = make_int2(count, 0);
        }
        return;
    }
    const float aspect = static_cast<float>(frame.right - frame.left) / static_cast<float>(frame.bottom - frame.top);
    const long long offset = static_cast<long long>(picture) * capacity;
    boxes += offset, scores += offset, class_ids += offset;
    records += static_cast<long long>(picture) * limit;
    int size = 2;
    while (size < count) {
        size *= 2;
    }
    for (int i = threadIdx.x; i < size; i += NMS_THREADS) {
        // Scores are positive, so their bits sort like the scores. The strongest first, equal scores in their order, unused keys last.
        keys[i] = i < count ? static_cast<unsigned long long>(~__float_as_uint(scores[i])) << 32 | static_cast<unsigned>(i) : ~0ULL;
    }
    if (threadIdx.x == 0) {
        written = 0;
    }
    sort(keys, size);
    count = min(count, most);

    int kept_count = 0;  // the same in every thread
    for (int start = 0; start < count; start += GROUP) {
        const int members = min(GROUP, count - start);
        if (threadIdx.x < members) {
            const unsigned slot = static_cast<unsigned>(keys[start + threadIdx.x]);
            group[threadIdx.x] = boxes[slot], group_classes[threadIdx.x] = class_ids[slot];
        }
        if (threadIdx.x < GROUP) {
            rows[threadIdx.x] = 0;
        }
        if (threadIdx.x == 0) {
            dead = 0, busy = 0;
        }
        __syncthreads();
        // compare with the kept ones; NMS_THREADS is a multiple of GROUP, so a thread always has the same member
        const int member = threadIdx.x % GROUP;
        constexpr int APART = NMS_THREADS / GROUP, AT_ONCE = 4;  // loads under way together
        bool loses = false;
        for (int first = threadIdx.x / GROUP; suppress && first < kept_count && member < members && !loses; first += AT_ONCE * APART) {
            int slots[AT_ONCE], classes[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                slots[i] = kept[min(first + i * APART, kept_count - 1)];  // behind the end, the last one again
                classes[i] = class_ids[slots[i]];
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                loses |= classes[i] == group_classes[member] && excess(boxes[slots[i]], group[member], iou, beta, aspect) > 0.0f;
            }
        }
        if (loses) {
            atomicOr(&dead, 1ULL << member);
        }
        // compare the group's members with each other
        for (int first = threadIdx.x / GROUP; suppress && first < member && member < members; first += NMS_THREADS / GROUP) {
            if (group_classes[first] == group_classes[member] && excess(group[first], group[member], iou, beta, aspect) > 0.0f) {
                atomicOr(&rows[first], 1ULL << member);
                atomicOr(&busy, 1ULL << first);
            }
        }
        __syncthreads();
        // decide in order of strength, only for members that suppress others
        unsigned long long gone = dead;
        for (unsigned long long left = busy; left != 0; left &= left - 1) {
            const int strongest = __ffsll(left) - 1;
            gone |= gone >> strongest & 1 ? 0 : rows[strongest];
        }
        const unsigned long long stay = ~gone & (~0ULL >> (GROUP - members));
        if (threadIdx.x < GROUP && (stay >> threadIdx.x & 1)) {
            kept[kept_count + __popcll(stay & ((1ULL << threadIdx.x) - 1))] = static_cast<unsigned short>(keys[start + threadIdx.x]);
        }
        kept_count += __popcll(stay);
        __syncthreads();
    }

    // map to the picture and clip, in order; leave out boxes outside the picture and unwanted classes
    const float* back = frame.back;
    const float shown_width = frame.shown_width, shown_height = frame.shown_height;
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    for (int start = 0; start < kept_count; start += NMS_THREADS) {
        const int at = start + threadIdx.x;
        Record record;
        bool keep = false;
        if (at < kept_count) {
            const int slot = kept[at];
            const float4 box = boxes[slot];
            record.x1 = fminf(fmaxf((box.x - back[1]) * back[0], 0.0f), shown_width);
            record.x2 = fminf(fmaxf((box.z - back[1]) * back[0], 0.0f), shown_width);
            record.y1 = fminf(fmaxf((box.y - back[3]) * back[2], 0.0f), shown_height);
            record.y2 = fminf(fmaxf((box.w - back[3]) * back[2], 0.0f), shown_height);
            record.score = scores[slot], record.class_id = class_ids[slot];
            const bool is_wanted = wanted[record.class_id / 32] >> (record.class_id % 32) & 1;
            keep = record.x1 < record.x2 && record.y1 < record.y2 && is_wanted;
        }
        const unsigned votes = __ballot_sync(0xffffffffu, keep);
        if (lane == 0) {
            warp_counts[warp] = __popc(votes);
        }
        __syncthreads();
        int place = written + __popc(votes & ((1u << lane) - 1)), all = written;
        for (int each = 0; each < NMS_THREADS / 32; ++each) {
            place += each < warp ? warp_counts[each] : 0;
            all += warp_counts[each];
        }
        if (keep && place < limit) {
            records[place] = record;
        }
        __syncthreads();
        written = all;  // every thread writes the same number
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        results[picture] = make_int2(candidates, written);
    }
}
