/* Code for device "vulkan" made by hand: entries that do one thing each with the cells of a launch's record. SPDX-License-Identifier:
 * Apache-2.0 */
#ifndef TESTS_SPIRV_BY_HAND_H
#define TESTS_SPIRV_BY_HAND_H

#include "codegen/spirv/code.h"

/* R is the record, cells of a u32; Y the primal of the first argument, of which each invocation of a task has an element. Lane 0
 * of the first workgroup does what is not for all. What writes R compares conditions, as segments do. */
typedef enum hand_code {
    HAND_SET,   /* R[a] = c */
    HAND_ADD,   /* R[a] += c */
    HAND_REACH, /* R[a] = R[b] >= R[c] */
    HAND_ODD,   /* R[a] = R[b] & 1 */
    HAND_MIX,   /* all: Y[i] = Y[i] * 3 + R[b] + c */
    HAND_FAIL,  /* fault, place a, needed c */
    HAND_PRINT, /* place a, value R[b] */
    HAND_WAIT,  /* until the host wants launches to end */
} hand_code;

typedef struct hand_entry {
    hand_code code;
    uint32_t a, b, c;
} hand_entry;

/* In the arena; words and entries of `code` are set. */
void hand_make(const hand_entry *entries, uint32_t n, arena *in, spirv_code *code);
/* The bytes that a program of device "vulkan" is loaded from. With a tape it takes arrays, too, of lengths that nobody knows. */
void hand_write(const spirv_code *code, str *bytes);

#endif
