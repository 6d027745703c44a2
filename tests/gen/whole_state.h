/* The state of the generator of whole programs, shared by its files. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GEN_WHOLE_STATE_H
#define TESTS_GEN_WHOLE_STATE_H

#include "whole.h"

/* A variable in scope. */
typedef struct whole_name {
    const char *text;
    unsigned length; /* > 0: a local array of floats */
    bool real;       /* else an int, never negative */
    bool fixed;      /* is not assigned: counters, parameters */
    bool thread;     /* belongs to a thread */
    bool busy;       /* is being reduced: not to be read */
} whole_name;

typedef enum whole_shape { VECTOR, SMALL, BINS, GRID } whole_shape;

/* What a task does with an array. */
typedef enum whole_role {
    NONE,
    READ,   /* any element */
    OWN,    /* the thread's own element alone, also written */
    STORED, /* ... written and not read */
    ADD,    /* atomic += and -= to any element */
    MUL,
    MAX,
    MIN,
    EACH, /* a small one: every element has a role of its own */
} whole_role;

enum { SMALL_LENGTH = 4 };

typedef struct whole_array {
    const char *name;
    const char *access; /* printf format for an element: "x[%s]", "pt[%s].pos" */
    whole_shape shape;
    bool fixed;  /* const */
    bool hidden; /* its names of the moment are others */
    bool plain;  /* a parameter that can be passed as a pointer */
    int class;   /* arrays that a pointer may point to share one with it, and their role */
    whole_role role, each[SMALL_LENGTH];
} whole_array;

enum { WHOLE_ARRAYS = 40, WHOLE_NAMES = 400, WHOLE_FUNCTIONS = 8 };

/* The functions whose derivatives are taken, by their parameters. */
typedef enum whole_signature { SCALARS, ROW, DATA, MAP, HELPER, STEP } whole_signature;

typedef struct whole_function {
    const char *text;
    whole_signature signature;
} whole_function;

typedef struct whole_gen {
    whole_program *program;
    str *out;
    uint64_t random;
    unsigned serial, indent, depth;
    const char *real, *stored; /* the kernel's types of floats: of variables, of arrays */
    whole_name names[WHOLE_NAMES];
    unsigned name_count;
    whole_array arrays[WHOLE_ARRAYS];
    unsigned array_count;
    int classes;
    whole_function functions[WHOLE_FUNCTIONS];
    unsigned function_count;
    bool in_function, in_thread, in_grid;
    bool contest; /* the task has an atomic min, max or mul */
    const char *own;
    unsigned loops;  /* serial loops around this place that may be left */
    unsigned tasks;  /* still to come */
    unsigned budget; /* statements of a thread still to come */
    unsigned captures;
    const char *reduced[3], *reduce_by[3];
    bool reduced_real[3];
    unsigned reductions;
    bool returns, may_return, has_list, has_points, has_setup, setup_has_array, has_grid, has_bins;
    int64_t n, m, bins;
} whole_gen;

/* -- text */
const char *put(whole_gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *either(whole_gen *g, const char *kernel, const char *oracle);
void line(whole_gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void statement_begin(whole_gen *g);
void statement_end(whole_gen *g);
void open_block(whole_gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void close_block(whole_gen *g);
unsigned below(whole_gen *g, unsigned n);
bool chance(whole_gen *g, unsigned percent);
const char *fresh(whole_gen *g, const char *prefix);

/* -- names and expressions */
const char *real_type(whole_gen *g);
const char *stored_type(whole_gen *g);
const char *math(whole_gen *g, const char *name);
void declare(whole_gen *g, const char *text, bool real, bool fixed, unsigned length);
whole_name *pick_name(whole_gen *g, bool real, bool assignable); /* NULL: none */
whole_name *pick_local_array(whole_gen *g);
const char *number(whole_gen *g);
const char *real_expr(whole_gen *g, unsigned depth);
const char *int_expr(whole_gen *g);
const char *index_expr(whole_gen *g, const whole_array *a);
const char *condition(whole_gen *g);
const char *trips(whole_gen *g); /* 0 to 4 */
/* The element that an expression may read, or NULL. */
const char *load(whole_gen *g);
const char *element(whole_gen *g, const whole_array *a, const char *index);

/* -- functions */
void make_functions(whole_gen *g);
const char *call_helper(whole_gen *g, unsigned depth); /* NULL: there is none */
bool derivative_statement(whole_gen *g);
const whole_function *pick_function(whole_gen *g, whole_signature s);

/* -- tasks */
void use(whole_gen *g, const char *value); /* stores or adds it where the task may */
void task(whole_gen *g);
void sum_task(whole_gen *g);
void compaction(whole_gen *g);

#endif
