/* Functions that stay functions: a C function for given shapes of arguments, as an IR function of scalars
 * and local arrays. SPDX-License-Identifier: Apache-2.0
 *
 * A pointer argument becomes a local array of the row that it points into, by value; what a parameter that is
 * not const points to is a result too. An array of the kernel whose extent is not known is passed itself. */
#ifndef FRONT_C_INSTANCE_H
#define FRONT_C_INSTANCE_H

#include "front/c/gen.h"

typedef struct argument {
    decl *param;
    value given;
    bool array, single; /* a pointer; a value, or a pointer to an object that has no neighbours */
    bool constant;      /* the function promises not to write it */
    bool floats;        /* it has adjoints and tangents: some leaf is a float */
    bool loads_here;    /* arrays of unknown extent: `count` elements from the pointer on */
    bool buffer;        /* ... or the array itself, which the function may only read */
    int64_t count;      /* elements of the row; -1: not known */
    int64_t start;      /* the pointer's place in it; -1: the run knows */
    ctype *whole;       /* the type that is passed */
    uint32_t nleaves;
    rg_type *leaf;
} argument;

/* What a call passes and gets: leaf values of all arguments (then a start for each array whose is not known
 * now); of what the function returns, then of the arrays that it may write. */
typedef list(rg_value) rg_values;

enum { PASS_BUFFER = -2 }; /* a wanted number of elements: as many as there are */

/* false after errors. `rows`: wanted numbers of elements, -1: none, by argument; NULL: no buffer is passed */
bool fc_classify(gen *g, decl *fn, const node *call, const int64_t *rows, argument *args);
/* arguments of a function that has no pointers */
void fc_by_value(gen *g, decl *fn, argument *args);
void fc_pass(gen *g, decl *fn, argument *args, rg_values *out);
rg_fn fc_instance(gen *g, decl *fn, argument *args);
/* the leaves of what fn returns; 0: nothing */
uint32_t fc_result_leaves(const decl *fn);
/* stores the arrays that a call may have written; `at` moves behind them */
void fc_write_back(gen *g, decl *fn, argument *args, const rg_value *results, uint32_t *at, const node *n);
/* the leaves of one argument: those of an adjoint or a tangent count if they are floats */
static inline bool
fc_leaf_floats(const argument *a, uint32_t leaf)
{
    return fc_is_float_dtype(a->leaf[leaf].dtype);
}
/* the type of a leaf's adjoints and tangents */
rg_type fc_adjoint_leaf(rg_type t);
/* whether calls of `fn` can stay calls; says why not, at `where` */
bool fc_can_stay(gen *g, const decl *fn, rg_place where);

/* Around building a function while another one is being generated. */
typedef struct aside {
    frame *frame;
    rg_label on_break, on_continue;
    bool in_thread;
    uint32_t scope;
    size_t constants;
} aside;
rg_fn fc_function_open(gen *g, aside *a, const decl *fn);
void fc_function_close(gen *g, aside *a, const rg_values *results);
/* binds a parameter to values, of which it makes variables where it may write them; the object it made */
object *fc_bind_argument(gen *g, decl *d, const argument *a, const rg_value *leaves, rg_value start, bool writes);
/* declares the IR parameters of one argument, or of adjoints of one */
void fc_leaf_params(gen *g, const argument *a, rg_values *out);
void fc_leaf_adjoint_params(gen *g, const argument *a, rg_values *out);
void fc_object_leaves(gen *g, const object *o, rg_values *out);

#endif
