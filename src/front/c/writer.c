/* Who writes a variable of static storage: one that no function of the files writes is a constant.
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
    if (call->decl && fc_only_reads(call->decl, i))
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
        if (node_writes(n, d, direct) || (fc_lambda_body(n) && tree_writes(fc_lambda_body(n), d, false)))
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
