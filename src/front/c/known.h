/* Integers that are known when the kernel begins. SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_KNOWN_H
#define FRONT_C_KNOWN_H

#include "front/c/loop.h"

/* A for loop around what is looked at. */
typedef struct loop_around {
    const struct loop_around *outer;
    const node *loop;
    const call_path *path;
} loop_around;

/* where an expression stands */
typedef struct known_at {
    gen *g;
    const call_path *path;
    const loop_around *loops;
} known_at;

/* The argument that a parameter of a function stands for; the way of calls is then p->outer. NULL: none. */
const node *fc_argument_of(const call_path *p, const decl *d);
/* An expression's value, of its type; NULL: it is not known. */
rg_value fc_known(const known_at *k, const node *n);
/* An i64 that it is never above (most), or below; its value, if that is known. */
rg_value fc_known_bound(const known_at *k, const node *n, bool most);
/* The same from above for n / size, which leaves no rest. */
rg_value fc_known_quotient(const known_at *k, const node *n, int64_t size);

/* Where memory of a size that the run knows is declared: in the threads of these loops, or at kernel level (NULL). */
typedef struct sized_at {
    known_at at;
    uint32_t turns;    /* of the innermost loops around, each of which allocates a part */
    const node *loops; /* a directive */
    known_at loops_at;
} sized_at;

/* when the kernel begins (sized.c): makes the array, if its size is known then */
void fc_sized_declaration(const sized_at *s, const decl *d);
/* variable: that the pointer is assigned to, or NULL */
void fc_sized_allocation(const sized_at *s, const node *call, ctype *elem, const decl *variable);

#endif
