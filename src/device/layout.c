/* Strided arrays: counting, copying, overlap. SPDX-License-Identifier: Apache-2.0 */
#include "device/layout.h"

bool
rt_layout_dense(rt_layout *l)
{
    int64_t n = l->size;
    int64_t step = 1;
    for (uint32_t k = l->rank; k-- > 0;) {
        l->stride[k] = step;
        int64_t extent = l->shape[k] > 0 ? l->shape[k] : 1;
        if (__builtin_mul_overflow(n, extent, &n))
            return false;
        step *= extent;
    }
    return true;
}

int64_t
rt_layout_count(const rt_layout *l)
{
    int64_t n = 1;
    for (uint32_t k = 0; k < l->rank; k++)
        n *= l->shape[k];
    return n;
}

bool
rt_layout_is_dense(const rt_layout *l)
{
    int64_t step = 1;
    for (uint32_t k = l->rank; k-- > 0;) {
        if (l->shape[k] != 1 && l->stride[k] != step)
            return rt_layout_count(l) == 0;
        step *= l->shape[k];
    }
    return true;
}

void
rt_layout_span(const rt_layout *l, int64_t *lo, int64_t *hi)
{
    *lo = *hi = 0;
    if (rt_layout_count(l) == 0)
        return;
    for (uint32_t k = 0; k < l->rank; k++) {
        int64_t reach = (l->shape[k] - 1) * l->stride[k] * (int64_t)l->size;
        if (reach < 0)
            *lo += reach;
        else
            *hi += reach;
    }
    *hi += l->size;
}

/* Calls for each row along the last axis: its first element and its number in row-major order. */
typedef void row_fn(const rt_layout *l, char *first, int64_t row, void *user);

static void
each_row(const rt_layout *l, const void *data, row_fn *fn, void *user)
{
    if (rt_layout_count(l) == 0)
        return;
    int64_t index[RG_MAX_RANK] = {0};
    int64_t offset = 0; /* in elements; a pointer may only be formed inside the array */
    for (int64_t row = 0;; row++) {
        fn(l, (char *)(uintptr_t)data + offset * (int64_t)l->size, row, user);
        uint32_t k =
            l->rank > 1 ? l->rank - 1 : 0; /* axes before the last count like an odometer */
        for (; k > 0; k--) {
            offset += l->stride[k - 1];
            if (++index[k - 1] < l->shape[k - 1])
                break;
            offset -= l->stride[k - 1] * l->shape[k - 1];
            index[k - 1] = 0;
        }
        if (k == 0)
            return;
    }
}

static int64_t
row_length(const rt_layout *l)
{
    return l->rank ? l->shape[l->rank - 1] : 1;
}

static int64_t
row_step(const rt_layout *l)
{
    return l->rank ? l->stride[l->rank - 1] * (int64_t)l->size : (int64_t)l->size;
}

static void
read_row(const rt_layout *l, char *first, int64_t row, void *user)
{
    int64_t n = row_length(l), step = row_step(l);
    char *to = (char *)user + row * n * (int64_t)l->size;
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * (int64_t)l->size, first + i * step, l->size);
}

static void
write_row(const rt_layout *l, char *first, int64_t row, void *user)
{
    int64_t n = row_length(l), step = row_step(l);
    const char *from = (const char *)user + row * n * (int64_t)l->size;
    for (int64_t i = 0; i < n; i++)
        memcpy(first + i * step, from + i * (int64_t)l->size, l->size);
}

static void
fill_row(const rt_layout *l, char *first, int64_t row, void *user)
{
    int64_t n = row_length(l), step = row_step(l);
    for (int64_t i = 0; i < n; i++)
        memcpy(first + i * step, user, l->size);
}

void
rt_layout_read(const rt_layout *l, const void *data, void *dense)
{
    if (rt_layout_is_dense(l))
        memcpy(dense, data, (size_t)rt_layout_count(l) * l->size);
    else
        each_row(l, data, read_row, dense);
}

void
rt_layout_write(const rt_layout *l, void *data, const void *dense)
{
    if (rt_layout_is_dense(l))
        memcpy(data, dense, (size_t)rt_layout_count(l) * l->size);
    else
        each_row(l, data, write_row, (void *)(uintptr_t)dense);
}

/* from copies that are there, in pieces that stay in a cache */
static void
fill_dense(char *data, size_t size, size_t bytes, const void *element)
{
    const size_t piece = 1 << 14;
    memcpy(data, element, size);
    for (size_t done = size; done < bytes;) {
        size_t more = done < piece ? done : piece;
        more = more < bytes - done ? more : bytes - done;
        memcpy(data + done, data, more);
        done += more;
    }
}

void
rt_layout_fill(const rt_layout *l, void *data, const void *element)
{
    size_t bytes = (size_t)rt_layout_count(l) * l->size;
    if (bytes && rt_layout_is_dense(l)) {
        fill_dense(data, l->size, bytes, element);
        return;
    }
    each_row(l, data, fill_row, (void *)(uintptr_t)element);
}

/* -- overlap --------------------------------------------------------------------------------------
 * Elements i of a and j of b share a byte iff  -size_b < A + sum i_k*s_k - B - sum j_k*t_k < size_a
 * fails to miss: that is, iff d + sum of (stride * q) lies in an open interval around 0 for some
 * integers q within bounds. Axes of equal stride merge into one (i - j takes every value between
 * its bounds), which leaves few axes; they are tried from the widest stride down, and what the
 * narrower ones can still reach bounds each choice. */

enum { TERMS = 2 * RG_MAX_RANK, TRIES = 4096 };

typedef struct term {
    int64_t stride, lo, hi; /* stride > 0 in bytes, lo <= q <= hi */
} term;

typedef struct search {
    term at[TERMS];
    uint32_t n;
    int64_t below, above; /* the target: -below < sum < above */
    int tries;
} search;

static void
add_term(search *s, int64_t stride, int64_t lo, int64_t hi)
{
    if (stride == 0 || (lo == 0 && hi == 0)) /* extents of 1 have q = 0 alone */
        return;
    if (stride < 0) {
        int64_t t = -lo;
        lo = -hi;
        hi = t;
        stride = -stride;
    }
    uint32_t k = 0;
    while (k < s->n && s->at[k].stride > stride)
        k++;
    if (k < s->n && s->at[k].stride == stride) {
        s->at[k].lo += lo;
        s->at[k].hi += hi;
        return;
    }
    memmove(&s->at[k + 1], &s->at[k], (s->n - k) * sizeof(term));
    s->at[k] = (term){stride, lo, hi};
    s->n++;
}

static int64_t
floor_div(int64_t x, int64_t y)
{
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static bool
reaches(search *s, uint32_t k, int64_t sum)
{
    if (++s->tries > TRIES)
        return true;
    if (k == s->n)
        return -s->below < sum && sum < s->above;
    int64_t least = 0, most = 0; /* what the axes after k can add */
    for (uint32_t i = k + 1; i < s->n; i++) {
        least += s->at[i].stride * s->at[i].lo;
        most += s->at[i].stride * s->at[i].hi;
    }
    /* -below < sum + q*stride + most  and  sum + q*stride + least < above */
    const term *t = &s->at[k];
    int64_t from = floor_div(-s->below - most - sum, t->stride) + 1;
    int64_t to = -floor_div(least + sum - s->above, t->stride) - 1;
    from = from > t->lo ? from : t->lo;
    to = to < t->hi ? to : t->hi;
    for (int64_t q = from; q <= to; q++)
        if (reaches(s, k + 1, sum + q * t->stride))
            return true;
    return false;
}

bool
rt_layout_overlap(const rt_layout *a, const void *data_a, const rt_layout *b, const void *data_b)
{
    if (rt_layout_count(a) == 0 || rt_layout_count(b) == 0 || !data_a || !data_b)
        return false;
    int64_t lo_a, hi_a, lo_b, hi_b;
    rt_layout_span(a, &lo_a, &hi_a);
    rt_layout_span(b, &lo_b, &hi_b);
    int64_t distance = (int64_t)((intptr_t)data_a - (intptr_t)data_b);
    if (distance + hi_a <= lo_b || distance + lo_a >= hi_b)
        return false;
    search s = {.below = a->size, .above = b->size};
    for (uint32_t k = 0; k < a->rank; k++)
        add_term(&s, a->stride[k] * (int64_t)a->size, 0, a->shape[k] - 1);
    for (uint32_t k = 0; k < b->rank; k++)
        add_term(&s, b->stride[k] * (int64_t)b->size, -(b->shape[k] - 1), 0);
    return reaches(&s, 0, distance);
}

/* Two elements i and j share memory iff sum of (stride * (i_k - j_k)) is 0. One of them comes first: the difference of the first axis
 * along which they differ is positive then, and those of the axes before it are 0. */
bool
rt_layout_is_apart(const rt_layout *l)
{
    if (rt_layout_count(l) == 0)
        return true;
    for (uint32_t k = 0; k < l->rank; k++) {
        search s = {.below = 1, .above = 1};
        if (l->shape[k] > 1 && l->stride[k] == 0)
            return false;
        if (l->shape[k] == 1)
            continue;
        add_term(&s, l->stride[k], 1, l->shape[k] - 1);
        for (uint32_t i = k + 1; i < l->rank; i++)
            add_term(&s, l->stride[i], -(l->shape[i] - 1), l->shape[i] - 1);
        if (reaches(&s, 0, 0))
            return false;
    }
    return true;
}
