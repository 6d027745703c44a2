/* The C program as the front end sees it: a small tree that import*.c makes of libclang's cursors,
 * one function at a time, so that a callee can be walked once per call and analyses stay simple.
 * Everything lives in the compilation's arena. SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_AST_H
#define FRONT_C_AST_H

#include "base/base.h"
#include "retrograd/build.h"

/* Growing arrays whose memory is the arena's: list(int) l = {0}; list_push(a, &l, 3); l.at[0] */
#define list(type)                                                                                 \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, cap;                                                                             \
    }
#define list_push(a, l, value)                                                                     \
    ((l)->at = fc_grow((a), (l)->at, &(l)->cap, (l)->n + 1, sizeof(*(l)->at)),                     \
     (l)->at[(l)->n++] = (value))
#define list_pop(l)  ((l)->at[--(l)->n])
#define list_last(l) ((l)->at[(l)->n - 1])
void *fc_grow(arena *a, void *at, size_t *cap, size_t need, size_t size);
/* printf into the arena */
const char *fc_format(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *fc_formatv(arena *a, const char *format, va_list args);

typedef struct ctype ctype;
typedef struct record record;
typedef struct node node;
typedef struct decl decl;
typedef struct omp omp;

typedef enum ctype_kind {
    TYPE_VOID,
    TYPE_SCALAR, /* arithmetic, bool, enum */
    TYPE_POINTER,
    TYPE_ARRAY,
    TYPE_STRUCT,
    TYPE_FUNCTION,
    TYPE_BAD /* a type that kernels cannot have: spelled in `name` */
} ctype_kind;

struct ctype {
    ctype_kind kind;
    rg_dtype dtype; /* TYPE_SCALAR */
    bool constant;  /* const-qualified */
    bool is_volatile;
    bool const_elements; /* of a parameter written as an array of constants */
    ctype *elem;      /* of pointers and arrays */
    int64_t length;   /* of arrays; -1: only the run knows */
    record *rec;      /* TYPE_STRUCT */
    const char *name; /* as written */
    unsigned problem; /* TYPE_BAD: the error that says so */
};

typedef struct field {
    const char *name;
    ctype *type;
    uint32_t leaf;    /* number of its first leaf among the struct's */
    uint32_t pointer; /* number of its first pointer */
    uint32_t offset;  /* bytes */
    unsigned hidden;  /* a field that kernels cannot have: no leaf, but an error where it is mentioned */
} field;

/* Whether the program has constructors for a struct, or for a part of it. */
typedef enum made_by { MADE_PLAINLY, MADE_IN_PARTS, MADE_BY_CONSTRUCTORS } made_by;

struct record {
    const char *name; /* as C has it: "struct s" */
    rg_place place;
    struct unit *unit;  /* the file's that declares it */
    record *same;       /* the one of another file that it was found to be; NULL: none so far */
    uint32_t nfields;
    field *fields;
    uint32_t leaves;   /* scalar fields, nested ones included; a field array counts once */
    uint32_t pointers; /* pointer fields, nested ones included; an array of them counts once */
    uint32_t size;     /* bytes */
    made_by made;
    struct decl *lambda; /* whose type it is; NULL: of none */
};

typedef enum node_kind {
    /* expressions */
    E_BAD,    /* bits: error number; text: what it is */
    E_INT,    /* bits */
    E_FLOAT,  /* number */
    E_STRING, /* text: without quotes, escapes resolved; bits: its length, which counts zeros */
    E_REF,    /* decl */
    E_UNARY,  /* op: rg_op NEG or NOT (bitwise) on kid[0] */
    E_PLUS,   /* +kid[0] */
    E_LNOT,   /* !kid[0] */
    E_INC,    /* kid[0]; bits: INC_* */
    E_ADDR,   /* &kid[0] */
    E_DEREF,  /* *kid[0] */
    E_BINARY, /* op: rg_op; kid[0], kid[1]; comparisons yield int */
    E_AND,    /* && */
    E_OR,     /* || */
    E_COMMA,
    E_ASSIGN,     /* kid[0] = kid[1] */
    E_COMPOUND,   /* kid[0] op= kid[1]: op */
    E_COND,       /* kid[0] ? kid[1] : kid[2] */
    E_ELVIS,      /* kid[0] ?: kid[1] */
    E_CALL,       /* decl, or kid[0]: a pointer to the function; list: arguments */
    E_SUBSCRIPT,  /* kid[0]: pointer, kid[1]: integer */
    E_MEMBER,     /* kid[0]: a struct (-> has become * and .), bits: number of the field */
    E_CAST,       /* kid[0] → type */
    E_DECAY,      /* array kid[0] → pointer to its first element */
    E_INIT,       /* list: initialisers as written */
    E_DESIGNATED, /* list: E_MEMBER (bits) or index expressions; kid[0]: the value */
    E_LITERAL,    /* compound literal: decl */
    E_STATEMENTS, /* ({ ... }): kid[0]: a block, whose last statement is the value */
    /* statements; an expression is one too */
    S_BAD,
    S_BLOCK,   /* list */
    S_DECL,    /* list of E_REF: variables in order */
    S_IF,      /* kid[0]: condition, kid[1], kid[2] (or NULL) */
    S_FOR,     /* kid[0]: init, kid[1]: condition, kid[2]: step (each or NULL), kid[3]: body */
    S_WHILE,   /* kid[0]: condition, kid[1]: body */
    S_DO,      /* kid[0]: condition, kid[1]: body */
    S_SWITCH,  /* kid[0]: value, kid[1]: body */
    S_CASE,    /* kid[0]: value, kid[1]: range's end or NULL, kid[2]: statement */
    S_DEFAULT, /* kid[2]: statement */
    S_BREAK,
    S_CONTINUE,
    S_RETURN, /* kid[0]: value or NULL */
    S_NULL,
    S_OMP /* directive; kid[0]: the statement it governs */
} node_kind;

enum { INC_MINUS = 1, INC_PREFIX = 2 };

struct node {
    node_kind kind;
    rg_op op;
    ctype *type; /* NULL for statements */
    rg_place place;
    node *kid[4];
    node **list;
    uint32_t count;
    decl *decl;
    omp *directive;
    uint64_t bits;
    double number;
    const char *text;
};

typedef enum decl_kind { DECL_VAR, DECL_PARAM, DECL_FUNCTION } decl_kind;

struct decl {
    decl_kind kind;
    const char *name;
    rg_place place;
    struct unit *unit; /* the file whose declaration it is */
    bool shared;       /* external linkage: other files mean it by its name */
    bool system;       /* declared by a header of the system, or one of ours */
    bool looked_up, linked; /* link.c: its definition is known; the files behind its tree are */
    decl *definition;  /* in another file; NULL: none */
    ctype *type; /* of a parameter: arrays adjusted to pointers; of a function: its result */

    /* variables and parameters */
    node *init;
    node **extents; /* of a parameter written as an array: outermost first, NULL where empty */
    uint32_t nextents;
    bool global;  /* file scope */
    bool lasting; /* static storage */
    bool writer_known;
    const char *writer; /* of a variable of static storage: who may write it (writer.c) */
    bool elsewhere; /* declared extern and not defined in the file */
    bool reference; /* of C++: a pointer, or a function that returns one, which is followed where it is named */
    bool written; /* assigned to, incremented, or one of its parts is */
    bool address_taken;
    bool numbered;         /* made of a thread's number */
    bool refused;          /* its declaration was: no more is said where it is used */
    signed char reads;     /* pointers that are parameters: only read through: 0 not known, 1 no, 2 yes */
    signed char stays;     /* ... and whether a copy of it outlives the call: 0 not known, 1 maybe, 2 no */
    bool moved;            /* pointers: ++, -- or += somewhere */
    list(node *) assigned; /* pointers: what is assigned to them after their initialisation */

    /* functions */
    decl **params;
    uint32_t nparams;
    node *body;
    bool has_body, external, variadic, noreturn;
    bool active;          /* being inlined: recursion */
    signed char parallel; /* holds a parallel loop, in callees too: 0 not known, 1 no, 2 yes */
    signed char sizes;    /* has arrays whose sizes the run knows: 0 not known, 1 no, 2 yes */
    signed char numbers;  /* asks for the number of its thread: 0 not known, 1 no, 2 yes */
    signed char jumps;    /* returns before its end: 0 not known, 1 no, 2 yes */
    void *cursor;         /* import: where the body is */
    const struct captures *captures; /* import: of a lambda */
    decl *vjp, *jvp;      /* derivatives that the user gave it; NULL: none */

    /* where its storage is at the moment (gen.h) */
    struct object *object;
    struct object *temp; /* the buffer that a kernel-level array is, made when the kernel began */
    struct pointer_var *pointer;
};

/* -- directives -----------------------------------------------------------------------------------
 */
typedef enum omp_kind {
    OMP_PARALLEL_FOR,
    OMP_FOR,      /* the loops of a region, whose threads share them */
    OMP_PARALLEL, /* a region, which has a team */
    OMP_BLOCK,    /* what one thread does, with variables of its own: single, sections, task, target, simd, ... */
    OMP_CRITICAL,
    OMP_ATOMIC_UPDATE,
    OMP_ATOMIC_CAPTURE, /* also of a comparison */
    OMP_ATOMIC_COMPARE,
    OMP_ATOMIC_READ,
    OMP_ATOMIC_WRITE,
    OMP_OTHER
} omp_kind;

typedef struct omp_name {
    const char *name;
    rg_rmw op;    /* reductions */
    bool logical; /* ... by && or || */
    bool first;   /* firstprivate */
    struct object *last; /* lastprivate: where the last iteration leaves it, made when the kernel begins */
} omp_name;

typedef struct omp_names {
    uint32_t count;
    omp_name *at;
} omp_names;

struct omp {
    omp_kind kind;
    rg_place place;
    uint32_t collapse; /* 1 without the clause */
    bool simd;         /* with `simd`: the counters hold their last values behind the loops */
    bool target, task; /* the scalars that it writes are copies of its own, but those `kept` by a clause */
    omp_names reductions, privates, lasts, kept;
    unsigned error; /* a clause or directive outside of what is compiled: number, and its text */
    const char *what;
};

/* The field of that name or the anonymous one that has it; nfields: there is none. */
uint32_t fc_field_named(const record *r, const char *name);

/* Whether two structs are one type: those of two files are if their names and fields agree. */
bool fc_same_record(record *x, record *y);
/* Whether pointers to these lead to the same; void is any of them. */
bool fc_same_elements(const ctype *x, const ctype *y);
/* of arrays: whether their elements are */
bool fc_is_deep_constant(const ctype *t);
/* without the blocks around a statement that stands there alone */
const node *fc_only_statement(const node *n);

/* -- helpers over the tree (ast.c)
 * ----------------------------------------------------------------- */
/* The variable whose storage an lvalue is a part of; NULL when it is reached through a pointer. */
decl *fc_lvalue_root(const node *lvalue);
typedef bool node_visit(const node *n, void *user);
/* Every node, outer first; initialisers of declared variables and the bodies of lambdas included. false from `each` stops. */
const node *fc_lambda_body(const node *n); /* of the lambda that n calls, or whose value it is; NULL: of none */
bool fc_node_walk(const node *n, node_visit *each, void *user);
/* Whether the tree assigns to the variable or, its address being known elsewhere, might. */
bool fc_tree_writes(const node *tree, const decl *d);
bool fc_tree_mentions(const node *tree, const decl *d);
/* Whether both are written alike, of names, constants, operators and subscripts. */
bool fc_same_expression(const node *x, const node *y);
/* Whether the tree holds a break (continue) that leaves the loop whose body it is. */
bool fc_body_breaks(const node *body);
bool fc_body_continues(const node *body);
bool fc_tree_returns(const node *tree);
/* Whether evaluation only computes on scalars: no memory, no call, no side effect. */
bool fc_expr_is_plain(const node *n);
bool fc_function_has_parallel(decl *fn);
/* Whether a directive's loops are parallel ones. */
static inline bool
fc_omp_is_loop(const omp *d)
{
    return d->kind == OMP_PARALLEL_FOR || d->kind == OMP_FOR;
}
/* Whether the tree assigns to d, or hands its address to what may (writer.c). */
bool fc_may_be_written(const node *tree, const decl *d);
/* A critical section that only updates single values, as atomic updates; else the section (critical.c). */
node *fc_critical_updates(arena *a, node *n);
/* Whether there is one that does more. */
bool fc_holds_critical(const node *tree);
bool fc_function_sizes(decl *fn); /* sized.c */
/* returns somewhere else than in its last statement */
bool fc_function_jumps(decl *fn);

#endif
