/* Split launches read what they need where it stands after the forward launch. This refuses those whose
 * needed values do not stand still. SPDX-License-Identifier: Apache-2.0
 *
 * A needed load of element e is right if no write reaches e after it (apart.h). */
#include "analysis/access.h"
#include "diff/vjp.h"

typedef struct split {
    const ir_fn *from;
    diag_list *diags;
    const ir_op *load;
    const ir_value *root;
    bool combined, refused;
    vec(ir_op *) writes; /* to buffers, in plane 0 */
    map places;          /* op -> its number in the kernel's order */
    map said;            /* loads that were refused: each may run again several times */
    uintptr_t ops;
} split;

/* -- every needed load against every write ------------------------------------------------------------------------ */
/* by a write, or (NULL) for another reason */
static void
say_changed(const ir_module *m, const ir_op *load, const ir_value *array, bool combined, const ir_op *write,
            const char *why, diag_list *diags)
{
    const char *quote = array->name ? "`" : "";
    diag_add(diags, DIAG_ERROR, 530, ir_place(m, load->loc),
             "the gradient needs %s%s%s as it was here after the %s, but %s\n"
             "%swrite to another array",
             quote, array->name ? array->name : "an array", quote, combined ? "task" : "forward launch", why,
             combined ? "" : "launch forward and gradient combined (RG_FORWARD_VJP), or ");
    if (write)
        diag_add(diags, DIAG_NOTE, 530, ir_place(m, write->loc), "it is overwritten here");
}

static const char overwritten[] = "a later statement overwrites it";

void
vjp_say_overwritten(vjp *v, const ir_op *load, const ir_value *array, const ir_op *write)
{
    say_changed(v->from->module, load, array, v->combined, write, overwritten, v->c->diags);
    v->failed = true;
}

static void
refuse_split(split *s, const ir_op *write, const char *why)
{
    say_changed(s->from->module, s->load, s->root, s->combined, write, why, s->diags);
    s->refused = true;
    map_set(&s->said, map_ptr(s->load), s);
}

static bool
note_place_and_write(ir_op *op, void *user)
{
    split *s = user;
    map_set(&s->places, map_ptr(op), (void *)++s->ops);
    if (ir_access_does(op) & IR_CHANGES && op->plane == RG_PRIMAL)
        vec_push(&s->writes, op);
    return true;
}

static bool
is_overwritten_by(split *s, ir_op *op)
{
    if (!ir_does_to(op, s->root, RG_PRIMAL) || !access_reaches_after(s->load, op, &s->places))
        return false;
    refuse_split(s, op, overwritten);
    return true;
}

static void
check_root(ir_value *root, void *user)
{
    split *s = user;
    if (s->refused)
        return;
    s->root = root;
    if (root->def)
        refuse_split(s, NULL, "it is a buffer of the kernel that is gone when the launch ends");
    else
        for (size_t i = 0; i < s->writes.n && !is_overwritten_by(s, s->writes.at[i]); i++)
            continue;
}

static bool
check_load(ir_op *op, void *user)
{
    split *s = user;
    if (op->code != RG_OP_LOAD || op->plane || op->args[0]->type.kind != IR_BUFFER || !op->origin)
        return true;
    s->load = op->origin;
    if (map_get(&s->said, map_ptr(s->load)))
        return true;
    s->root = s->load->args[0];
    s->refused = false;
    if (s->load->code == RG_OP_RMW)
        refuse_split(s, NULL, "it is the value that an atomic returned");
    else
        ir_buffer_roots(s->load->args[0], check_root, s);
    return true;
}

/* A function that runs again in the reverse reads its arrays again: so they must stand still behind each call that reads them. */
typedef struct rereading {
    split *s;
    ir_value *array; /* that a call in the reverse reads */
} rereading;

static bool
check_calls_of(ir_op *op, void *user)
{
    rereading *r = user;
    split *s = r->s;
    if (op->code == RG_OP_CALL && ir_does_to(op, r->array, RG_PRIMAL)) {
        s->load = op;
        check_root(r->array, s);
    }
    return !s->refused;
}

/* of the reverse: a parameter of it is the kernel's of the same number */
static void
check_array_read(ir_value *root, void *user)
{
    split *s = user;
    s->refused = false;
    if (!root->def && !root->region->op)
        ir_walk(s->from->body, check_calls_of, &(rereading){s, s->from->body->params[root->index]});
}

static bool
check_silent_call(ir_op *op, void *user)
{
    split *s = user;
    for (uint32_t i = 0; op->code == RG_OP_CALL && op->silent && i < op->nargs; i++)
        if (op->args[i]->type.kind == IR_BUFFER)
            ir_buffer_roots(op->args[i], check_array_read, user);
    return !s->refused; /* every call of the kernel that reads those arrays has been looked at */
}

bool
ad_check_split(const ir_fn *vjp, const ir_fn *fn, bool combined, pass_context *c)
{
    unsigned before = c->diags->errors;
    split s = {.from = fn, .combined = combined, .diags = c->diags};
    s.writes.in = s.places.in = s.said.in = c->scratch;
    ir_walk(fn->body, note_place_and_write, &s);
    ir_walk(vjp->body, check_load, &s);
    ir_walk(vjp->body, check_silent_call, &s);
    return c->diags->errors == before;
}
