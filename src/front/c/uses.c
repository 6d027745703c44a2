/* Where the pointer that a variable holds goes: whether what it leads to is written, or a copy of it kept.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

typedef enum pointer_use {
    USE_READ,  /* what it points to is read, or nothing of it */
    USE_WRITE, /* ... is written */
    USE_OTHER  /* the pointer goes somewhere */
} pointer_use;

static bool keeps(const decl *fn, uint32_t number);

/* How the value of an operand is used, whose result is used as `use`. */
static pointer_use
use_of_operand(const node *n, uint32_t i, const node *operand, pointer_use use)
{
    bool scalar = !operand->type || operand->type->kind == TYPE_SCALAR || operand->type->kind == TYPE_STRUCT;
    bool moves = i == 0 && operand->kind == E_REF && !scalar; /* the pointer, not what it leads to */
    switch (n->kind) {
    case E_ASSIGN:
    case E_COMPOUND:
    case E_INC:
        if (moves)
            return n->kind == E_ASSIGN ? USE_READ : use;
        return i == 0 ? USE_WRITE : scalar ? USE_READ : USE_OTHER;
    case E_SUBSCRIPT:
        return i == 0 ? use : USE_READ;
    case E_DEREF:
    case E_DECAY:
    case E_ADDR:
    case E_MEMBER:
    case E_CAST:
    case S_BLOCK:
        return use;
    case E_COMMA:
        return i == 0 ? USE_READ : use;
    case E_STATEMENTS:
        return USE_OTHER;
    case E_BINARY:
        return n->type->kind == TYPE_POINTER ? use : USE_READ;
    case E_COND:
        return i == 0 ? USE_READ : use;
    case E_LNOT:
    case E_AND:
    case E_OR:
    case S_IF:
    case S_FOR:
    case S_WHILE:
    case S_DO:
    case S_SWITCH:
    case S_CASE:
    case S_DEFAULT:
    case S_OMP:
        return USE_READ; /* whether it is null, or nothing of it */
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
    if (fc_lambda_body(n) && fc_tree_mentions(fc_lambda_body(n), d))
        return true;
    if (n->kind == E_REF)
        return n->decl == d && (use == USE_OTHER || (writing && use == USE_WRITE));
    for (uint32_t i = 0; i < 4; i++)
        if (n->kid[i] && lets_go(n->kid[i], d, use_of_operand(n, i, n->kid[i], use), writing))
            return true;
    pointer_use within = n->kind == S_BLOCK ? use : USE_OTHER;
    for (uint32_t i = 0; i < n->count; i++) {
        bool harmless = n->kind == E_CALL && n->decl && (writing ? fc_only_reads(n->decl, i) : !keeps(n->decl, i));
        if (n->kind != S_DECL &&
            lets_go(n->list[i], d, harmless ? USE_READ : use_of_operand(n, 1, n->list[i], within), writing))
            return true;
        const node *init = n->kind == S_DECL ? n->list[i]->decl->init : NULL;
        if (init && lets_go(init, d, use_of_operand(n, 1, init, USE_OTHER), writing))
            return true;
    }
    return n->kind == E_LITERAL && lets_go(n->decl->init, d, USE_OTHER, writing);
}

bool
fc_only_reads(const decl *fn, uint32_t number)
{
    if (!fn->body || number >= fn->nparams)
        return false;
    decl *d = fn->params[number];
    if (!d->reads) {
        d->reads = 1; /* where it calls itself */
        d->reads = d->address_taken || lets_go(fn->body, d, USE_READ, true) ? 1 : 2;
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
