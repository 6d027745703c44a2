/* The math library's functions as text of the IR. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATH_TEXT_H
#define MATH_TEXT_H

#include <stddef.h>

typedef struct math_text {
    const char *name;
    const unsigned char *text;
    size_t size;
} math_text;

/* ends with a row without a name; it is the only one where the build had no front end */
extern const math_text math_texts[];

#endif
