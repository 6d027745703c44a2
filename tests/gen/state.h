/* The generator's state, shared by its files. SPDX-License-Identifier: Apache-2.0 */
#ifndef GEN_STATE_H
#define GEN_STATE_H

#include "gen.h"

/* A name in scope. */
typedef struct name {
    const char *text, *type; /* type: as C spells it */
    unsigned length;         /* > 0: a local array */
    bool is_float, fixed;    /* fixed: must not be assigned (loop counters, fuel, constants) */
    bool outside;            /* fixed only while a parallel loop is open */
} name;

typedef struct helper {
    const char *text;
    const char *first; /* type of the first parameter; the second is a double */
    bool out; /* last parameter is a pointer to a double that it writes */
} helper;

typedef struct gen {
    gen_program *program;
    uint64_t random;
    vec(name) names; /* innermost last */
    vec(helper) helpers;
    gen_part *into;  /* where statements go */
    unsigned depth;  /* of blocks inside the thread */
    unsigned loops;  /* loops around this place inside the function */
    unsigned extra;  /* loops that may stand around a helper's calls */
    int budget;      /* statements left */
    unsigned serial; /* for unique names */
    bool in_switch;  /* a break here leaves a switch */
    bool in_thread;  /* inside a parallel loop: index i exists */
    bool in_helper;
    const char *result; /* in a helper: NULL or type returned */
    const char *own[3]; /* arrays that this thread may store to, at [i] */
    const char *far[3]; /* arrays that may be read anywhere */
    bool f64_only;
    /* with gen_options.lanes */
    bool lanes, ordered;  /* ordered: the order of threads may decide values */
    bool parallel;        /* inside a loop whose threads may update what they share */
    bool planar;          /* ... with several threads for an i */
    bool backwards;       /* threads own element n - 1 - i */
    unsigned tickets, stored_once;
} gen;

const char *fmt(gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
unsigned below(gen *g, unsigned n);
bool chance(gen *g, unsigned percent);

/* expressions */
const char *float_expr(gen *g, unsigned depth); /* bounded by about 3 if variables are by 2 */
const char *float_leaf(gen *g);
const char *damped(gen *g); /* bounded by 1 */
const char *int_expr(gen *g, unsigned depth);
const char *condition(gen *g, unsigned depth);
const char *index_below(gen *g, unsigned length);
const char *float_type(gen *g);
const char *int_type(gen *g);
name *pick(gen *g, bool is_float, bool assignable, bool array); /* NULL: none in scope */
const name *declare(gen *g, const char *type, bool is_float, unsigned length, bool fixed);

/* lanes.c */
const char *lane_load(gen *g);
const char *lane_int(gen *g);
void lane_statement(gen *g);
const char *lane_loop(gen *g); /* the head of a loop over i */
void lane_grid_task(gen *g);
void lane_reduction_task(gen *g);
const char *lane_parameters(gen *g);

/* tasks */
void deal(gen *g);
void begin_threads(gen *g);
void end_threads(gen *g);
void thread_body(gen *g, int budget);

/* statements */
gen_node *add(gen *g, const char *head);
void block(gen *g, unsigned count); /* statements into g->into */
void store_own(gen *g);             /* to an element that the thread owns */
typedef struct scope {
    gen_part *into;
    size_t names;
} scope;
/* Opens a new block of the node below this line, or its first one (NULL); close_part returns to
 * where g stood. */
scope open_part(gen *g, gen_node *node, const char *head);
void close_part(gen *g, scope s);
/* A statement with one block, which is open. */
gen_node *compound(gen *g, const char *head, const char *tail, scope *s);

#endif
