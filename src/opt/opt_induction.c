/* Integers that grow by the same number in each iteration follow from the index. SPDX-License-Identifier: Apache-2.0
 *
 *   %k = for %i = %lo to %hi step 1 (%k1 = %k0) {       for %i = %lo to %hi step 1 {
 *     .. load %x[%k1] ..                                  %k1 = %k0 + (%i - %lo) * %c   .. load %x[%k1] ..
 *     %k2 = add %k1, %c   yield %k2                ->     yield
 *   }                                                   }
 *                                                       %k = %k0 + (max(%lo, %hi) - %lo) * %c
 *
 * C counts in several variables, and walks with several pointers. Without them a loop carries less: its iterations may be
 * independent. A recording loop stays, and what is recalled. */
#include "opt/edit.h"
#include "opt/pass.h"

/* what the carried integer grows by, or shrinks: the same number in every iteration; NULL: it does not */
static ir_value *
growth_of(const edit *e, const ir_op *loop, uint32_t k, bool *shrinks)
{
    const ir_region *body = loop->regions[0];
    const ir_value *param = body->params[1 + k];
    const ir_op *op = edit_now(e, ir_terminator(body)->args[k])->def;
    if (param->type.kind != IR_SCALAR || param->type.lanes || !ir_is_int(ir_dtype(param)) || !op ||
        (op->code != RG_OP_ADD && op->code != RG_OP_SUB) || op->parent != body)
        return NULL;
    ir_value *x = edit_now(e, op->args[0]), *y = edit_now(e, op->args[1]);
    *shrinks = op->code == RG_OP_SUB;
    ir_value *by = x == param ? y : y == param && !*shrinks ? x : NULL;
    return by && by != param && edit_can_stand_before(by, loop) ? by : NULL;
}

/* from + (steps upwards or downwards between two values of the index) * by, before `at` */
static ir_value *
moved_on(edit *e, ir_op *at, ir_value *from, ir_value *index[2], ir_value *by, bool shrinks)
{
    ir_type type = from->type;
    for (uint32_t i = 0; i < 2; i++)
        index[i] = ir_type_eq(index[i]->type, type) ? index[i] : edit_scalar(e, at, RG_OP_CAST, type, index[i], NULL, NULL);
    ir_value *steps = edit_scalar(e, at, RG_OP_SUB, type, index[1], index[0], NULL);
    ir_value *way = edit_scalar(e, at, RG_OP_MUL, type, steps, by, NULL);
    return edit_scalar(e, at, shrinks ? RG_OP_SUB : RG_OP_ADD, type, from, way, NULL);
}

static void
follow_index(edit *e, ir_op *loop, uint32_t k, ir_value *by, bool shrinks)
{
    ir_region *body = loop->regions[0];
    ir_op *yield = ir_terminator(body), *behind = loop->next;
    ir_value *from = edit_now(e, loop->args[2 + k]), *first = loop->args[0], *last = loop->args[1], *index = body->params[0];
    bool up = loop->attr.step > 0;
    by = edit_number_before(e, loop, by);
    ir_value *inside = moved_on(e, body->first, from, up ? (ir_value *[]){first, index} : (ir_value *[]){index, first}, by, shrinks);
    ir_value *end = edit_scalar(e, behind, up ? RG_OP_MAX : RG_OP_MIN, first->type, first, last, NULL);
    ir_value *after = moved_on(e, behind, from, up ? (ir_value *[]){first, end} : (ir_value *[]){end, first}, by, shrinks);
    edit_replace(e, body->params[1 + k], inside);
    edit_replace(e, loop->results[k], after);
    edit_drop_arg(loop, 2 + k);
    edit_drop_param(body, 1 + k);
    edit_drop_result(loop, k);
    edit_drop_arg(yield, k);
}

static void
follow_indices_in(edit *e, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(e, op);
        for (uint32_t i = 0; i < op->nregions; i++)
            follow_indices_in(e, op->regions[i]);
        bool by_one = op->code == RG_OP_FOR && (op->attr.step == 1 || op->attr.step == -1);
        for (uint32_t k = by_one && !op->records ? op->nresults : 0; k-- > 0;) {
            bool shrinks;
            ir_value *by = growth_of(e, op, k, &shrinks);
            if (by && !edit_is_recalled(e, op->regions[0]->params[1 + k]) && !edit_is_recalled(e, op->results[k]))
                follow_index(e, op, k, by, shrinks);
        }
    }
}

bool
opt_induction(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        edit e;
        edit_start(&e, fn, c->scratch);
        follow_indices_in(&e, fn->body);
        changed |= edit_finish(&e);
    }
    return changed;
}
