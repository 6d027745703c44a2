/* Which accesses can meet in memory. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/gen.h"

enum { SCOPES_MAX = 96 };

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

/* The places of a buffer: parameters by number, all temporaries together behind them. */
static uint32_t
temporaries(const gen *g)
{
    return g->nbuffers;
}

static bool
may_touch(const gen *g, const ir_value *buffer, uint32_t place)
{
    int64_t p = gen_parameter_of(g, buffer);
    if (p >= 0)
        return (uint32_t)p == place;
    if (!buffer->def || buffer->def->code != RG_OP_PICK)
        return place == temporaries(g);
    for (uint32_t i = 1; i < buffer->def->nargs; i++)
        if (may_touch(g, buffer->def->args[i], place))
            return true;
    return false;
}

/* what lies side by side is read and written together */
static uint32_t
scope_direction(const ir_op *op)
{
    return op->beside ? 0 : op->direction;
}

static bool
note_used_planes(ir_op *op, void *user)
{
    gen *g = user;
    if (!ir_is_access(op))
        return true;
    for (uint32_t place = 0; place <= temporaries(g); place++)
        if (may_touch(g, op->args[0], place))
            g->used_planes[place * RT_PLANES + op->plane] |= (uint64_t)1 << scope_direction(op);
    return true;
}

static void
add_scope(gen *g, LLVMMetadataRef domain, alias_node node)
{
    char text[48];
    snprintf(text, sizeof text, "%u.%u.%u", node.place, node.plane, node.direction);
    node.scope = alias_scope(g, domain, text);
    g->scopes[g->nscopes++] = node;
}

/* One for each direction of each plane that is used, or one for each plane. false: too many (the
 * lists would grow with the square). */
static bool
add_scopes(gen *g, LLVMMetadataRef domain)
{
    g->nscopes = 0;
    for (uint32_t place = 0; place <= temporaries(g); place++)
        for (unsigned plane = 0; plane < RT_PLANES; plane++) {
            uint64_t used = g->used_planes[place * RT_PLANES + plane];
            if (!g->few_directions)
                used = used != 0;
            for (unsigned d = 0; d < IR_DIRECTIONS; d++) {
                if (!(used >> d & 1))
                    continue;
                if (g->nscopes == SCOPES_MAX)
                    return false;
                add_scope(g, domain, (alias_node){.place = place, .plane = plane, .direction = d});
            }
        }
    return true;
}

/* Two domains: one tells the tape from all that is the user's, the other (where the caller says
 * that they do not overlap) the planes of parameters and temporaries from each other, and their
 * directions. Within a
 * domain an access is in the scopes of all that it may touch and apart from all others. */
void
gen_make_alias_scopes(gen *g)
{
    LLVMMetadataRef domain = alias_domain(g, "planes"), other = alias_domain(g, "memory");
    g->tape_node = alias_scope(g, other, "tape");
    g->user_node = alias_scope(g, other, "user");
    g->tape_scope = metadata_list(g, &g->tape_node, 1);
    g->user_scope = metadata_list(g, &g->user_node, 1);
    if (!g->options->noalias)
        return;
    g->used_planes = arena_new_n(g->scratch, uint64_t, (temporaries(g) + 1) * RT_PLANES);
    g->scopes = arena_new_n(g->scratch, alias_node, SCOPES_MAX);
    ir_walk(g->ir->body, note_used_planes, g);
    g->few_directions = true;
    if (add_scopes(g, domain))
        return;
    g->few_directions = false;
    if (!add_scopes(g, domain))
        g->nscopes = 0;
}

LLVMValueRef
gen_mark_own(gen *g, LLVMValueRef access)
{
    LLVMSetMetadata(access, g->alias_kind, g->tape_scope);
    LLVMSetMetadata(access, g->noalias_kind, g->user_scope);
    return access;
}

/* Whether nothing writes to what op loads as long as the launch runs; temporaries change hands. */
bool
gen_stands_still(const gen *g, const ir_op *op)
{
    return op->code == RG_OP_LOAD && g->options->noalias && !may_touch(g, op->args[0], temporaries(g)) &&
           !(ir_effects_on(&g->effects, op->args[0], op->plane) & IR_CHANGES);
}

void
gen_mark_alias(gen *g, LLVMValueRef access, const ir_op *op)
{
    /* GPUs read it through another cache, and need not wait for others */
    if (g->target->warp && gen_stands_still(g, op) && LLVMIsALoadInst(access))
        gen_invariant(g, access);
    LLVMMetadataRef in[SCOPES_MAX + 1], apart[SCOPES_MAX + 1];
    size_t nin = 0, napart = 0;
    for (uint32_t i = 0; i < g->nscopes; i++) {
        const alias_node *node = &g->scopes[i];
        bool may = node->plane == op->plane &&
                   (!g->few_directions || node->direction == scope_direction(op)) &&
                   may_touch(g, op->args[0], node->place);
        if (may)
            in[nin++] = node->scope;
        else
            apart[napart++] = node->scope;
    }
    in[nin++] = g->user_node;
    apart[napart++] = g->tape_node;
    LLVMSetMetadata(access, g->alias_kind, metadata_list(g, in, nin));
    LLVMSetMetadata(access, g->noalias_kind, metadata_list(g, apart, napart));
}
