/* Kernels that are C for Retrograd and CUDA for nvcc, from one text: what differs has a name here. A KERNEL holds one loop
 * over THREADS; what runs several in turn calls them by RUN. SPDX-License-Identifier: Apache-2.0 */
#ifndef UNSEEN_BOTH_H
#define UNSEEN_BOTH_H

#include <math.h>
#include <string.h>

#ifdef __cplusplus
#include "../hand/hand.cuh"

#define restrict __restrict__
#define KERNEL static __global__ void
#define SEQUENCE static void
#define FUNCTION static __device__ __forceinline__
#define TABLE static __device__ const
#define THREADS(i, first, end) if (int i = (first) + thread_number(); i < (end))
#define THREADS_2(j, first_j, end_j, i, first_i, end_i) \
    if (int j = (first_j) + (int)blockIdx.y, i = (first_i) + thread_number(); j < (end_j) && i < (end_i))
#define ADD(at, value) atomicAdd(&(at), value)
#define RUN(kernel, rows, columns, arguments) HAND_LAUNCH_2(kernel, blocks_for(columns), rows, BLOCK, arguments)
#else
#define KERNEL void
#define SEQUENCE void
#define FUNCTION static inline
#define TABLE static const
#define THREADS(i, first, end) _Pragma("omp parallel for") for (int i = (first); i < (end); i++)
#define THREADS_2(j, first_j, end_j, i, first_i, end_i) \
    _Pragma("omp parallel for collapse(2)") for (int j = (first_j); j < (end_j); j++) for (int i = (first_i); i < (end_i); i++)
#define ADD(at, value) _Pragma("omp atomic") at += value
#define RUN(kernel, rows, columns, arguments) kernel arguments
#endif

#endif
