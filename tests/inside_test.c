/* Which region lies inside which, while ops are put in, moved and taken out, against walking outwards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "ir/ir.h"

enum { OPS = 60, STEPS = 4000 };

static uint64_t state = 7;

static uint32_t
below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static const ir_region *
around(const ir_region *r)
{
    return r->op ? r->op->parent : NULL;
}

static bool
inside(const ir_region *inner, const ir_region *outer)
{
    while (inner && inner != outer)
        inner = around(inner);
    return inner;
}

static void
compare(const ir_region *a, const ir_region *b)
{
    const ir_region *common = a, *out = a;
    while (common && !inside(b, common))
        common = around(common);
    CHECK(ir_region_inside(a, b) == inside(a, b), "inside");
    CHECK(ir_common_region(a, b) == common, "common");
    while (around(out) && out->op->code == RG_OP_IF)
        out = around(out);
    CHECK(ir_around_branches(a) == out, "branches");
    if (a->op) {
        const ir_op *op = a->op;
        while (op && op->parent != b)
            op = op->parent ? op->parent->op : NULL;
        CHECK(ir_ancestor_in(a->op, b) == op, "ancestor");
    }
    if (inside(a, b))
        CHECK(ir_only_branches_between(a, b) == (out == b || !inside(out, b)), "between");
}

int
main(void)
{
    ir_module *m = ir_module_new();
    ir_fn *fn = ir_fn_new(m, "f", true);
    ir_region *regions[1 + 2 * OPS] = {fn->body};
    ir_op *ops[OPS];
    uint32_t n = 1;
    for (uint32_t i = 0; i < OPS; i++) {
        ops[i] = ir_op_new(fn, below(3) ? RG_OP_IF : RG_OP_LOOP, 0, 2, (ir_loc){0});
        /* chains are deep */
        ir_append(regions[below(4) ? n - 1 : below(n)], ops[i]);
        regions[n++] = ops[i]->regions[0];
        regions[n++] = ops[i]->regions[1];
    }
    for (uint32_t i = 0; i < STEPS; i++) {
        ir_op *op = ops[below(OPS)];
        ir_region *to = regions[below(n)];
        for (int k = 0; k < 8; k++)
            compare(regions[below(n)], regions[below(n)]);
        if (op->parent && below(8) == 0)
            ir_remove(op);
        else if (!op->parent && !inside(to, op->regions[0]) && !inside(to, op->regions[1]))
            ir_append(to, op);
    }
    ir_module_free(m);
    return check_done();
}
