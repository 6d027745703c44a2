/* Where the elements of an array lie: shape and strides over memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_LAYOUT_H
#define RT_LAYOUT_H

#include "base/base.h"

/* Strides count elements and may be negative or 0; `size` is an element's bytes. */
typedef struct rt_layout {
    uint32_t rank, size;
    int64_t shape[RG_MAX_RANK], stride[RG_MAX_RANK];
} rt_layout;

/* Row-major strides for the shape. false: the number of bytes does not fit an int64_t. */
bool rt_layout_dense(rt_layout *l);
int64_t rt_layout_count(const rt_layout *l); /* elements */
bool rt_layout_is_dense(const rt_layout *l); /* row-major without gaps */
/* The bytes it covers, from element [0]...[0]: [*lo, *hi); empty arrays cover none. */
void rt_layout_span(const rt_layout *l, int64_t *lo, int64_t *hi);
/* Copies all elements from (to) a dense row-major block. */
void rt_layout_read(const rt_layout *l, const void *data, void *dense);
void rt_layout_write(const rt_layout *l, void *data, const void *dense);
/* Sets every element to the `size` bytes at `element`. */
void rt_layout_fill(const rt_layout *l, void *data, const void *element);
/* Whether some byte belongs to elements of both. Exact but for layouts so irregular that the search
 * would take long; then true. */
bool rt_layout_overlap(const rt_layout *a, const void *data_a, const rt_layout *b,
                       const void *data_b);
/* Whether no two of its elements share memory. Exact but for layouts so irregular that the search would take long; then false. */
bool rt_layout_is_apart(const rt_layout *l);

#endif
