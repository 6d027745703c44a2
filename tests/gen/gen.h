/* Random structured C kernels: every statement kind, damped so that values and derivatives stay of
 * order one. The same seed gives the same program everywhere. SPDX-License-Identifier: Apache-2.0
 *
 * A program is a tree of statements that prints as C. For shrinking, a statement can be switched
 * off, replaced by one of its blocks, or by a simpler form of itself. */
#ifndef GEN_H
#define GEN_H

#include "base/base.h"

typedef struct gen_node gen_node;

typedef struct gen_part {
    const char *head; /* the line before the block */
    gen_node *first, *last;
} gen_part;

enum { GEN_PARTS = 6 };

struct gen_node {
    gen_node *next;
    gen_part parts[GEN_PARTS];
    unsigned count;
    const char *tail;   /* the line after the last block; NULL: none */
    const char *simple; /* a simpler statement in place of it; NULL: none */
    bool off;           /* shrinking: not printed */
    int open; /* shrinking: 1 + number of the block that stands for it; -1: `simple` does */
};

/* What programs may hold; all-zero: everything. */
typedef struct gen_options {
    bool f64_only; /* no float variables */
    bool one_task; /* no kernel-level control */
    bool lanes;    /* and what threads side by side find hard */
    bool unordered; /* ... but nothing that depends on the order of threads */
} gen_options;

typedef struct gen_program {
    arena *arena;
    gen_node *first, *last; /* helpers, then the kernel `generated` */
    vec(gen_node *) nodes;  /* all of them, outer before inner */
    bool mixed;             /* has float besides double */
    bool lanes;
} gen_program;

void gen_make(gen_program *p, uint64_t seed, const gen_options *options);
void gen_print_program(const gen_program *p, str *out);
void gen_free(gen_program *p);

/* splitmix64 */
static inline uint64_t
gen_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#endif
