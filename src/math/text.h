/* The math library's functions as text of the IR. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATH_TEXT_H
#define MATH_TEXT_H

#include <stddef.h>

/* size bytes, then a zero; empty where the build had no front end */
extern const unsigned char math_text[];
extern const size_t math_text_size;

#endif
