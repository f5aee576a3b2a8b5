// As much of CUDA as the kernels use, for a C++ compiler: blocks run one after the other, the threads of a block as coroutines that
// take turns at barriers and votes. It shows wrong arithmetic and wrong order; races, misalignment and speed only a device shows.
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
#define __shared__ static  // one block at a time

using std::isfinite, std::isnan, std::max, std::min;

struct Dim {
    unsigned x, y, z;
};
static Dim threadIdx, blockIdx, blockDim, gridDim;

struct __half {
    _Float16 value;
};
struct __half2 {
    _Float16 x, y;
};
struct uchar2 {
    unsigned char x, y;
};
struct ushort2 {
    unsigned short x, y;
};
struct int2 {
    int x, y;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct float2 {
    float x, y;
};
struct float3 {
    float x, y, z;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
inline int2 make_int2(int x, int y) { return {x, y}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline float __half2float(__half a) { return a.value; }
inline __half __float2half(float a) { return {static_cast<_Float16>(a)}; }
inline float2 __half22float2(__half2 a) { return {a.x, a.y}; }
inline __half2 __floats2half2_rn(float a, float b) { return {static_cast<_Float16>(a), static_cast<_Float16>(b)}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
inline __half2 __hmax2_nan(__half2 a, __half2 b) {
    const auto larger = [](_Float16 one, _Float16 other) { return one != one || one > other ? one : other; };
    return {larger(a.x, b.x), larger(a.y, b.y)};
}
inline float __expf(float a) { return std::exp(a); }
inline float __fdividef(float a, float b) { return a / b; }
inline float fast_exp2(float a) { return std::exp2(a); }
inline float fast_reciprocal(float a) { return 1.0f / a; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fmaf_rd(float a, float b, float c) {
    volatile float x = a, y = b, z = c;  // not worked out before the rounding mode is set
    std::fesetround(FE_DOWNWARD);
    volatile float result = std::fma(x, y, z);
    std::fesetround(FE_TONEAREST);
    return result;
}
inline unsigned __float_as_uint(float a) {
    unsigned bits;
    std::memcpy(&bits, &a, 4);
    return bits;
}
inline int __float_as_int(float a) { return static_cast<int>(__float_as_uint(a)); }
inline float __int_as_float(int bits) {
    float a;
    std::memcpy(&a, &bits, 4);
    return a;
}
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline int __ffsll(unsigned long long a) { return __builtin_ffsll(a); }
template <typename T> T __ldg(const T* address) { return *address; }
inline void atomicOr(unsigned long long* address, unsigned long long bits) { *address |= bits; }

// Threads that wait for each other. A thread that has ended is waited for no more.
struct Meeting {
    int members = 0, arrived = 0, number = 0;

    void check() {
        if (members > 0 && arrived >= members) {
            arrived = 0, ++number;
        }
    }
};
// It begins once, and then runs each block's kernel. Jumps change between threads: unlike swapcontext, they call no system function.
struct Thread {
    jmp_buf place;
    bool begun = false, ended;
    const Meeting* meeting = nullptr;  // that it waits for
    int number;
    std::vector<char> stack = std::vector<char>(1 << 16);
};
static jmp_buf scheduler;
static std::vector<Thread> threads;
static int current;
static Meeting of_block, of_warp[32];
static unsigned long long said[32][32];  // by each lane of each warp
static unsigned long long* dynamic_shared;
static std::function<void()> kernel;

inline int number_in_block() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
__attribute__((noinline)) inline void leave() {
    if (!_setjmp(threads[current].place)) {
        _longjmp(scheduler, 1);
    }
}
inline void meet(Meeting& meeting) {
    const int number = meeting.number;
    ++meeting.arrived;
    meeting.check();
    if (meeting.number == number) {
        threads[current].meeting = &meeting, threads[current].number = number;
        leave();
    }
}
inline void __syncthreads() { meet(of_block); }

// What each lane of a warp said, once all have.
template <typename T, typename Use> auto exchange(T mine, Use use) {
    const int warp = number_in_block() / 32, lane = number_in_block() % 32;
    said[warp][lane] = 0;
    std::memcpy(&said[warp][lane], &mine, sizeof mine);
    meet(of_warp[warp]);
    auto result = use(said[warp], lane);
    meet(of_warp[warp]);
    return result;
}
inline unsigned __ballot_sync(unsigned, bool vote) {
    return exchange(vote, [](const unsigned long long* votes, int) {
        unsigned mask = 0;
        for (int lane = 0; lane < 32; ++lane) {
            mask |= static_cast<unsigned>(votes[lane] != 0) << lane;
        }
        return mask;
    });
}
inline int __shfl_xor_sync(unsigned, int mine, int distance) {
    return exchange(mine, [=](const unsigned long long* values, int lane) { return static_cast<int>(values[lane ^ distance]); });
}

inline void __syncwarp() { meet(of_warp[number_in_block() / 32]); }

// See ptx.cuh.
inline void begin_copy(void* to, const void* from) { std::memcpy(to, from, 16); }
inline void copies_begun() {}
inline void copies_done() {}
inline void load_matrices(unsigned (&numbers)[4], const void* row) {
    exchange(row, [&](const unsigned long long* rows, int lane) {
        for (int i = 0; i < 4; ++i) {
            std::memcpy(&numbers[i], reinterpret_cast<const unsigned*>(rows[8 * i + lane / 4]) + lane % 4, 4);
        }
        return 0;
    });
}
struct Factors {
    _Float16 left[4][2], right[2][2];
};
static Factors factors[32][32];  // of each lane of each warp
inline void multiply_add(float (&sums)[4], const unsigned (&left)[4], const unsigned (&right)[2]) {
    const int warp = number_in_block() / 32, lane = number_in_block() % 32;
    std::memcpy(factors[warp][lane].left, left, sizeof left), std::memcpy(factors[warp][lane].right, right, sizeof right);
    meet(of_warp[warp]);
    for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
        for (int k = 0; k < 16; ++k) {
            const int quarter = k % 8 / 2;
            const float a = factors[warp][4 * (row % 8) + quarter].left[2 * (k / 8) + row / 8][k % 2];
            const float b = factors[warp][4 * column + quarter].right[k / 8][k % 2];
            sums[i] += a * b;
        }
    }
    meet(of_warp[warp]);
}

inline void thread_main() {
    for (;;) {
        kernel();
        threads[current].ended = true;
        for (Meeting* meeting : {&of_block, &of_warp[current / 32]}) {
            --meeting->members;
            meeting->check();
        }
        leave();
    }
}
__attribute__((noinline)) inline void enter() {
    if (_setjmp(scheduler)) {
        return;
    }
    Thread& thread = threads[current];
    thread.meeting = nullptr;
    if (thread.begun) {
        _longjmp(thread.place, 1);
    }
    thread.begun = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = thread.stack.data(), context.uc_stack.ss_size = thread.stack.size(), context.uc_link = nullptr;
    makecontext(&context, thread_main, 0);
    setcontext(&context);
}

inline void run_block(int count) {
    of_block = {count};
    threads.resize(std::max<size_t>(threads.size(), count));
    for (int warp = 0; warp < 32; ++warp) {
        of_warp[warp] = {std::clamp(count - 32 * warp, 0, 32)};
    }
    for (int i = 0; i < count; ++i) {
        threads[i].ended = false;
    }
    while (of_block.members > 0) {
        for (current = 0; current < count; ++current) {
            const Thread& thread = threads[current];
            if (!thread.ended && (thread.meeting == nullptr || thread.meeting->number != thread.number)) {
                threadIdx = {current % blockDim.x, current / blockDim.x % blockDim.y, current / blockDim.x / blockDim.y};
                enter();
            }
        }
    }
}

inline void launch(const unsigned* grid, const unsigned* block, unsigned shared_bytes) {
    gridDim = {grid[0], grid[1], grid[2]}, blockDim = {block[0], block[1], block[2]};
    std::vector<unsigned long long> shared(shared_bytes / 8 + 1);
    dynamic_shared = shared.data();
    for (blockIdx.z = 0; blockIdx.z < grid[2]; ++blockIdx.z) {
        for (blockIdx.y = 0; blockIdx.y < grid[1]; ++blockIdx.y) {
            for (blockIdx.x = 0; blockIdx.x < grid[0]; ++blockIdx.x) {
                std::fill(shared.begin(), shared.end(), 0xCDCDCDCDCDCDCDCD);  // nobody may rely on zeros
                run_block(block[0] * block[1] * block[2]);
            }
        }
    }
}
