/* What machines are like: one table for each that kernels are made for. A module says which one it is made for; whoever
 * decides by the machine asks the module's table. SPDX-License-Identifier: Apache-2.0
 *
 * Times are in simple operations of one lane, sizes in bytes. */
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include "base/base.h"

typedef struct target {
    const char *name;
    /* How threads run side by side: as the threads of a warp, so many, or (warp 0) in the lanes of vectors of so many
     * bytes. In a warp every value with lanes is one number in each thread, and each thread accesses memory by itself. */
    uint32_t warp, vector;
    bool segments; /* its blocks cannot wait for each other: a launch is one grid after the other (segments/segments.h) */
    const char *features; /* of the processor, that code for such vectors uses (target/features.def), with blanks between them */
    bool scalable; /* vectors of more than 16 bytes are SVE's, of the very length that the table says */

    /* the tape: pages of its workers, the header of each, a frame at most, and what a frame's size is a multiple of */
    uint32_t page, page_header, frame_max, frame_align;
    uint32_t own_tape; /* a thread of a warp at most, where it has frames of its own and no page (analysis/pages.h) */

    /* what there is room for */
    uint32_t registers;    /* values that a lane can hold at once */
    uint32_t code;         /* simple operations that a loop may grow to; 0: any number */
    uint32_t local_arrays; /* a local array of a group of threads */

    /* recording against computing again (plan) */
    double frame, byte; /* pushing and popping a frame, whatever it holds; writing and reading one byte of it */
    int32_t recording;  /* how many times what it costs in a cache that recording costs */
    int32_t recording_iterations; /* the same of the iterations of a loop that have not become blocks */
    int32_t copying;    /* how many times what recording costs that a copy of an array costs, kept and brought back */
    int32_t load;
    bool pairs;         /* a sine costs little beside the cosine, whatever the type */

    /* what a function of the math library counts for: its time in lanes, its code in loops that grow */
    int32_t function;
    int32_t trips;      /* of a loop whose count nobody knows, when its group is weighed */

    /* ifs in lanes run both arms without asking whether any lane takes part, up to so many operations */
    uint32_t unasked;
    uint32_t unasked_root;   /* a quotient or root of f32 there; 0: is asked for */
    uint32_t unasked_access; /* an access of each lane's own, under a mask; 0: is asked for */

    /* loops of known length that become straight code before differentiation */
    uint32_t unroll;       /* iterations at most */
    uint32_t unroll_ops;   /* operations at most, of all iterations */
    uint32_t unroll_elements; /* the same, where local arrays may become registers */
    uint32_t unroll_inside; /* iterations that a loop inside counts for, whose length is known then; 0: there may be none */
    uint32_t unroll_rounds; /* how often that is tried, from the innermost loops outwards */

    bool slow_alone;       /* a thread by itself is slow: serial loops over arrays become tasks */
    bool adds_freely;      /* f32 and f64 are added to memory atomically without waiting */
} target;

/* CPUs with vectors of so many bytes: 16, 32 or 64. */
const target *target_cpu(uint32_t vector);
const target *target_host(void); /* this machine's CPU */
/* A CPU as LLVM names it, "aarch64-linux-gnu" and "a64fx"; triple NULL: of this machine's architecture, cpu NULL: any. Of a name
 * that is not known, what all of its architecture have. */
const target *target_named(const char *triple, const char *cpu);
/* The table of that name; NULL: there is none. */
const target *target_find(const char *name);
/* Elements of so many bytes in a vector. */
uint32_t target_lanes(const target *t, uint32_t bytes);
extern const target target_nvidia, target_amd;
extern const target target_segments; /* the same, whose launches are in segments: what device segments plays */

#endif
