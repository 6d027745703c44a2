/* Who writes a variable of static storage: one that no function of the files writes is a constant. And where pointers go.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

static bool tree_writes(const node *n, const decl *d, bool direct);

static bool
points_to_constants(const ctype *t)
{
    if (t->kind != TYPE_POINTER)
        return false;
    for (t = t->elem; t->kind == TYPE_ARRAY && !t->constant;)
        t = t->elem;
    return t->constant;
}

/* -- parameters through which a function only reads ----------------------------------------------- */

typedef enum pointer_use {
    USE_READ,  /* what it points to is read, or nothing of it */
    USE_WRITE, /* ... is written */
    USE_OTHER  /* the pointer goes somewhere */
} pointer_use;

static bool only_reads(const decl *fn, uint32_t number);
static bool keeps(const decl *fn, uint32_t number);

/* How the value of an operand is used, whose result is used as `use`. */
static pointer_use
use_of_operand(const node *n, uint32_t i, const node *operand, pointer_use use)
{
    bool scalar = !operand->type || operand->type->kind == TYPE_SCALAR || operand->type->kind == TYPE_STRUCT;
    switch (n->kind) {
    case E_ASSIGN:
    case E_COMPOUND:
    case E_INC:
        return i == 0 ? USE_WRITE : scalar ? USE_READ : USE_OTHER;
    case E_SUBSCRIPT:
        return i == 0 ? use : USE_READ;
    case E_DEREF:
    case E_DECAY:
    case E_ADDR:
    case E_MEMBER:
    case E_CAST:
        return use;
    case E_BINARY:
        return n->type->kind == TYPE_POINTER ? use : USE_READ;
    case E_COND:
        return i == 0 ? USE_READ : use;
    case E_LNOT:
    case E_AND:
    case E_OR:
    case S_IF:
        return USE_READ; /* whether it is null */
    default:
        return scalar ? USE_READ : USE_OTHER;
    }
}

/* Whether what the pointer d leads to may be written (if that is asked), or d kept, where n is used so. */
static bool
lets_go(const node *n, const decl *d, pointer_use use, bool writing)
{
    if (!n)
        return false;
    if (n->kind == E_REF)
        return n->decl == d && (use == USE_OTHER || (writing && use == USE_WRITE));
    for (uint32_t i = 0; i < 4; i++)
        if (n->kid[i] && lets_go(n->kid[i], d, use_of_operand(n, i, n->kid[i], use), writing))
            return true;
    for (uint32_t i = 0; i < n->count; i++) {
        bool harmless = n->kind == E_CALL && n->decl && (writing ? only_reads(n->decl, i) : !keeps(n->decl, i));
        if (n->kind != S_DECL &&
            lets_go(n->list[i], d, harmless ? USE_READ : use_of_operand(n, 1, n->list[i], USE_OTHER), writing))
            return true;
        const node *init = n->kind == S_DECL ? n->list[i]->decl->init : NULL;
        if (init && lets_go(init, d, use_of_operand(n, 1, init, USE_OTHER), writing))
            return true;
    }
    return n->kind == E_LITERAL && lets_go(n->decl->init, d, USE_OTHER, writing);
}

static bool
only_reads(const decl *fn, uint32_t number)
{
    if (!fn->body || number >= fn->nparams)
        return false;
    decl *d = fn->params[number];
    if (!d->reads) {
        d->reads = 1; /* where it calls itself */
        d->reads = d->written || d->address_taken || lets_go(fn->body, d, USE_READ, true) ? 1 : 2;
    }
    return d->reads == 2;
}

/* The C library keeps no pointer to what free, memcpy and their like get. */
static bool
keeps(const decl *fn, uint32_t number)
{
    if (!fn->body || number >= fn->nparams)
        return fn->body != NULL;
    decl *d = fn->params[number];
    if (!d->stays) {
        d->stays = 1;
        d->stays = fc_goes_elsewhere(fn->body, d) ? 1 : 2;
    }
    return d->stays == 1;
}

bool
fc_goes_elsewhere(const node *tree, const decl *d)
{
    return d->written || d->address_taken || lets_go(tree, d, USE_READ, false);
}

/* -- variables ------------------------------------------------------------------------------------ */

/* direct: the address that n is does not leave the expression */
static bool
node_writes(const node *n, const decl *d, bool direct)
{
    bool assigns = n->kind == E_ASSIGN || n->kind == E_COMPOUND || n->kind == E_INC;
    bool address = (n->kind == E_DECAY || n->kind == E_ADDR) && !direct;
    if ((assigns || address) && fc_lvalue_root(n->kid[0]) == d)
        return true;
    for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++)
        if (tree_writes(n->list[i]->decl->init, d, false))
            return true;
    return n->kind == E_LITERAL && tree_writes(n->decl->init, d, false);
}

/* A body tells more than the type of a parameter, whose `const` it may cast away. */
static bool
argument_writes(const node *call, uint32_t i, const decl *d)
{
    const node *argument = call->list[i];
    if (call->decl && only_reads(call->decl, i))
        return tree_writes(argument, d, true);
    while (argument->kind == E_CAST && argument->type->kind == TYPE_POINTER && (!call->decl || call->decl->body))
        argument = argument->kid[0];
    return tree_writes(argument, d, false);
}

/* Whether the tree assigns to d, or hands its address to what may. */
static bool
tree_writes(const node *n, const decl *d, bool direct)
{
    for (; n; n = n->kid[0]) {
        if (node_writes(n, d, direct))
            return true;
        for (size_t i = 1; i < 4; i++)
            if (tree_writes(n->kid[i], d, false))
                return true;
        for (uint32_t i = 0; i < n->count; i++)
            if (n->kind == E_CALL ? argument_writes(n, i, d) : tree_writes(n->list[i], d, false))
                return true;
        /* an address under a cast to constants is only read, and so is one that is subscripted on the spot */
        bool keeps = n->kind == E_SUBSCRIPT || n->kind == E_DEREF || n->kind == E_MEMBER;
        direct = keeps || (n->kind == E_CAST && (direct || points_to_constants(n->type)));
    }
    return false;
}

bool
fc_may_be_written(const node *tree, const decl *d)
{
    return tree_writes(tree, d, false);
}

/* own: the variable as that file declares it, which linking may have replaced */
static const char *
writer_in(unit *u, const decl *d, const decl *own)
{
    decl **all;
    fc_unit_import_all(u);
    uint32_t n = fc_unit_functions(u, &all);
    for (uint32_t i = 0; i < n; i++)
        if (all[i]->body && (tree_writes(all[i]->body, d, false) || tree_writes(all[i]->body, own, false)))
            return all[i]->name;
    n = fc_unit_globals(u, &all);
    for (uint32_t i = 0; i < n; i++) /* pointers to it */
        if (!points_to_constants(all[i]->type) &&
            (tree_writes(all[i]->init, d, false) || tree_writes(all[i]->init, own, false)))
            return all[i]->name;
    return NULL;
}

static const char *
find_writer(gen *g, decl *d)
{
    mention *files;
    uint32_t n = fc_project_mentions(g->project, d, &files);
    for (uint32_t i = 0; i < n; i++) {
        const char *writer = writer_in(files[i].unit, d, files[i].variable);
        if (writer)
            return writer;
    }
    return NULL;
}

const char *
fc_writer(gen *g, decl *d)
{
    if (!d->writer_known)
        d->writer = find_writer(g, d);
    d->writer_known = true;
    return d->writer;
}
