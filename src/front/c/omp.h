/* OpenMP: what the files of directives share. SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_OMP_H
#define FRONT_C_OMP_H

#include "front/c/loop.h"

/* -- atomic.c: a statement that changes one value, which atomic ones, reductions and critical sections consist of
 * -------- */
typedef struct atomic_form {
    const node *target;
    rg_rmw op;
    const node *operand; /* NULL: 1 */
    bool negative;       /* the operand is subtracted */
    bool inverse;        /* floats: divided by the operand */
    bool tried;          /* CAS: by what none of the others does, `target = target by operand`, until nobody came between */
    rg_op by;
    bool reversed;       /* ... `operand by target` */
    const node *compare; /* CAS: what the target must equal */
    const node *result;  /* the variable that receives whether it did; NULL: none */
    const node *capture; /* the variable that receives the old or new value; NULL: none */
    bool after;          /* the new one */
    bool unequal;        /* CAS: the old one, if the target was another */
} atomic_form;
bool fc_atomic_form_read(const node *n, atomic_form *f);
/* `x += v` and its like, `if (x < v) x = v` and what else stands for a minimum or maximum; not CAS. */
bool fc_update_form_read(const node *n, atomic_form *f);
rg_value fc_combine(gen *g, rg_rmw op, rg_value old, rg_value v);
/* The update as an atomic one of an element p. */
void fc_atomic_update(gen *g, const node *n, const atomic_form *f, const place *p);

/* -- private.c: variables of which a construct has copies
 * ---------------------------------------------------------------- */
typedef struct rebound {
    decl *variable;
    object *object;
    pointer_var *pointer;
    bool numbered;
} rebound;

typedef list(rebound) rebounds;

/* What is bound anew, and bound to what was before. A reference of C++ is bound to the object's part that it referred to. */
void fc_rebind(gen *g, decl *d, object *to, rebounds *undo);
/* ... to a variable of the construct's own */
void fc_bind_own(gen *g, decl *d, rebounds *undo);
/* Where a variable is, or what a reference refers to. Without an object: it is not known. */
place fc_storage(const decl *d);
/* Its type, or that of what it refers to. */
const ctype *fc_storage_type(const decl *d);
void fc_restore(rebounds *undo);
/* The variable that a clause names, if the body mentions it; NULL: it does not. */
decl *fc_named_in(const node *body, const char *name);
const omp_name *fc_name_of(const omp_names *names, const decl *d); /* NULL: it is not there */
void fc_add_name(gen *g, omp_names *names, omp_name name);
/* says so where a clause names what is no variable */
bool fc_check_names(gen *g, const omp *d);
bool fc_is_declared_in(const node *tree, const decl *d);
/* The directive with the copies that target and task imply. */
const omp *fc_with_copies(gen *g, const node *n);
/* Private copies, in the region just opened. In serial code what is lastprivate is the variable itself. */
void fc_make_private(gen *g, const omp *d, const node *body, bool serial, rebounds *undo);
/* lastprivate: when the kernel begins, before a parallel loop, at the end of an iteration, behind the loop */
void fc_last_hoist(gen *g, const node *n);
void fc_last_begin(gen *g, const omp *d, const node *body);
void fc_last_keep(gen *g, const omp *d, const node *body, rg_value is_last);
void fc_last_end(gen *g, const omp *d, const node *body);

/* -- reduction.c
 * --------------------------------------------------------------------------------------------------------- */
/* before a parallel loop, in it, at the end of an iteration */
void fc_reductions_begin(gen *g, const omp *d, const node *body);
void fc_make_reductions(gen *g, const omp *d, const node *body, rebounds *undo);
void fc_reductions_end(gen *g, const omp *d, const node *body);
/* In serial code a scalar is reduced in a copy, if it is not only updated; combines the copies with what they are copies of. */
void fc_make_partials(gen *g, const omp *d, const node *body, rebounds *undo);
void fc_combine_partials(gen *g, const omp *d, const node *body, const rebounds *undo);
/* Whether all that a loop does with a kernel-level scalar are atomic statements, which no reduction stands for. */
bool fc_is_shared_atomic(const decl *fn, const decl *d);

/* -- team.c
 * -------------------------------------------------------------------------------------------------------------- */
/* Whether a variable belongs to each thread of the region, or of those around the function. */
bool fc_is_threads_own(gen *g, const decl *d);
/* Whether what a statement does with a scalar are updates by one operation, whose value nobody uses. */
bool fc_is_only_updated(const node *body, const decl *d, rg_rmw *op);
/* The directive of a region's loop with what follows for the variables of the region's thread; NULL after errors. */
const omp *fc_team_loop(gen *g, const node *n, const omp *d);

/* -- scratch.c
 * ---------------------------------------------------------------------------------------- */
/* The loop that uses memory which a region declares, if nothing else there does; NULL: there is no such loop. */
const node *fc_scratch_loop(const node *region, const decl *d);
/* what calloc gave for it: each thread of the loop begins with zeros */
void fc_scratch_cleared(gen *g, const place *p, const node *call);
void fc_scratch_clear(gen *g, const node *loop);

#endif
