/* A float function of one argument over many arguments at once. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_MATH_SCAN_H
#define TESTS_MATH_SCAN_H

#include <stdbool.h>
#include <stdint.h>

/* Compiled code, in lanes, that compares the float function `name` with the double one on successive floats. */
typedef struct scan scan;
scan *scan_open(const char *name); /* NULL: this build cannot; `name` is the double function's */
void scan_close(scan *s);          /* takes NULL */
/* the largest error, in units in the last place, on the count floats whose bits begin with `first` */
double scan_block(scan *s, uint32_t first, uint32_t count);

#endif
