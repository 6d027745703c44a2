/* From the tree to the builder: what the generating files share. SPDX-License-Identifier:
 * Apache-2.0
 *
 *   object   a piece of storage: a variable, a kernel's array, a constant table. It is kept as
 * leaves: one builder variable, buffer or table for each scalar field (struct of arrays). place a
 * part of an object: leaves from `leaf` on, under the indices so far. A place of scalar type has
 * one leaf and one index for each of its axes. value    what an expression yields: a scalar, a
 * struct's leaves, or a pointer, which is a place: of the element it points to. Moving it changes
 * its last index. */
#ifndef FRONT_C_GEN_H
#define FRONT_C_GEN_H

#include "front/c/link.h"
#include "front/c/parse.h"

enum { MAX_AXES = RG_MAX_RANK };

/* Characters that snprintf made are not known: who has them formatted may not read them. Shared by copies of a leaf. */
typedef struct text_use {
    bool formatted, read;
} text_use;

typedef struct leaf {
    const char *name;
    rg_dtype dtype;
    uint32_t rank;
    int64_t dim[MAX_AXES]; /* -1: not known now (buffers) */
    uint32_t offset;       /* bytes, of the first element */
    rg_var var;            /* OBJECT_LOCAL */
    text_use *use;         /* of characters; else NULL */
    rg_value value;        /* OBJECT_BUFFER: the buffer; OBJECT_VALUE: a scalar or a table */
    bool held;             /* OBJECT_BUFFER: a value, in a struct whose other fields are arrays */
} leaf;

typedef enum object_kind {
    OBJECT_LOCAL,
    OBJECT_BUFFER,
    OBJECT_VALUE,
    OBJECT_NULL,    /* what a null pointer points to */
    OBJECT_FUNCTION /* what a pointer to `function` points to */
} object_kind;

/* What a parallel loop does with an array of which it may only update elements, by one operation. */
typedef struct loop_updates {
    uint32_t loop; /* its number; of another one: nothing so far */
    bool some;     /* updates; false: it reads the array */
    bool declared; /* by a reduction clause */
    rg_rmw op;
} loop_updates;

/* Loops each of whose turns allocates a part of an array: they count its first axes, from `first` on. */
typedef struct turns {
    uint32_t count;
    decl *counter[MAX_AXES];
    rg_value first[MAX_AXES];
} turns;

typedef struct object {
    uint32_t number; /* in the order of making */
    object_kind kind;
    const char *name;
    ctype *type;
    bool constant; /* never written while the kernel runs */
    bool shared;   /* made at kernel level: every thread sees it */
    bool allocated; /* by malloc or calloc */
    struct object *local; /* ... as this array of each thread; itself: where no thread is entered so far */
    const turns *turns; /* ... part by part, none of which a pointer leaves; NULL: at once */
    bool team;     /* made in a parallel region: each of its threads has one */
    const node *rows; /* a directive whose threads have one each: the last axes are theirs; NULL: there is one */
    bool read_only; /* an array of the kernel in a function whose derivative is taken */
    loop_updates updated;
    uint32_t nleaves;
    leaf *leaves;
    struct slot **pointers; /* those in it; NULL: there are none, or they cannot be followed */
    const decl *param;             /* an array that the caller sees */
    decl *function;
    const char *text; /* of a string */
    /* what a pointer variable with several possible arrays points to now */
    struct pointer_var *choice;
    rg_value selector;
} object;

typedef struct place {
    object *object;
    uint32_t leaf, pointer;
    ctype *type;
    uint32_t n;
    bool walks;               /* moved along an axis behind the first: it may have left its row */
    bool fixed;               /* a field: its neighbours are not reached by moving the last index */
    bool refused;             /* stands for what was refused: no more is said of what is made of it */
    rg_value null;            /* of pointers: whether it points nowhere; NULL: it does not */
    rg_value index[MAX_AXES]; /* NULL: 0 */
} place;

typedef struct value {
    ctype *type;
    rg_value scalar;
    rg_value *leaves; /* structs: scalars and local arrays */
    place *pointers;  /* ... and pointers in them; NULL: none, or they cannot be followed. Without an object: unset */
    place at;         /* pointers */
} value;

/* A pointer variable. `fixed`: it has one place for good. Otherwise it points into one of `choices`
 * (the object and leaf count, not the indices), and its indices are variables. */
typedef struct pointer_var {
    uint32_t number; /* among slots and variables; 0: none */
    const char *name;
    bool fixed, shared;
    bool refused; /* its declaration was: nothing more is said */
    bool still;   /* always points to an array's first element: no index variables */
    place at;     /* fixed */
    uint32_t nchoices;
    place *choices;
    rg_var selector; /* with more than one */
    rg_var null;     /* NULL: it is never null */
    rg_var index[MAX_AXES];
} pointer_var;

/* Slot or variable `slot` was seen to point into that array, or another thing (chosen.c). */
typedef struct lesson {
    uint32_t slot;
    int32_t object;
    uint32_t leaf, axes;
} lesson;

typedef struct lessons {
    vec(lesson) at;
    bool more; /* the kernel is to be made again */
    bool last; /* it will not be */
} lessons;

/* Pointers that an object holds (slot.c). */
typedef enum slot_kind {
    SLOT_STORED, /* assigned by the kernel */
    SLOT_FIXED,  /* each element is a target for good */
    SLOT_ROWS    /* ... is a row of the target, under its subscripts */
} slot_kind;

typedef struct slot_target {
    place at;         /* without an object: not assigned so far */
    const node *init; /* of a constant: what it is initialised with, which is looked at when it is read */
    bool nulls, read; /* it was null somewhere; was read, so that what is known of it must stay */
    object *seen;     /* what the parallel loop of that number sees, of a pointer that changes between arrays */
    uint32_t seen_in;
} slot_target;

typedef struct slot {
    uint32_t number; /* in the order of making */
    const char *name;
    ctype *type; /* the pointer's */
    slot_kind kind;
    bool shared, refused;
    bool unknown; /* a constant with too many elements to tell them apart */
    bool assigned; /* a launch's: the kernel lets it point elsewhere */
    bool returned; /* what a function returns */
    bool variable; /* a pointer variable that no pointer_var could be */
    uint32_t rank;
    int64_t dim[MAX_AXES];
    uint32_t count; /* of targets: one for each element, or one for all */
    slot_target *target;
    object *null, *index[MAX_AXES]; /* SLOT_STORED: of each element */
    const ir_region *made_in;       /* ... where it was made */
    pointer_var *many; /* it changes between these arrays, some of which may not be there yet (chosen.c); NULL: it does not */
    lesson *learned;   /* ... which were seen before */
    uint32_t nlearned;
    object *selector;  /* ... of each element; NULL: there are too many */
    /* One statement assigns all elements, and where they point follows from their subscript: formula[] of `subscript`. */
    const node *filler; /* NULL: none assigned so far */
    rg_value subscript, formula[MAX_AXES]; /* no subscript: not so */
    bool formula_read;
    rg_value first, first_index[MAX_AXES]; /* assigned on its own before: the element of this subscript, a constant */
    bool first_read;
} slot;

/* The calls that lead to a function's body. */
typedef struct call_path {
    const struct call_path *outer; /* NULL: the kernel */
    decl *fn;
    const node *call;
    uint64_t key;
} call_path;

/* A function being generated. */
typedef struct frame {
    struct frame *outer;
    decl *fn;
    const call_path *path;
    rg_label exit;  /* return leaves this; 0: the only return is the last statement */
    object *result; /* NULL: void, or a pointer that one return gives */
    place pointer;  /* ... that pointer */
    bool pointer_set;
    bool in_thread; /* in a parallel loop of this function */
    const node *region; /* the parallel region around, in this function */
} frame;

/* what a constant's object was before the function that is being generated made its own */
typedef struct object_undo {
    decl *variable;
    object *before;
} object_undo;

/* a function with derivatives of its own, for arguments of one shape (instance.h) */
typedef struct own_instance {
    const decl *fn;
    const struct argument *args;
    rg_fn made;
} own_instance;

/* The threads of a parallel loop: how many there may be on each axis, or which one runs. */
typedef struct threads {
    uint32_t rank;
    rg_value at[RG_MAX_RANK];
} threads;

/* memory of a region's thread that calloc gave, and that one loop uses (scratch.c) */
typedef struct cleared {
    place memory;
    const node *call;
} cleared;

typedef struct gen {
    unit *unit;
    struct project *project;
    ir_module *module;
    arena *arena;
    rg_builder *b;
    uint32_t objects, slots; /* made so far */
    map buffers;      /* those of them that are, by number */
    lessons *lessons; /* NULL: there is one attempt */
    bool in_thread;   /* inside a parallel loop */
    uint32_t loop;    /* the number of that */
    threads thread;   /* its numbers there, from 0 on */
    list(cleared) cleared;
    list(struct object *) in_threads; /* memory that is a local array of each thread */
    bool atomic_read; /* inside an `omp atomic read` */
    bool dead;        /* what follows in this block is never reached: a test that is known jumped over it */
    rg_place at;      /* what is generated now: errors without a place are there */
    object *null;     /* made when the first null pointer is seen */
    frame *frame;
    struct census *census; /* of the kernel; NULL: of a library's functions */
    rg_label on_break, on_continue;
    map reported;             /* errors said, by number and place */
    map sized;                /* arrays of the kernel whose sizes the run knows, by place and way of calls */
    map told;                 /* fields and objects of which this kernel's errors were said, by number */
    map hoisted;              /* functions and constants that the beginning of the kernel (scope) has seen */
    list(object_undo) constants;
    list(own_instance) own;
    unsigned regions;         /* parallel regions around, in callers too */
    bool team_loop;           /* in a loop that the threads of a team share */
    bool numbers;             /* something asks for the number of its thread */
    bool library;             /* functions are made, and calls of slow ones stay calls */
    uint32_t instances;       /* functions made so far */
    uint32_t recursions;      /* calls of functions inside of themselves, in this kernel */
    uint32_t scope;           /* number of the function that is being made; 0: the kernel */
} gen;

/* -- gen.c
 * ------------------------------------------------------------------------------------------ */
void fc_fail(gen *g, front_error error, rg_place at, ...);
/* Whether it is the first time that this kernel asks: one cause is one error, however often it is met. */
bool fc_is_news(gen *g, front_error error, const void *what);
/* The same with another remedy, once for a name. */
void fc_fail_name(gen *g, front_error error, rg_place at, const char *name, const char *more, const char *remedy);
void fc_at_node(gen *g, const node *n);
rg_value fc_int_value(gen *g, rg_dtype d, int64_t v);
rg_value fc_zero_value(gen *g, rg_dtype d);
bool fc_is_float_dtype(rg_dtype d);
bool fc_is_signed_dtype(rg_dtype d);
unsigned fc_dtype_bits(rg_dtype d);
rg_value fc_convert(gen *g, rg_dtype to, rg_value v);
/* C's integer promotion and usual arithmetic conversions on element types */
rg_dtype fc_promoted(rg_dtype d);
rg_dtype fc_common_dtype(rg_dtype x, rg_dtype y);

/* -- object.c
 * --------------------------------------------------------------------------------------- */
uint32_t fc_type_leaves(const ctype *t);
int64_t fc_type_size(const ctype *t); /* in bytes; -1: not known */
/* NULL if t can be storage; else what stands in the way, with the error that says so. */
const char *fc_type_problem(const ctype *t, front_error *error);
/* The same for a variable or parameter: pointers may also lead to void and to functions. */
const char *fc_variable_problem(const ctype *t, front_error *error);
/* An object's leaves with names, axes and offsets, without storage. `outer` axes go before. */
object *fc_object_new(gen *g, object_kind kind, const char *name, ctype *t, uint32_t outer,
                      const int64_t *dims);
object *fc_object_local(gen *g, const char *name, ctype *t);   /* variables, declared now */
object *fc_object_temp(gen *g, const char *name, ctype *t);    /* arrays are temporary buffers */
/* The same with extents: of `outer` axes before those of the type, then of these; one for each of the threads, if there
 * are any. */
object *fc_object_sized(gen *g, const char *name, ctype *t, uint32_t outer, const rg_value *extent, const threads *each);
object *fc_object_of_value(gen *g, const char *name, value v); /* read-only */
place fc_place_of(object *o);
rg_value fc_load_leaf(gen *g, const place *p, uint32_t which);
value fc_load(gen *g, const place *p);
/* scalars of a leaf under n indices; the place of one of them below p */
uint32_t fc_elements_below(const leaf *l, uint32_t n);
place fc_place_below(gen *g, const leaf *l, const place *p, uint32_t flat);
/* Whether each thread of the team, between which the loop around is shared, has an object of its own. */
bool fc_is_teams(const gen *g, const object *o);
/* says so if p must not be written here; leaf `which` of it then may be */
bool fc_may_write(gen *g, const place *p, const node *n);
/* says so if storing a whole struct at p would lose fields of the caller's */
bool fc_hides_fields(gen *g, const place *p, const node *n);
void fc_store_leaf(gen *g, const place *p, uint32_t which, rg_value v);
void fc_store(gen *g, const place *p, const value *v, const node *n);
void fc_store_scalar(gen *g, const place *p, rg_value v, const node *n);
place fc_place_member(const place *p, uint32_t field_number);
place fc_place_element(gen *g, const place *p, rg_value index);          /* of an array place */
place fc_place_move(gen *g, const place *p, rg_value by, const node *n); /* pointers */
rg_value fc_index_add(gen *g, rg_value x, rg_value y);                   /* either may be NULL: 0 */
/* Under p's indices, 0 behind them, and the thread's own: to build an access of a buffer with now. How many these are. */
uint32_t fc_whole_indices(gen *g, const place *p, uint32_t rank, rg_value *out);

/* -- expr.c
 * ----------------------------------------------------------------------------------------- */
value fc_expr(gen *g, const node *n);
rg_value fc_scalar(gen *g, const node *n);
rg_value fc_condition(gen *g, const node *n, bool negate);
place fc_lvalue(gen *g, const node *n);
place fc_nowhere(gen *g, ctype *t); /* stands for what was refused; t may be NULL */
value fc_nothing(gen *g, ctype *t); /* the same as a value */
void fc_effect(gen *g, const node *n);
rg_value fc_arithmetic(gen *g, rg_op op, rg_value x, rg_value y);
value fc_scalar_value(ctype *t, rg_value v);

/* -- pointer.c
 * -------------------------------------------------------------------------------------- */
place fc_pointer(gen *g, const node *n);
/* Whether a pointer is not null: a bool. */
rg_value fc_pointer_is_set(gen *g, const place *p);
/* The object that a pointer leads to, to be read or written. */
place fc_pointed(gen *g, const place *p, const node *n);
void fc_pointer_declare(gen *g, decl *d, const node *init, const place *given);
/* Several parameters at once, which the function may swap. */
void fc_pointers_bind(gen *g, decl *fn, const value *args);
/* A copy of a pointer variable for one thread; first: what it points to before, or NULL. */
void fc_pointer_private(gen *g, decl *d, const node *body, const place *first);
/* -- slot.c
 * -------------------------------------------------------------------------------------- */
uint32_t fc_type_pointers(const ctype *t); /* slots of a type */
/* Gives an object its slots, under `outer` axes before those of its type. */
void fc_slots_new(gen *g, object *o, slot_kind kind, uint32_t outer, const int64_t *dims);
/* ... with variables; extent: of the outer axes and those of the type, where the run knows them; else NULL */
void fc_slots_stored(gen *g, object *o, uint32_t outer, const rg_value *extent);
void fc_slots_of_value(gen *g, object *o, const place *pointers);
/* A slot of the launch that the kernel assigns: to be stored from now on. extent: of its axes */
void fc_slot_open(gen *g, slot *s, const rg_value *extent);
/* p: the place of a pointer */
place fc_slot_read(gen *g, const place *p, const node *n);
/* slot_store.c; to NULL: null; declared: where the object is */
void fc_slot_assign(gen *g, const place *p, const place *to, const node *n, bool declared);
/* rows.c: notes that the assignment n lets p point to `to`; false: after it was read by the formula of another one */
bool fc_rows_assigned(gen *g, slot *s, const place *p, const place *to, const node *n);
/* where the element p points; false: its indices are kept */
bool fc_rows_read(gen *g, slot *s, const place *p, place *to, rg_place where);
/* of a whole struct */
place *fc_slots_load(gen *g, const place *p);
void fc_slots_store(gen *g, const place *p, const place *pointers, const node *n);
/* what an initialiser leaves out is null */
void fc_slots_default(gen *g, object *o, const node *init);
/* The k-th target, of a constant too. */
slot_target *fc_slot_target(gen *g, slot *s, uint32_t k);
/* A constant's: element `number` is initialised with init; NULL: nothing. */
void fc_slot_initialise(slot *s, uint64_t number, const node *init);
/* How many functions a pointer in an array may be, of which `number` chooses; 0: it is another one. */
uint32_t fc_slot_functions(gen *g, const place *p, rg_value *number, decl ***out);
/* says why a field cannot be mentioned; false: it can */
bool fc_field_refused(gen *g, const field *f, const node *n);

/* -- pointer.c
 * -------------------------------------------------------------------------------------- */
/* assigns to the pointer variable or field that n names */
void fc_pointer_store(gen *g, const node *n, const place *to);
place fc_pointer_read(gen *g, const decl *d, const node *n);
/* Which element under `axes` subscripts of its array it points to, row by row. */
rg_value fc_element_number(gen *g, const place *p, uint32_t axes);
rg_value fc_pointer_compare(gen *g, const node *n);
rg_value fc_pointer_difference(gen *g, const node *n);
/* Before a parallel loop: pointer variables of the loop become fixed choices; `undo` takes it back.
 */
typedef struct pointer_undo {
    decl *variable;
    pointer_var *before;
} pointer_undo;
typedef list(pointer_undo) pointer_undos;
void fc_pointers_enter_thread(gen *g, const node *body, pointer_undos *undo);
void fc_pointers_leave_thread(pointer_undos *undo);

/* -- init.c, constant.c
 * ----------------------------------------------------------------------------- */
void fc_init_object(gen *g, object *o, const node *init);
object *fc_constant_object(gen *g, decl *d);
/* Says why a variable of static storage is no constant, if it is none. */
bool fc_variable_refused(gen *g, decl *d, bool constant);
/* The function of the files that may write a variable of static storage; NULL: none does. */
const char *fc_writer(gen *g, decl *d);
bool fc_constant_bits(gen *g, const node *n, rg_dtype to, uint64_t *bits);
bool fc_constant_initialiser(gen *g, const ctype *t, const node *init);

/* -- call.c, math.c
 * --------------------------------------------------------------------------------- */
value fc_call(gen *g, const node *n);
/* Calls of the C library. false: it is none that is known. */
bool fc_math_call(gen *g, const node *n, value *out);
/* divisor.c: a number that n is a multiple of, whatever the run brings; 0: n is 0. */
int64_t fc_known_divisor(const node *n);
int64_t fc_common_divisor(int64_t x, int64_t y);
void fc_clear(gen *g, const place *p, const node *n); /* zeros all of the array that p points into */
/* of the array of `from` what there is room for in that of `to`, as realloc does */
void fc_copy_memory(gen *g, const place *to, const place *from, const node *n);
/* print.c: assert, printf and its like; what does not return, as a failing assert. false: it is none of them */
bool fc_report_call(gen *g, const node *n, value *out);
bool fc_ending_call(gen *g, const node *n);
/* snprintf and sprintf, whose result nobody asks for. false: it is none of them */
bool fc_format_call(gen *g, const node *n);
bool fc_is_plain_string(const node *n);
place fc_string_place(gen *g, const node *n); /* the first character of a literal */
/* memcpy and its like (memory.c); false: it is none of them */
bool fc_memory_call(gen *g, const node *n, value *out);
void fc_bind_scalar(gen *g, decl *d, value v);
/* evaluates a call's arguments; false after errors */
bool fc_arguments(gen *g, decl *fn, const node *n, value *args);
/* the function's statements, its parameters being bound: f->result then holds what it returns */
void fc_function_body(gen *g, decl *fn, frame *f);

/* -- recursion.c
 * ------------------------------------------------------------------------- */
typedef struct bindings bindings;
/* Before a function is inlined, which may be being inlined already; NULL: too deep, which is said. */
bindings *fc_recursion_enter(gen *g, decl *fn, const node *call);
void fc_recursion_leave(bindings *b);

/* -- derivative.c, instance.c
 * ------------------------------------------------------------------------- */
/* rg_grad, rg_vjp, rg_jvp; false: the call is none of them */
bool fc_derivative_call(gen *g, const node *n, value *out);
/* a call of a function with derivatives of its own */
value fc_own_call(gen *g, const node *n);

/* -- functions.c
 * ------------------------------------------------------------------------------------- */
bool fc_is_slow(const gen *g, const decl *fn);
value fc_slow_call(gen *g, const node *n);
void fc_library(gen *g);

/* -- stmt.c, loop.c, switch.c
 * ----------------------------------------------------------------------- */
void fc_stmt(gen *g, const node *n);
void fc_declare(gen *g, decl *d);
bool fc_has_open_length(const ctype *t);
void fc_loop_for(gen *g, const node *n);
void fc_loop_while(gen *g, const node *n); /* or do */
void fc_switch_stmt(gen *g, const node *n);

/* Whether n is an integer constant. */
bool fc_is_constant_node(const node *n, int64_t *v);

/* -- sized.c
 * ---------------------------------------------------------------------------------------- */
call_path *fc_call_path(gen *g, const call_path *outer, decl *fn, const node *call);
/* the call of malloc or its like that n is, maybe cast; NULL: it is none */
const node *fc_allocation(const node *n);
bool fc_clears(const node *call); /* calloc */
bool fc_reallocates(const node *call);
bool fc_ends_with_function(const node *call); /* alloca */
/* whether the tree frees what a pointer points to */
bool fc_frees(const node *tree, const decl *d);
/* uses.c: whether a function only reads through this parameter; whether the pointer d may be kept somewhere else, or be
 * another one later */
bool fc_only_reads(const decl *fn, uint32_t number);
bool fc_goes_elsewhere(const node *tree, const decl *d);
/* the array of a declaration, or of a call of malloc, in what is generated now; NULL: none was made */
object *fc_sized_object(const gen *g, const void *what);
/* In a thread of these loops: makes the local arrays that memory is. */
void fc_sized_enter_thread(gen *g, const node *loops);
/* What an allocation gives: the first element of an array, or of the part that this turn of loops has. */
place fc_sized_place(gen *g, object *o);
/* why it was not: this, or the number of threads that have one each is not known */
front_error fc_sized_error(const gen *g, const void *what, front_error otherwise);

/* -- omp.c, atomic.c, reduction.c, omp_call.c
 * -------------------------------------------------------------------------------- */
void fc_omp_stmt(gen *g, const node *n);
void fc_atomic_stmt(gen *g, const node *n);
/* A statement of a thread that updates an element of an array as a reduction does. false: it is none. */
bool fc_array_update(gen *g, const node *n);
/* A thread reads the array: says so if it is being reduced. */
void fc_array_read(gen *g, object *o);
/* Whether an expression asks for the number of a thread, and whether it is made of such. */
bool fc_is_number_call(const node *n);
bool fc_has_number(const gen *g, const node *n);
/* Functions of omp.h; false: it is none of them. */
bool fc_omp_call(gen *g, const node *n, value *out);
/* Whether a kernel-level variable must be memory that all threads see. */
bool fc_needs_temp(const decl *fn, const decl *d);

/* -- param.c
 * ------------------------------------------------------------------------------ */
/* Parameters of a kernel, then the extents that they have; false after errors. */
bool fc_declare_parameters(gen *g, decl *fn);
/* In the body: those that it changes become variables. */
void fc_open_parameters(gen *g, decl *fn);

/* -- kernel.c
 * ------------------------------------------------------------------------------ */
/* makes the constants (and, not in_thread, the shared arrays) that a function's body mentions */
void fc_hoist(gen *g, decl *fn, bool in_thread);

#endif
