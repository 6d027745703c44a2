/* See lane_hand.h. Compiled for this machine's instructions. SPDX-License-Identifier: Apache-2.0 */
#include "lane_hand.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __AVX512F__
#include <immintrin.h>
#define UNIT "AVX-512"
#define MVEC "e"
#define SLEEF "avx512f"
enum { W = 16 };
#elif defined __AVX2__
#include <immintrin.h>
#define UNIT "AVX2"
#define MVEC "d"
#define SLEEF "avx2"
enum { W = 8 };
#else
#ifdef __aarch64__
#define UNIT "NEON"
#define MVEC "n"
#define SLEEF "advsimd"
#else
#define UNIT "SSE"
#define MVEC "b"
#define SLEEF "sse4"
#endif
enum { W = 4 };
#endif

typedef float lanes __attribute__((vector_size(4 * W)));
typedef int counts __attribute__((vector_size(4 * W)));
typedef double wide __attribute__((vector_size(4 * W)));
typedef lanes vector_fn(lanes);

const char *
lane_unit(void)
{
    return UNIT;
}

static lanes
get(const float *p)
{
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void
put(float *p, lanes v)
{
    memcpy(p, &v, sizeof v);
}

static lanes
all(float f)
{
    return f - (lanes){0};
}

/* v where the lane's count is above t, else other */
static lanes
where(const int *count, int t, lanes v, lanes other)
{
#ifdef __AVX512F__
    __mmask16 m = _mm512_cmpgt_epi32_mask(_mm512_loadu_si512(count), _mm512_set1_epi32(t));
    return (lanes)_mm512_mask_mov_ps((__m512)other, m, (__m512)v);
#elif defined __AVX2__
    __m256i m = _mm256_cmpgt_epi32(_mm256_loadu_si256((const __m256i *)count), _mm256_set1_epi32(t));
    return (lanes)_mm256_blendv_ps((__m256)other, (__m256)v, _mm256_castsi256_ps(m));
#else
    counts c;
    memcpy(&c, count, sizeof c);
    counts m = c > t;
    return (lanes)(((counts)v & m) | ((counts)other & ~m));
#endif
}

static int
longest(const int *count)
{
    int most = 0;
    for (int l = 0; l < W; l++)
        most = count[l] > most ? count[l] : most;
    return most;
}

static lanes
one_by_one(float f(float), lanes v)
{
    float a[W];
    put(a, v);
    for (int l = 0; l < W; l++)
        a[l] = f(a[l]);
    return get(a);
}

static lanes
slow_sine(lanes v)
{
    return one_by_one(sinf, v);
}

static lanes
slow_cosine(lanes v)
{
    return one_by_one(cosf, v);
}

typedef struct body {
    vector_fn *sine, *cosine; /* NULL: of additions and multiplications */
} body;

static inline __attribute__((always_inline)) lanes
step(const body *b, lanes v)
{
    lanes c = all(0.001f);
    return b->sine ? v + c * b->sine(v) : v * (1.0f - c * v) + c * v;
}

static inline __attribute__((always_inline)) lanes
slope(const body *b, lanes v)
{
    return b->sine ? 1.0f + all(0.001f) * b->cosine(v) : 1.001f - all(0.002f) * v;
}

static inline __attribute__((always_inline)) void
gradient(const body *b, void *const *data, void *const *adjoint, int first, int n)
{
    const int *count = data[2];
    const float *x = data[3];
    float *y = data[4], *x_a = adjoint[3], *y_a = adjoint[4];
    size_t room = 0;
    float *kept = NULL;
    for (int i = first; i < n; i += W) {
        lanes v = get(x + i);
        int most = longest(count + i);
        if ((size_t)most >= room) {
            room = 2 * (size_t)most + 64;
            free(kept);
            kept = aligned_alloc(64, room * sizeof v);
        }
        for (int t = 0; t < most; t++) {
            put(kept + t * W, v);
            v = where(count + i, t, step(b, v), v);
        }
        put(y + i, v);
        lanes a = get(y_a + i);
        put(y_a + i, all(0.0f));
        for (int t = most - 1; t >= 0; t--)
            a = where(count + i, t, a * slope(b, get(kept + t * W)), a);
        put(x_a + i, get(x_a + i) + a);
    }
    free(kept);
}

void
lane_hand_sine(void *const *data, void *const *adjoint, int first, int n)
{
    void *sine = lane_mvec("sinf", false, 1), *cosine = lane_mvec("cosf", false, 1);
    body b = {slow_sine, slow_cosine};
    if (sine && cosine) {
        memcpy(&b.sine, &sine, sizeof sine);
        memcpy(&b.cosine, &cosine, sizeof cosine);
    }
    gradient(&b, data, adjoint, first, n);
}

void
lane_hand_flops(void *const *data, void *const *adjoint, int first, int n)
{
    gradient(&(const body){0}, data, adjoint, first, n);
}

/* -- libraries --------------------------------------------------------------------------------- */

static void *
find(const char *const *names, const char *symbol)
{
    for (; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        void *found = library ? dlsym(library, symbol) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

void *
lane_mvec(const char *name, bool f64, unsigned arguments)
{
    static const char *const names[] = {"libmvec.so.1", NULL};
    char symbol[64];
    snprintf(symbol, sizeof symbol, "_ZGV" MVEC "N%d%s_%s", f64 ? W / 2 : W, arguments == 2 ? "vv" : "v", name);
    return find(names, symbol);
}

void *
lane_sleef(const char *name, bool f64, const char *accuracy)
{
    static const char *const names[] = {"libsleef.so.3", "libsleef.so", NULL};
    char symbol[64];
    snprintf(symbol, sizeof symbol, "Sleef_%s%s%d_%s" SLEEF, name, f64 ? "d" : "", f64 ? W / 2 : W, accuracy);
    return find(names, symbol);
}

#define MAP(type, vector)                                                                                              \
    do {                                                                                                               \
        const type *a = x, *b = y;                                                                                     \
        type *o = out;                                                                                                 \
        vector (*one)(vector), (*two)(vector, vector), u, v;                                                           \
        memcpy(&one, &f, sizeof f);                                                                                    \
        memcpy(&two, &f, sizeof f);                                                                                    \
        for (int i = 0; i < n; i += (int)(sizeof u / sizeof *a)) {                                                     \
            memcpy(&u, a + i, sizeof u);                                                                               \
            if (arguments == 2)                                                                                        \
                memcpy(&v, b + i, sizeof v);                                                                           \
            u = arguments == 2 ? two(u, v) : one(u);                                                                   \
            memcpy(o + i, &u, sizeof u);                                                                               \
        }                                                                                                              \
    } while (0)

void
lane_map(void *f, bool f64, unsigned arguments, int n, const void *x, const void *y, void *out)
{
    if (f64)
        MAP(double, wide);
    else
        MAP(float, lanes);
}
