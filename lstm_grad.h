/* Kernel `lstm`, compiled ahead of time: link with the object file, librgrt.a, OpenMP
 * (-fopenmp) and libm.
 *
 * Arrays are row-major; a field of an array of structs points at the field of the
 * first one. Adjoints are row-major without gaps and may be NULL; gradients add into
 * them. Neither they nor arrays that are written overlap anything else. f16 values are
 * given as their bits. Functions return 0, or 1: an assertion failed, 2: the tape exceeds
 * its budget, 3: out of memory. */
#ifndef RG_KERNEL_LSTM_GRAD_H
#define RG_KERNEL_LSTM_GRAD_H

#ifndef RGRT_INTERFACE
#define RGRT_INTERFACE
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __cplusplus
extern "C" {
#endif
struct rt_arg {
    uint64_t bits;
    void *plane[8];
    int64_t extent[8];
    int64_t stride[8];
};
struct rt_cpu;
struct rt_launch;
struct rt_report;
struct rt_cpu *rt_cpu_default(void);
void rt_cpu_set_threads(struct rt_cpu *cpu, uint32_t num_threads); /* 0: OpenMP's choice */
void rt_cpu_set_budget(struct rt_cpu *cpu, uint64_t tape_bytes);
int rt_cpu_launch(struct rt_cpu *cpu, int32_t (*kernel)(const struct rt_arg *, struct rt_launch *),
                  const struct rt_arg *args, struct rt_report *report);
#ifdef __cplusplus
}
#endif
#endif

/* The kernel itself. */
extern
#ifdef __cplusplus
"C"
#endif
int32_t rgk_lstm_forward(const struct rt_arg *args, struct rt_launch *launch);
static inline int
lstm_forward(int32_t n, int32_t length, const float *x, const float *w, float *y)
{
    struct rt_arg args[5];
    memset(args, 0, sizeof(args));
    memcpy(&args[0].bits, &n, 4);
    memcpy(&args[1].bits, &length, 4);
    args[2].plane[0] = (void *)(uintptr_t)x;
    args[2].extent[1] = (int64_t)(n);
    args[2].stride[1] = 1;
    args[2].extent[0] = (int64_t)(length);
    args[2].stride[0] = args[2].stride[1] * args[2].extent[1];
    args[3].plane[0] = (void *)(uintptr_t)w;
    args[3].extent[0] = INT64_C(12);
    args[3].stride[0] = 1;
    args[4].plane[0] = (void *)(uintptr_t)y;
    args[4].extent[0] = (int64_t)(n);
    args[4].stride[0] = 1;
    return rt_cpu_launch(rt_cpu_default(), rgk_lstm_forward, args, 0);
}

/* The kernel and its reverse sweep in one launch. */
extern
#ifdef __cplusplus
"C"
#endif
int32_t rgk_lstm_forward_vjp(const struct rt_arg *args, struct rt_launch *launch);
static inline int
lstm_forward_vjp(int32_t n, int32_t length, const float *x, float *x_adj, const float *w, float *w_adj, float *y, float *y_adj)
{
    struct rt_arg args[5];
    memset(args, 0, sizeof(args));
    memcpy(&args[0].bits, &n, 4);
    memcpy(&args[1].bits, &length, 4);
    args[2].plane[0] = (void *)(uintptr_t)x;
    args[2].extent[1] = (int64_t)(n);
    args[2].stride[1] = 1;
    args[2].extent[0] = (int64_t)(length);
    args[2].stride[0] = args[2].stride[1] * args[2].extent[1];
    args[2].plane[1] = x_adj;
    args[3].plane[0] = (void *)(uintptr_t)w;
    args[3].extent[0] = INT64_C(12);
    args[3].stride[0] = 1;
    args[3].plane[1] = w_adj;
    args[4].plane[0] = (void *)(uintptr_t)y;
    args[4].extent[0] = (int64_t)(n);
    args[4].stride[0] = 1;
    args[4].plane[1] = y_adj;
    return rt_cpu_launch(rt_cpu_default(), rgk_lstm_forward_vjp, args, 0);
}

/* The reverse sweep after an earlier forward launch. */
extern
#ifdef __cplusplus
"C"
#endif
int32_t rgk_lstm_vjp(const struct rt_arg *args, struct rt_launch *launch);
static inline int
lstm_vjp(int32_t n, int32_t length, const float *x, float *x_adj, const float *w, float *w_adj, float *y, float *y_adj)
{
    struct rt_arg args[5];
    memset(args, 0, sizeof(args));
    memcpy(&args[0].bits, &n, 4);
    memcpy(&args[1].bits, &length, 4);
    args[2].plane[0] = (void *)(uintptr_t)x;
    args[2].extent[1] = (int64_t)(n);
    args[2].stride[1] = 1;
    args[2].extent[0] = (int64_t)(length);
    args[2].stride[0] = args[2].stride[1] * args[2].extent[1];
    args[2].plane[1] = x_adj;
    args[3].plane[0] = (void *)(uintptr_t)w;
    args[3].extent[0] = INT64_C(12);
    args[3].stride[0] = 1;
    args[3].plane[1] = w_adj;
    args[4].plane[0] = (void *)(uintptr_t)y;
    args[4].extent[0] = (int64_t)(n);
    args[4].stride[0] = 1;
    args[4].plane[1] = y_adj;
    return rt_cpu_launch(rt_cpu_default(), rgk_lstm_vjp, args, 0);
}

#endif
