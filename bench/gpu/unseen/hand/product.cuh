// Sums over samples of products of what each has in two rows: the adjoints of a layer's weights. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../hand/hand.cuh"

// A block of BLOCK threads makes all of it for samples of its own: 16 groups of rows, 8 of columns.
template <int ROWS, int COLUMNS> struct product {
    static constexpr int rows = ROWS / 16, columns = COLUMNS / 8;
    float of[rows][columns], sum[rows]; // sum: of the rows alone
    int row, column;

    __device__ __forceinline__ product(int samples, const float *__restrict__ left, const float *__restrict__ right)
        : of{}, sum{}, row((int)threadIdx.x / 8 * rows), column((int)threadIdx.x % 8 * columns)
    {
        int share = (samples + (int)gridDim.x - 1) / (int)gridDim.x, first = (int)blockIdx.x * share;
        int end = first + share < samples ? first + share : samples;
        const float2 *a = (const float2 *)(left + row), *b = (const float2 *)(right + column);
        for (int s = first; s < end; s++) {
            float2 l[rows / 2], r[columns / 2];
            #pragma unroll
            for (int i = 0; i < rows / 2; i++)
                l[i] = a[(size_t)s * (ROWS / 2) + i];
            #pragma unroll
            for (int j = 0; j < columns / 2; j++)
                r[j] = b[(size_t)s * (COLUMNS / 2) + j];
            #pragma unroll
            for (int i = 0; i < rows; i++) {
                float v = i % 2 ? l[i / 2].y : l[i / 2].x;
                sum[i] += v;
                #pragma unroll
                for (int j = 0; j < columns; j++)
                    of[i][j] += v * (j % 2 ? r[j / 2].y : r[j / 2].x);
            }
        }
    }
};
