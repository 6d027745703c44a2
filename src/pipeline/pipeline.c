/* The whole pipeline: one screen of calls, each with the reason why it stands there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/pipeline.h"

#include "analysis/crossing.h"
#include "codegen/schedule.h"
#include "opt/pass.h"
#include "rt/fpenv.h"

const char *
pipeline_form_name(rg_form form)
{
    static const char *const names[RG_FORM_COUNT] = {
        "forward", "vjp", "forward_vjp", "jvp", "jvp_vjp", "jvp_forward_vjp",
    };
    return names[form];
}

void
pipeline_directions(rg_form form, uint32_t n, uint32_t directions[RG_PLANE_COUNT])
{
    for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++) {
        bool varies = form >= RG_JVP ? plane & RG_TANGENT : plane & RG_ADJOINT;
        directions[plane] = varies ? n : 1;
    }
}

static void
tell_stage(const pipeline_options *o, const char *stage, const ir_module *m)
{
    if (o->seen)
        o->seen(o->user, stage, m);
}

/* -- results become outputs -----------------------------------------------------------------------
 * `return` is one more buffer of rank 0, stored to at the end: derivatives then treat it like any
 * written array, and no device has to know results. */

static void
results_to_outputs(ir_fn *fn)
{
    ir_op *end = ir_terminator(fn->body);
    uint32_t had = fn->body->nparams;
    for (uint32_t i = 0; i < end->nargs; i++) {
        char name[32];
        snprintf(name, sizeof(name), i ? "return%u" : "return", i);
        const char *kept = arena_str(fn->module->arena, rg_str_of(name));
        ir_type type = ir_buffer((rg_dtype)end->args[i]->type.dtype, 0);
        ir_value *output = ir_region_param(fn->body, type, kept);
        fn->params[had + i].loc = fn->loc;
        ir_op *store = ir_op_new(fn, RG_OP_STORE, 2, 0, end->loc);
        ir_op_arg(store, fn, output);
        ir_op_arg(store, fn, end->args[i]);
        ir_insert_before(end, store);
    }
    end->nargs = 0; /* a buffer of rank 0 has no axis, so the shape region stays as it is */
}

/* -- buffers that share adjoints --------------------------------------------------------------- */

static bool
make_atomic(ir_op *op, void *user)
{
    if (op->code == RG_OP_RMW && (op->plane & RG_ADJOINT))
        op->atomic = true;
    return true;
}

/* -- the pipeline ------------------------------------------------------------------------------ */

/* A module in the making, and what passes are given with it. */
typedef struct new_module {
    ir_module *m;
    pass_context c;
    mem_owner owns;
} new_module;

static void
begin_module(new_module *k, diag_list *diags)
{
    k->m = ir_module_new();
    mem_own(&k->owns, ir_module_release, k->m);
    pass_context_init(&k->c, diags);
}

/* the module; NULL after errors */
static ir_module *
end_module(new_module *k)
{
    pass_context_finish(&k->c);
    mem_disown(&k->owns);
    if (!k->c.diags->errors)
        return k->m;
    ir_module_free(k->m);
    return NULL;
}

ir_module *
pipeline_source(const ir_fn *kernel, const pipeline_options *o, diag_list *diags)
{
    new_module k;
    begin_module(&k, diags);
    ir_module *m = k.m;
    pass_context *c = &k.c;
    ir_fn *fn = ir_fn_clone_with_calls(m, kernel, kernel->name);
    tell_stage(o, "source", m);
    /* derivatives are taken of kernels without calls, but of those that they have rules for: reverse sweeps
     * of functions, and functions that bring their own derivatives */
    PASS_RUN(m, opt_inline, IR_STAGE_SOURCE, c);
    ad_expand_calls(m, true, c);
    /* what a transform leaves behind is not looked at again */
    ir_keep_called(m, fn);
    results_to_outputs(fn);
    tell_stage(o, "inline", m);
    /* less to differentiate, and activity sees through copies */
    pass_simplify(m, IR_STAGE_SOURCE, c);
    /* adjoints of what a loop only reads are then summed in registers */
    if (PASS_RUN(m, opt_hoist, IR_STAGE_SOURCE, c))
        pass_simplify(m, IR_STAGE_SOURCE, c);
    /* they run in lanes, and have the derivatives of loads and stores */
    PASS_RUN(m, ad_own_atomics, IR_STAGE_SOURCE, c);
    ir_fn_scan_params(fn);
    tell_stage(o, "simplify", m);
    return end_module(&k);
}

ir_module *
pipeline_copy(const ir_fn *kernel)
{
    ir_module *m = ir_module_new();
    mem_owner owns;
    mem_own(&owns, ir_module_release, m);
    ir_keep_called(m, ir_fn_clone_with_calls(m, kernel, kernel->name));
    mem_disown(&owns);
    return m;
}

static bool *
active_with(const pipeline_options *o, uint32_t nparams, unsigned plane, arena *scratch)
{
    if (!o->planes)
        return NULL;
    bool *active = arena_new_n(scratch, bool, nparams + 1);
    for (uint32_t i = 0; i < nparams; i++)
        active[i] = o->planes[i] & plane;
    return active;
}

typedef ir_fn *transform(const ir_fn *, const ad_options *, const char *, pass_context *);

static ir_fn *
derive(ir_fn *fn, transform *by, const pipeline_options *o, unsigned plane, bool combined,
       const char *suffix, pass_context *c)
{
    if (c->diags->errors)
        return fn;
    ir_module *m = fn->module;
    arena_mark before = arena_here(c->scratch);
    bool *active = active_with(o, fn->body->nparams, plane, c->scratch);
    size_t room = strlen(fn->name) + strlen(suffix) + 2;
    char *name = arena_alloc(m->arena, room);
    snprintf(name, room, "%s_%s", fn->name, suffix);
    map put_back = {.in = c->scratch};
    ad_options options = {.active = active, .combined = combined, .put_back = &put_back};
    ad_spread_calls(fn, c->scratch);
    /* calls are reversed by calls, which read their arrays again */
    if (combined)
        ad_hold_read(fn, active, &put_back, c->scratch);
    ir_fn *made = by(fn, &options, name, c);
    arena_release(c->scratch, before);
    if (!made)
        return fn;
    ir_keep_called(m, made);
    ir_verify(m, IR_STAGE_AD, suffix, c->diags);
    /* rules called the derivatives that functions bring with them */
    PASS_RUN(m, opt_inline, IR_STAGE_AD, c);
    tell_stage(o, suffix, m);
    /* what reverse code does not use of the forward sweep disappears here */
    pass_simplify(m, IR_STAGE_AD, c);
    return made;
}

/* After all differentiation: the primal, and with it what will be recorded, serves all directions. */
static ir_fn *
several_directions(ir_fn *fn, const pipeline_options *o, pass_context *c)
{
    uint32_t most = 1;
    for (unsigned plane = 0; o->directions && plane < RG_PLANE_COUNT; plane++)
        most = o->directions[plane] > most ? o->directions[plane] : most;
    if (most == 1 || c->diags->errors)
        return fn;
    /* so that it is contracted like one direction, and alike in each; the interpreter has no use for it */
    if (o->contraction && o->stage != IR_STAGE_AD)
        PASS_RUN(fn->module, opt_fma, IR_STAGE_AD, c);
    ir_fn *made = ad_directions(fn, o->directions, o->side_by_side, c);
    if (!made)
        return fn;
    ir_keep_called(fn->module, made);
    ir_verify(fn->module, IR_STAGE_AD, "directions", c->diags);
    tell_stage(o, "directions", fn->module);
    pass_simplify(fn->module, IR_STAGE_AD, c);
    return made;
}

/* What the reverse still loads after simplification must stand where the forward sweep saw it. */
static ir_fn *
reverse_of(ir_fn *fn, const pipeline_options *o, bool combined, pass_context *c)
{
    ir_fn *made = derive(fn, ad_vjp, o, RG_ADJOINT, combined, "vjp", c);
    if (!c->diags->errors)
        ad_check_split(made, fn, combined, c);
    return made;
}

static ir_fn *
run_stages(ir_module *m, ir_fn *fn, const pipeline_options *o, bool *serial, pass_context *c)
{
    bool combined = o->form == RG_FORWARD_VJP || o->form == RG_JVP_FORWARD_VJP;
    bool reverse = combined || o->form == RG_VJP || o->form == RG_JVP_VJP;
    bool forward = o->form >= RG_JVP, plain = o->stage == IR_STAGE_AD && !o->as_compiled;

    /* what needs no order runs in lanes, forward and reverse. The interpreter stays with what was written. */
    if (!plain && PASS_RUN(m, ad_independent, IR_STAGE_SOURCE, c))
        pass_simplify(m, IR_STAGE_SOURCE, c);
    /* what one thread of a GPU does alone is a task, and so are its derivatives */
    if (*serial)
        *serial = PASS_RUN(m, lower_serial, IR_STAGE_SOURCE, c);
    if (*serial)
        pass_simplify(m, IR_STAGE_SOURCE, c);
    /* before derivatives: recording sweep and replay then round alike */
    if (o->contraction)
        PASS_RUN(m, opt_fma, IR_STAGE_AD, c);
    /* short loops are straight code, and local arrays in them scalars, before there are derivatives. The
     * interpreter does without. */
    if (!plain) {
        bool unrolled = false;
        for (unsigned round = 0; round < m->target->unroll_rounds && PASS_RUN(m, opt_unroll, IR_STAGE_SOURCE, c); round++) {
            pass_simplify(m, IR_STAGE_SOURCE, c);
            unrolled = true;
        }
        if (unrolled && PASS_RUN(m, opt_hoist, IR_STAGE_SOURCE, c))
            pass_simplify(m, IR_STAGE_SOURCE, c);
        if (PASS_RUN(m, opt_elements, IR_STAGE_SOURCE, c))
            pass_simplify(m, IR_STAGE_SOURCE, c);
    }
    /* what threads read must not depend on who comes first, whether the load stays or not */
    if (reverse)
        ir_check_crossing(fn, active_with(o, fn->body->nparams, RG_ADJOINT, c->scratch), c->diags);
    /* what an iteration leaves for the next one does not go through memory */
    if (!plain && PASS_RUN(m, opt_carry, IR_STAGE_SOURCE, c))
        pass_simplify(m, IR_STAGE_SOURCE, c);
    /* straight code reads elements again; their values are then recorded once. The interpreter reads what it is told to. */
    if (!plain && PASS_RUN(m, opt_loads, IR_STAGE_SOURCE, c))
        pass_simplify(m, IR_STAGE_SOURCE, c);
    /* lanes that disagree do in common what is the same in both arms of an if */
    if (o->stage != IR_STAGE_AD && PASS_RUN(m, opt_join_arms, IR_STAGE_SOURCE, c))
        pass_simplify(m, IR_STAGE_SOURCE, c);
    /* no reverse sweep is ever reversed: second order is the jvp of a vjp */
    if (reverse)
        fn = reverse_of(fn, o, combined, c);
    if (forward)
        fn = derive(fn, ad_jvp, o, RG_TANGENT, false, "jvp", c);
    /* the derivatives that kernels call themselves, now that no other rule needs to see the calls */
    bool calls = !c->diags->errors && ad_expand_calls(m, false, c);
    if (!c->diags->errors) /* calls that nobody had a use for are gone, too */
        ir_keep_called(m, fn);
    if (calls && !c->diags->errors) {
        ad_drop_planes(fn, o->planes);
        pass_simplify(m, IR_STAGE_AD, c);
        /* they are part of the forward sweep: at every stage they round alike */
        if (o->contraction)
            PASS_RUN(m, opt_fma, IR_STAGE_AD, c);
    }
    fn = several_directions(fn, o, c);
    if (c->diags->errors)
        return NULL;
    if (reverse && o->shared)
        ir_walk(fn->body, make_atomic, NULL);
    /* accesses of derivatives too; what is loaded is no longer decided by differentiation */
    if (o->checked && PASS_RUN(m, check_subscripts, IR_STAGE_AD, c))
        pass_simplify(m, IR_STAGE_AD, c);
    tell_stage(o, "ad", m);
    if (o->stage == IR_STAGE_AD)
        return fn;
    /* a thousand warps that add to one element wait for each other */
    if (m->target->warp && PASS_RUN(m, opt_shared_sums, IR_STAGE_AD, c))
        pass_simplify(m, IR_STAGE_AD, c);
    /* fewer operations from one reversed iteration to the next; a forward kernel's own derivatives are values
     * like any other, the same bits at every stage */
    if (reverse && PASS_RUN(m, ad_recurrence, IR_STAGE_AD, c))
        pass_simplify(m, IR_STAGE_AD, c);
    /* derivatives have multiplications and additions of their own; before the plan, so that they round
     * alike whatever it decides */
    if (o->contraction && (reverse || forward))
        PASS_RUN(m, opt_fma, IR_STAGE_AD, c);
    if (reverse || calls) {
        /* which recalled values are recorded, which computed again */
        PASS_RUN(m, ad_plan, IR_STAGE_AD, c);
        pass_simplify(m, IR_STAGE_AD, c);
        /* loops over blocks of iterations; what they recall is chosen anew, and what other loops do, which now record at the
         * full price */
        if (PASS_RUN(m, ad_blocks, IR_STAGE_AD, c) || m->target->recording_iterations > m->target->recording) {
            PASS_RUN(m, ad_plan, IR_STAGE_AD, c);
            /* what nobody records in the end is computed before a branch that has its own: that one is to stay */
            PASS_RUN(m, opt_dce, IR_STAGE_AD, c);
            pass_simplify(m, IR_STAGE_AD, c);
        }
        PASS_RUN(m, ad_share, IR_STAGE_AD, c);
        if (PASS_RUN(m, ad_hand_back, IR_STAGE_AD, c))
            pass_simplify(m, IR_STAGE_AD, c);
    }
    /* warps are full where rows are short */
    if (m->target->warp)
        PASS_RUN(m, lower_domain, IR_STAGE_AD, c);
    /* what is recalled now is recorded, by each thread or by a group of them */
    if (PASS_RUN(m, lower_lanes, IR_STAGE_AD, c))
        pass_simplify(m, IR_STAGE_AD, c);
    if (reverse || calls)
        tell_stage(o, "plan", m);
    /* frames, cursors, pages */
    PASS_RUN(m, lower_tape, IR_STAGE_TAPE, c);
    /* what records again is cut from the forward sweep: what it has no use for goes */
    if (reverse)
        PASS_RUN(m, opt_dce, IR_STAGE_TAPE, c);
    tell_stage(o, "tape", m);
    if (o->stage == IR_STAGE_TAPE)
        return fn;
    /* local arrays get a place in memory */
    PASS_RUN(m, lower_arrays, IR_STAGE_SLOTS, c);
    /* lanes read rows of memory, not elements that lie apart */
    PASS_RUN(m, lower_rows, IR_STAGE_SLOTS, c);
    /* additions that the code generator will make one of stand side by side */
    PASS_RUN(m, opt_unroll_windows, IR_STAGE_SLOTS, c);
    /* what one machine's memory wants */
    codegen_schedule(m, reverse || calls, c);
    tell_stage(o, "arrays", m);
    if (o->stage == IR_STAGE_SLOTS && !m->target->segments)
        return fn;
    /* blocks that cannot wait for each other run as one grid after the other */
    PASS_RUN(m, lower_segments, IR_STAGE_SEGMENTS, c);
    tell_stage(o, "segments", m);
    return fn;
}

/* Tests and people who look for a fault force a plan; gradients do not change. */
static bool
choose_plan(const char *forced, ad_plan_options *plan, diag_list *diags)
{
    if (!forced || ad_plan_parse(forced, plan))
        return true;
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0},
             "RG_PLAN is \"%s\"\nit takes record, recompute or least, block=N (1 to 256), and drop=N (1 to 65535), separated by commas",
             forced);
    return false;
}

/* The code generator reads it; a word that it does not know must not pass unseen. */
static bool
check_math(const char *asked, diag_list *diags)
{
    if (!asked || strcmp(asked, "own") == 0 || strcmp(asked, "native") == 0)
        return true;
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "RG_MATH is \"%s\"\nit takes own or native", asked);
    return false;
}

/* RG_LANES=1|8|16|32, or warp: as for a GPU, which the interpreter can run; false: it says something else */
static bool
choose_lanes(const char *forced, unsigned *lanes, const target **machine, ir_stage stage, diag_list *diags)
{
    if (!forced)
        return true;
    if (strcmp(forced, "warp") == 0) {
        *machine = stage == IR_STAGE_AD ? &target_nvidia : *machine;
        return true;
    }
    if (strcmp(forced, "1") && strcmp(forced, "8") && strcmp(forced, "16") && strcmp(forced, "32")) {
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "RG_LANES is \"%s\"\nit takes 1, 8, 16, 32 or warp", forced);
        return false;
    }
    *lanes = (unsigned)atoi(forced);
    return true;
}

/* RG_INTERP=tape|slots|segments: the interpreter, which runs what differentiation made, runs what it is lowered to */
static bool
choose_stage(const char *asked, ir_stage *stage, diag_list *diags)
{
    if (!asked || *stage != IR_STAGE_AD)
        return true;
    static const char *const names[] = {"tape", "slots", "segments"};
    for (unsigned i = 0; i < countof(names); i++)
        if (strcmp(asked, names[i]) == 0) {
            *stage = (ir_stage)(IR_STAGE_TAPE + i);
            return true;
        }
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "RG_INTERP is \"%s\"\nit takes tape, slots or segments", asked);
    return false;
}

static void
leave_fpenv(void *callers)
{
    rt_fpenv_leave(*(rt_fpenv *)callers);
}

/* `serial`: whether to make tasks of serial loops; and then, whether there were any */
static ir_module *
make_module(const ir_fn *kernel, const pipeline_options *o, bool *serial, diag_list *diags, ir_fn **fn)
{
    new_module k;
    begin_module(&k, diags);
    k.m->target = o->target;
    k.c.plan = o->plan;
    k.c.planes = o->planes;
    k.c.split = o->form == RG_VJP || o->form == RG_JVP_VJP;
    k.c.lanes = o->lanes;
    k.c.told_lanes = o->told_lanes;
    k.c.told_loop = o->told_loop;
    k.c.user = o->user;
    *fn = run_stages(k.m, ir_fn_clone_with_calls(k.m, kernel, kernel->name), o, serial, &k.c);
    ir_module *m = end_module(&k);
    *fn = m ? *fn : NULL;
    return m;
}

/* For GPUs serial loops become tasks; a derivative that is refused then may be there for the loops as they are. An error
 * of another kind is a fault of ours, which nothing may hide. */
static ir_module *
make_for_gpu(const ir_fn *kernel, const pipeline_options *o, diag_list *diags, ir_fn **fn)
{
    bool serial = true;
    diag_list refused = {.text.in = mem_scratch()};
    ir_module *m = make_module(kernel, o, &serial, &refused, fn);
    if (!m && (!serial || refused.kinds != DIAG_REFUSALS)) {
        diag_join(diags, &refused);
    } else if (!m) {
        serial = false;
        m = make_module(kernel, o, &serial, diags, fn);
    }
    return m;
}

ir_module *
pipeline_run(const ir_fn *kernel, const pipeline_options *options, diag_list *diags, ir_fn **fn)
{
    pipeline_options chosen = *options;
    bool serial = false;
    *fn = NULL;
    chosen.target = chosen.target ? chosen.target : target_host();
    settings asked = settings_read();
    if (!choose_plan(asked.plan, &chosen.plan, diags) ||
        !choose_lanes(asked.lanes, &chosen.lanes, &chosen.target, chosen.stage, diags) ||
        !choose_stage(asked.interp, &chosen.stage, diags) || !check_math(asked.math, diags))
        return NULL;
    mem_owner leaves;
    rt_fpenv callers = rt_fpenv_enter(); /* what is folded now is computed as it would be later */
    mem_own(&leaves, leave_fpenv, &callers);
    ir_module *m = chosen.target->slow_alone ? make_for_gpu(kernel, &chosen, diags, fn)
                                             : make_module(kernel, &chosen, &serial, diags, fn);
    mem_disown(&leaves);
    leave_fpenv(&callers);
    return m;
}
