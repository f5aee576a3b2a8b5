// Non-maximum suppression, class by class, one block a picture; then boxes in the pixels of the picture as shown. Semantics: engine/nms.py.

constexpr int GROUP = 64;  // candidates decided at a time: one bit each

struct Record {
    float x1, y1, x2, y2, score;
    int class_id;
};


// By how much the overlap is too large, not above 0: it is not.
__device__ __forceinline__ float excess(const Candidate& a, const Candidate& b, float iou, float beta) {
    const float width = fmaxf(fminf(a.x2, b.x2) - fmaxf(a.x1, b.x1), 0.0f);
    const float overlap = width * fmaxf(fminf(a.y2, b.y2) - fmaxf(a.y1, b.y1), 0.0f);
    const float area = (a.x2 - a.x1) * (a.y2 - a.y1) + (b.x2 - b.x1) * (b.y2 - b.y1) - overlap;
    const float over = overlap - iou * area;
    if (beta < 0.0f || !(over > 0.0f)) {
        return over;
    }
    const float dx = a.x1 + a.x2 - b.x1 - b.x2, dy = a.y1 + a.y2 - b.y1 - b.y2;
    const float around_x = fmaxf(a.x2, b.x2) - fminf(a.x1, b.x1), around_y = fmaxf(a.y2, b.y2) - fminf(a.y1, b.y1);
    const float distance = dx * dx + dy * dy, around = around_x * around_x + around_y * around_y;
    constexpr float tiny = 1.17549435e-38f;
    return overlap / fmaxf(area, tiny) - powf(distance / 4.0f / fmaxf(around, tiny), beta) - iou;
}

// Strongest first, equal scores in the order of their indices. keys: a power of two of them, the unused ones all ones.
__device__ void sort(unsigned long long* keys, unsigned short* slots, int size) {
    for (int run = 2; run <= size; run *= 2) {
        for (int step = run / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
                const int low = 2 * i - (i & (step - 1)), high = low + step;
                const bool ascending = (low & run) == 0;
                if ((keys[low] > keys[high]) == ascending) {
                    const unsigned long long key = keys[low];
                    const unsigned short slot = slots[low];
                    keys[low] = keys[high], slots[low] = slots[high];
                    keys[high] = key, slots[high] = slot;
                }
            }
        }
    }
    __syncthreads();
}

// results: int2 (candidates, records) of each picture, then Record (pictures, limit). Both numbers are true where they exceed capacity
// or limit; what is then in the records is of no use. wanted: one bit a class. beta: below 0 for plain IoU.
extern "C" __global__ void nms(const Candidate* __restrict__ candidates, const int* __restrict__ counts, int capacity,
                               const Frame* __restrict__ frames, const unsigned* __restrict__ wanted, float iou, float beta,
                               int2* __restrict__ results, Record* __restrict__ records, int limit) {
    extern __shared__ unsigned long long keys[];
    unsigned short* slots = reinterpret_cast<unsigned short*>(keys + capacity);
    unsigned short* kept = slots + capacity;
    __shared__ unsigned long long dead, rows[GROUP];
    __shared__ Candidate group[GROUP];
    __shared__ int kept_count, written, warp_counts[32];

    const int picture = blockIdx.x, count = counts[picture];
    if (count > capacity || frames[picture].luma == 0) {
        if (threadIdx.x == 0) {
            results[picture] = make_int2(count, 0);
        }
        return;
    }
    candidates += static_cast<long long>(picture) * capacity;
    records += static_cast<long long>(picture) * limit;
    int size = 2;
    while (size < count) {
        size *= 2;
    }
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        // the scores are positive: their bits sort like themselves
        keys[i] = i < count ? (static_cast<unsigned long long>(~__float_as_uint(candidates[i].score)) << 32) |
                                  static_cast<unsigned>(candidates[i].index)
                            : ~0ULL;
        slots[i] = static_cast<unsigned short>(i);
    }
    if (threadIdx.x == 0) {
        kept_count = 0, written = 0;
    }
    sort(keys, slots, size);

    for (int start = 0; start < count; start += GROUP) {
        const int members = min(GROUP, count - start);
        if (threadIdx.x < members) {
            group[threadIdx.x] = candidates[slots[start + threadIdx.x]];
        }
        if (threadIdx.x < GROUP) {
            rows[threadIdx.x] = 0;
        }
        if (threadIdx.x == 0) {
            dead = 0;
        }
        __syncthreads();
        // against those kept before
        for (int pair = threadIdx.x; pair < kept_count * GROUP; pair += blockDim.x) {
            const int member = pair % GROUP;
            if (member < members && !(dead >> member & 1)) {
                const Candidate& stronger = candidates[kept[pair / GROUP]];
                if (stronger.class_id == group[member].class_id && excess(stronger, group[member], iou, beta) > 0.0f) {
                    atomicOr(&dead, 1ULL << member);
                }
            }
        }
        // among each other
        for (int pair = threadIdx.x; pair < GROUP * GROUP; pair += blockDim.x) {
            const int first = pair / GROUP, second = pair % GROUP;
            if (first < second && second < members && group[first].class_id == group[second].class_id &&
                excess(group[first], group[second], iou, beta) > 0.0f) {
                atomicOr(&rows[first], 1ULL << second);
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            unsigned long long gone = dead;
            for (int member = 0; member < members; ++member) {
                if (!(gone >> member & 1)) {
                    gone |= rows[member];
                    kept[kept_count++] = slots[start + member];
                }
            }
        }
        __syncthreads();
    }

    // into the picture, clipped to it, in order; what lies wholly beside it, and what nobody asked for, is left out
    const float* back = frames[picture].back;
    const float shown_width = frames[picture].shown_width, shown_height = frames[picture].shown_height;
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int start = 0; start < kept_count; start += blockDim.x) {
        const int at = start + threadIdx.x;
        Record record;
        bool keep = false;
        if (at < kept_count) {
            const Candidate found = candidates[kept[at]];
            record.x1 = fminf(fmaxf((found.x1 - back[1]) * back[0], 0.0f), shown_width);
            record.x2 = fminf(fmaxf((found.x2 - back[1]) * back[0], 0.0f), shown_width);
            record.y1 = fminf(fmaxf((found.y1 - back[3]) * back[2], 0.0f), shown_height);
            record.y2 = fminf(fmaxf((found.y2 - back[3]) * back[2], 0.0f), shown_height);
            record.score = found.score, record.class_id = found.class_id;
            keep = record.x1 < record.x2 && record.y1 < record.y2 && (wanted[found.class_id / 32] >> (found.class_id % 32) & 1);
        }
        const unsigned votes = __ballot_sync(0xffffffffu, keep);
        if (lane == 0) {
            warp_counts[warp] = __popc(votes);
        }
        __syncthreads();
        int place = written + __popc(votes & ((1u << lane) - 1));
        for (int before = 0; before < warp; ++before) {
            place += warp_counts[before];
        }
        if (keep && place < limit) {
            records[place] = record;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int each = 0; each < warps; ++each) {
                written += warp_counts[each];
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        results[picture] = make_int2(count, written);
    }
}
