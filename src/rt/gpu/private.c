/* Sums over all threads of a task, formed in f64 cells of a few blocks each. SPDX-License-Identifier: Apache-2.0
 *
 * Warps add to the cells of their block's row, atomically, so that few wait for each other at a cell. When the task has
 * ended all warps of the grid add the rows up, an element each, and leave the cells 0. */
#include "rt/gpu/inside.h"

enum { LINE = 128 };

static uint32_t
row_count(void)
{
    return rt_grid_blocks() < RT_GPU_ROWS ? rt_grid_blocks() : RT_GPU_ROWS;
}

RT_IN_PLACE double *
rt_gpu_private(rt_gpu_thread *thread, int64_t cells)
{
    uint64_t rows = row_count();
    if (cells <= 0 || cells > RT_GPU_ROW_MAX)
        return NULL;
    if (cells > thread->row) {
        int64_t row = (cells + 15) & ~(int64_t)15;
        uint64_t bytes = rows * (uint64_t)row * sizeof(double);
        double *made = rt_gpu_heap_take(thread, bytes, LINE);
        if (!made)
            return NULL;
        rt_gpu_grid_zero((char *)made, bytes);
        thread->wrote = 2;
        thread->privates = made;
        thread->row = row;
    }
    return thread->privates + (int64_t)(rt_grid_block() % rows) * thread->row;
}

/* -- f16, in f64 ------------------------------------------------------------------------------------------------- */

static double
power_of_two(int32_t exponent)
{
    union { uint64_t bits; double value; } u = {.bits = (uint64_t)(exponent + 1023) << 52};
    return u.value;
}

static double
half_value(uint16_t bits)
{
    int32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double v = exponent == 31 ? (mantissa ? __builtin_nan("") : __builtin_inf())
               : exponent     ? (1024 + mantissa) * power_of_two(exponent - 25)
                              : mantissa * power_of_two(-24);
    return bits >> 15 ? -v : v;
}

static uint16_t
half_bits(double v)
{
    union { double value; uint64_t bits; } u = {.value = v};
    uint16_t sign = u.bits >> 63 ? 0x8000 : 0;
    double a = v < 0 ? -v : v, whole = power_of_two(52);
    if (v != v)
        return sign | 0x7e00;
    if (a >= 65520)
        return sign | 0x7c00;
    int32_t exponent = (int32_t)(u.bits >> 52 & 2047) - 1023, last = exponent < -14 ? -24 : exponent - 10;
    double digits = (a * power_of_two(-last) + whole) - whole; /* rounded to even */
    return (uint16_t)(sign | ((last + 24) * 1024 + (int32_t)digits));
}

/* -- adding up --------------------------------------------------------------------------------------------------- */

static double
sum_of_lanes(double mine)
{
    union { double value; uint64_t bits; } u = {.value = mine};
    for (uint32_t n = RT_WARP / 2; n; n /= 2) {
        union { double value; uint64_t bits; } other = {.bits = rt_warp_take64(u.bits, rt_warp_lane() ^ n)};
        u.value += other.value;
    }
    return u.value;
}

/* by one lane */
static void
add_to_element(void *array, int64_t i, double sum, int32_t bytes)
{
    if (sum == 0) /* most often nobody used the cells; and -0 stays what it is */
        return;
    if (bytes == 8)
        ((double *)array)[i] += sum;
    else if (bytes == 4)
        ((float *)array)[i] = (float)((double)((float *)array)[i] + sum);
    else
        ((uint16_t *)array)[i] = half_bits(half_value(((uint16_t *)array)[i]) + sum);
}

static RT_SLOW void
add_rows(double *privates, int64_t row, int64_t first, int64_t n, void *array, int32_t bytes)
{
    uint32_t rows = row_count();
    for (int64_t i = rt_grid_warp(); i < n; i += rt_grid_warps()) {
        double sum = 0;
        for (uint32_t k = rt_warp_lane(); k < rows; k += RT_WARP) {
            double *cell = privates + (int64_t)k * row + first + i;
            sum += *cell;
            *cell = 0;
        }
        sum = sum_of_lanes(sum);
        if (rt_warp_lane() == 0)
            add_to_element(array, i, sum, bytes);
    }
}

RT_IN_PLACE void
rt_gpu_private_add(rt_gpu_thread *thread, int64_t first, int64_t n, void *array, int32_t bytes, int32_t apart)
{
    if (!apart && thread->wrote == 2)
        rt_gpu_barrier(thread, 0, RT_SETTLES_NOTHING);
    add_rows(thread->privates, thread->row, first, n, array, bytes);
    thread->wrote = 2;
}
