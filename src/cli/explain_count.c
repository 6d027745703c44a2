/* rgc explain: how many bytes the threads of a task record. SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain.h"

enum { DEPTH = 12 };

static bool write_value(str *out, const ir_value *v, unsigned depth);

static bool
write_call(str *out, const char *name, const ir_op *op, unsigned depth)
{
    str_addf(out, "%s(", name);
    bool simple = write_value(out, op->args[0], depth);
    str_addz(out, ", ");
    simple = simple && write_value(out, op->args[1], depth);
    str_addc(out, ')');
    return simple;
}

static bool
write_infix(str *out, const char *between, const ir_op *op, unsigned depth)
{
    bool nested = op->code == RG_OP_ADD || op->code == RG_OP_SUB;
    str_addz(out, nested ? "(" : "");
    bool simple = write_value(out, op->args[0], depth);
    str_addf(out, " %s ", between);
    simple = simple && write_value(out, op->args[1], depth);
    str_addz(out, nested ? ")" : "");
    return simple;
}

/* false: it is more than an expression */
static bool
write_value(str *out, const ir_value *v, unsigned depth)
{
    const ir_op *op = v->def;
    uint64_t bits;
    if (ir_is_const(v, &bits)) {
        str_addf(out, "%lld", (long long)bits);
        return true;
    }
    if (!op || (v->name && op->code != RG_OP_LOAD)) {
        str_addz(out, v->name ? v->name : "i");
        return true;
    }
    if (!depth--)
        return false;
    switch ((int)op->code) {
    case RG_OP_CAST:
        return write_value(out, op->args[0], depth);
    case RG_OP_ADD:
        return write_infix(out, "+", op, depth);
    case RG_OP_SUB:
        return write_infix(out, "-", op, depth);
    case RG_OP_MUL:
        return write_infix(out, "*", op, depth);
    case RG_OP_DIV:
        return write_infix(out, "/", op, depth);
    case RG_OP_MAX:
        return write_call(out, "max", op, depth);
    case RG_OP_MIN:
        return write_call(out, "min", op, depth);
    case RG_OP_LOAD:
        break;
    default:
        return false;
    }
    bool simple = write_value(out, op->args[0], depth);
    for (uint32_t i = 1; simple && i < op->nargs; i++) {
        str_addc(out, '[');
        simple = write_value(out, op->args[i], depth);
        str_addc(out, ']');
    }
    return simple;
}

void
explain_count(const ir_op *begin, const explain_adds_to *to)
{
    const ir_op *task = begin->parent->op;
    if (!task || task->code != RG_OP_PARALLEL || task->rewinds)
        return;
    str count = {0}, text = {0};
    bool simple = begin->nargs && write_value(&count, begin->args[0], DEPTH);
    bool groups = task->regions[0]->nparams > task->attr.rank;
    const char *each = groups ? "group of threads" : "thread";
    if (simple)
        str_addf(&text, "records %s%s bytes per %s", begin->decided ? "at most " : "", count.ptr, each);
    else
        str_addf(&text, "records as many bytes per %s as are %s", each,
                 begin->nargs ? "counted before it begins" : "found as it runs");
    to->note(to->user, task->loc, text.ptr);
    str_free(&count);
    str_free(&text);
}
