/* Which accesses can meet in memory. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/gen.h"

static LLVMValueRef
metadata_list(gen *g, LLVMMetadataRef *parts, size_t n)
{
    return LLVMMetadataAsValue(g->context, LLVMMDNodeInContext2(g->context, parts, n));
}

static LLVMMetadataRef
alias_scope(gen *g, LLVMMetadataRef domain, const char *name)
{
    LLVMMetadataRef parts[2] = {LLVMMDStringInContext2(g->context, name, strlen(name)), domain};
    return LLVMMDNodeInContext2(g->context, parts, 2);
}

static LLVMMetadataRef
alias_domain(gen *g, const char *name)
{
    LLVMMetadataRef part = LLVMMDStringInContext2(g->context, name, strlen(name));
    return LLVMMDNodeInContext2(g->context, &part, 1);
}

static bool
mark_used(ir_op *op, void *user)
{
    gen *g = user;
    if (op->code != RG_OP_LOAD && op->code != RG_OP_STORE && op->code != RG_OP_RMW)
        return true;
    const ir_value *buffer = op->args[0];
    int64_t p = gen_parameter_of(g, buffer);
    if (p >= 0)
        g->used_planes[p] |= (uint8_t)(1u << op->plane);
    else if (buffer->def->code == RG_OP_PICK)
        for (uint32_t i = 1; i < buffer->def->nargs; i++)
            if ((p = gen_parameter_of(g, buffer->def->args[i])) >= 0)
                g->used_planes[p] |= (uint8_t)(1u << op->plane);
    return true;
}

/* Two domains: one tells the tape from all that is the user's, the other (where the caller says
 * that they do not overlap) the planes of parameters from each other. Within a domain an access is
 * in its own scope and apart from all others. */
void
gen_make_alias_scopes(gen *g)
{
    enum { SCOPES_MAX = 96 };
    LLVMMetadataRef domain = alias_domain(g, "planes"), other = alias_domain(g, "memory");
    LLVMMetadataRef all[SCOPES_MAX + 1], rest[SCOPES_MAX + 1];
    size_t places[SCOPES_MAX], n = 0;
    ir_walk(g->ir->body, mark_used, g);
    for (uint32_t p = 0; g->options->noalias && p < g->ir->body->nparams; p++)
        for (unsigned plane = 0; plane < RT_PLANES; plane++)
            if (g->used_planes[p] >> plane & 1 && n < SCOPES_MAX)
                places[n++] = p * RT_PLANES + plane;
    if (n == SCOPES_MAX)
        n = 0; /* the lists would grow with the square */
    for (size_t i = 0; i < n; i++) {
        char text[32];
        snprintf(text, sizeof text, "plane.%zu", places[i]);
        all[i] = alias_scope(g, domain, text);
    }
    LLVMMetadataRef tape = alias_scope(g, other, "tape"), user = alias_scope(g, other, "user");
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        for (size_t j = 0; j < n; j++)
            if (j != i)
                rest[k++] = all[j];
        rest[k++] = tape;
        g->own_scope[places[i]] = metadata_list(g, (LLVMMetadataRef[]){all[i], user}, 2);
        g->other_scopes[places[i]] = metadata_list(g, rest, k);
    }
    g->tape_scope = metadata_list(g, &tape, 1);
    g->tape_others = metadata_list(g, &user, 1);
    for (uint32_t i = 0; i < g->nbuffers * RT_PLANES; i++)
        if (!g->own_scope[i]) {
            g->own_scope[i] = g->tape_others;
            g->other_scopes[i] = g->tape_scope;
        }
}

LLVMValueRef
gen_mark_own(gen *g, LLVMValueRef access)
{
    LLVMSetMetadata(access, g->alias_kind, g->tape_scope);
    LLVMSetMetadata(access, g->noalias_kind, g->tape_others);
    return access;
}

void
gen_mark_alias(gen *g, LLVMValueRef access, const ir_op *op)
{
    int64_t p = gen_parameter_of(g, op->args[0]);
    bool known = p >= 0;
    size_t at = known ? (size_t)p * RT_PLANES + op->plane : 0;
    LLVMSetMetadata(access, g->alias_kind, known ? g->own_scope[at] : g->tape_others);
    LLVMSetMetadata(access, g->noalias_kind, known ? g->other_scopes[at] : g->tape_scope);
}
