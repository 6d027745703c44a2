/* A growing line of JSON. SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADBENCH_LINE_H
#define GRADBENCH_LINE_H

#include <stddef.h>
#include <stdint.h>

/* All zero: empty; the owner frees `text`. */
typedef struct line {
    char *text;
    size_t length, capacity;
} line;

void line_add(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
void line_numbers(line *l, const double *values, size_t count);
void line_rows(line *l, const double *values, size_t rows, size_t columns);
/* -- made inputs ----------------------------------------------------------------------------- */

/* Random numbers of [0, 1), always the same ones; `state` starts at 0. */
double line_next(uint64_t *state);
/* A member of an object, with the comma behind it: rows of random numbers between two limits, or
 * one list of them where rows == 1. */
void line_random(line *l, const char *name, size_t rows, size_t columns, double from, double to,
                 uint64_t *state);
/* Ends an object whose last member has its comma. */
void line_close(line *l);

#endif
