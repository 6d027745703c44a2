/* rgc explain: the source, annotated with what the gradient makes of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "diff/ad.h"
#include "cli/explain.h"
#include "ahead/expression.h"
#include "cli/source.h"
#include "ir/recall.h"

static const char help[] =
    "usage: rgc explain FILE KERNEL [--mode combined|split] [--device NAME] [--constant NAME]\n"
    "                   [options]\n"
    "\n"
    "Prints the kernel's source, and that of the functions it calls, with what its gradient does: how\n"
    "each loop is reversed, what is recorded on the tape for that (and how many bytes per iteration),\n"
    "what is recomputed in the reverse sweep; how each addition to an adjoint is done: plain, a\n"
    "per-thread sum, or atomic; how many iterations run side by side in vectors, and what that is\n"
    "estimated to save. `advice` says what would make it faster.\n"
    "\n"
    "  --mode MODE    combined (default): forward and reverse in one launch; split: reverse "
    "only\n"
    "  --device NAME  cpu (default) or interp; cuda, amd, simt, vulkan: for warps of 32 threads\n" CLI_CONSTANT_HELP CLI_SOURCE_HELP;

/* -- what is known ----------------------------------------------------------------------------- */

/* What is known of one loop of the source. */
typedef struct loop_facts {
    ir_loc loc;
    rg_op code;
    bool reversed;  /* some code runs through its iterations backwards */
    bool kept;      /* a parallel loop whose threads' records outlive it */
    bool adjoints;  /* it reaches adjoints itself: its iterations run forward and in reverse, one after the other */
    uint32_t bytes; /* that one iteration records */
    uint32_t block; /* more than 1: so many iterations are recorded as one */
    str recorded;   /* their names */
    str state;            /* names of what recording again starts from; empty: it never does */
    uint32_t state_bytes; /* of its values; arrays not counted */
    bool state_arrays;
} loop_facts;

typedef struct explanation {
    listing *listing;
    bool gpu;
    uint32_t file; /* the kernel's, as its derivative's module numbers it */
    map loops;   /* place of a loop -> loop_facts */
    map forward; /* place and code of the kernel's ops */
} explanation;

static uint64_t
place_key(ir_loc loc)
{
    uint64_t place = (uint64_t)loc.line << 32 | (uint64_t)(loc.col & 0xffff) << 16 | (loc.inlined & 0xffff);
    return hash_u64(loc.file, place);
}

/* -- what each stage tells --------------------------------------------------------------------- */

static bool
is_loop(const ir_op *op)
{
    return op->code == RG_OP_LOOP || op->code == RG_OP_FOR || op->code == RG_OP_PARALLEL;
}

static uint64_t
op_key(const ir_op *op)
{
    return hash_u64(hash_u64(op->code, place_key(op->loc)), op->loc.end_col);
}

/* simplify: the kernel's loops and operations */
static bool
see_source(ir_op *op, void *user)
{
    explanation *l = user;
    listing_cover(l->listing, op->loc);
    if (is_loop(op) && op->loc.line && !map_get(&l->loops, place_key(op->loc))) {
        loop_facts *f = arena_one(mem_scratch(), loop_facts);
        f->recorded.in = f->state.in = mem_scratch();
        f->loc = op->loc;
        f->code = (rg_op)op->code;
        map_set(&l->loops, place_key(op->loc), f);
    }
    if (op->loc.line)
        map_set(&l->forward, op_key(op), l);
    return true;
}

static bool
find_adjoint(ir_op *op, void *user)
{
    return !(op->plane & RG_ADJOINT);
}

static void
see_reversed(explanation *l, const ir_op *op)
{
    const ir_op *made = ir_trace_maker(op->args[0]);
    loop_facts *f = map_get(&l->loops, place_key(made->loc));
    if (f) {
        f->reversed = true;
        f->block = made->block;
    }
}

/* plan: which loops are unwound; what is not to be seen there any more lower_lanes tells */
static bool
see_plan(ir_op *op, void *user)
{
    explanation *l = user;
    loop_facts *f = is_loop(op) ? map_get(&l->loops, place_key(op->loc)) : NULL;
    if (f) {
        f->kept = f->kept || (op->code == RG_OP_PARALLEL && op->records);
        f->adjoints = f->adjoints || !ir_walk(op->regions[0], find_adjoint, NULL);
    }
    if (op->code == RG_OP_SNAPSHOT)
        listing_note(l->listing, op->loc, "checkpoint before this loop: a copy of %s, for the reverse sweep",
                     op->args[0]->name ? op->args[0]->name : "the array that is picked");
    if (op->code == RG_OP_UNWIND)
        see_reversed(l, op);
    return true;
}

enum { SHORT = 32 };

/* Its name, or the expression that it is if that is short. */
static const char *
shown_name(const ir_value *v)
{
    if (v->name || !v->def)
        return v->name ? v->name : "a value";
    if (v->type.dtype == RG_BOOL)
        return "a condition";
    if (v->def->nregions)
        return "what a branch or loop ends with";
    str text = {.in = mem_scratch()};
    return expression_write(&text, v) && text.len <= SHORT ? text.ptr : ir_ops[v->def->code].text;
}

static void
add_once(str *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list->len ? list->ptr : ""; (at = strstr(at, name)); at++)
        if ((at == list->ptr || at[-1] == ' ') && (at[n] == 0 || at[n] == ','))
            return;
    str_addf(list, "%s%s", list->len ? ", " : "", name);
}

static void
see_push(explanation *l, const ir_op *push)
{
    const ir_op *loop = push->parent->op;
    while (loop && !is_loop(loop))
        loop = loop->parent->op;
    loop_facts *f = loop ? map_get(&l->loops, place_key(loop->loc)) : NULL;
    uint32_t flags = 0;
    for (uint32_t i = 1; i < push->nargs; i++) {
        const ir_value *v = push->args[i];
        bool place = v->type.kind == IR_CURSOR; /* where what an inner loop or a branch recorded ends */
        bool flag = ir_is_flag(v->type); /* eight of them are a byte */
        unsigned bytes = place  ? ir_slot_bytes(v->type)
                         : flag ? flags++ % 8 == 0
                                : ir_bytes((rg_dtype)v->type.dtype) * (v->type.length ? v->type.length : 1);
        ir_loc loc = v->def ? v->def->loc : loop ? loop->loc : push->loc;
        if (place)
            listing_note(l->listing, loc, "on the tape: where a loop or branch inside ends on it (%u bytes)", bytes);
        else
            listing_note(l->listing, loc, "on the tape: %s (%s, %u %s%s)", shown_name(v),
                         ir_dtype_name((rg_dtype)v->type.dtype), flag ? 1 : bytes, flag ? "bit" : "byte",
                         flag || bytes == 1 ? "" : "s");
        if (!f)
            continue;
        add_once(&f->recorded, place ? "a place on the tape" : shown_name(v));
        f->bytes += bytes;
    }
}

static bool
pops_here(const ir_region *r)
{
    ir_for_ops (op, r)
        if (op->code == RG_OP_TAPE_POP)
            return true;
    return false;
}

/* A real operation of the kernel that stands in a reverse loop again. */
static bool
see_again(ir_op *op, void *user)
{
    explanation *l = user;
    bool pure = ir_ops[op->code].flags & (IR_PURE | IR_READ) && op->code != RG_OP_CONST;
    bool real = op->nresults && ir_is_float((rg_dtype)op->results[0]->type.dtype);
    if (pure && real && op->plane == RG_PRIMAL && map_get(&l->forward, op_key(op)))
        listing_note_item(l->listing, op->loc, "recomputed in the reverse sweep: ", ir_ops[op->code].text);
    return true;
}

/* The state from which a loop records again what it dropped: the values, less the iteration's number. */
static void
see_state(explanation *l, const ir_op *thin)
{
    loop_facts *f = map_get(&l->loops, place_key(thin->loc));
    if (!f || f->state.len)
        return;
    for (uint32_t i = 3; i + 1 < thin->nargs; i++) {
        const ir_value *v = thin->args[i];
        bool array = v->type.kind == IR_BUFFER;
        f->state_arrays |= array;
        f->state_bytes += array ? 0 : ir_bytes((rg_dtype)v->type.dtype) * (v->type.length ? v->type.length : 1);
        str_addf(&f->state, "%s%s%s", f->state.len ? ", " : "", array ? "array " : "", shown_name(v));
    }
}

/* tape: what is pushed, and what is done again between pops */
static bool
see_tape(ir_op *op, void *user)
{
    explanation *l = user;
    if (op->code == RG_OP_TAPE_BEGIN)
        explain_count(op, l->listing);
    if (op->code == RG_OP_TAPE_PUSH && !op->again)
        see_push(l, op);
    if (op->code == RG_OP_TAPE_THIN)
        see_state(l, op);
    if (is_loop(op) && op->code != RG_OP_PARALLEL && pops_here(op->regions[0]))
        ir_walk(op->regions[0], see_again, l);
    return true;
}

static void
seen(void *user, const char *stage, const ir_module *m)
{
    explanation *l = user;
    ir_visit *visit = strcmp(stage, "simplify") == 0 ? see_source
                      : strcmp(stage, "plan") == 0   ? see_plan
                      : strcmp(stage, "tape") == 0   ? see_tape
                                                     : NULL;
    if (!visit)
        return;
    listing_files(l->listing, m);
    if (visit == see_source) {
        l->file = m->first->loc.file;
        listing_cover(l->listing, m->first->loc);
        explain_advice(m->first, l->gpu, l->listing);
    }
    ir_walk(m->first->body, visit, l);
    if (visit == see_tape)
        explain_adds(m->first, l->listing);
}

/* how many threads run side by side, and what was weighed (in operations of one thread, or why not) */
static void
told_lanes(void *user, const ir_op *parallel, unsigned width, double alone, double group, const char *refused)
{
    explanation *l = user;
    bool warps = parallel->parent->fn->module->target->warp;
    const char *whose = parallel->rewinds ? "in reverse, " : "";
    if (refused)
        listing_note(l->listing, parallel->loc, "%siterations run one at a time%s: %s", whose, warps ? ", a warp for each" : "",
                     refused);
    else if (warps && width > 1)
        listing_note(l->listing, parallel->loc, "%s%u iterations run side by side, one in each thread of a warp", whose, width);
    else if (warps)
        listing_note(l->listing, parallel->loc, "%siterations run one at a time", whose);
    else if (width > 1)
        listing_note(l->listing, parallel->loc,
                     "%s%u iterations run side by side in the lanes of vectors: about %.0f operations, %.0f one at a time", whose,
                     width, group, alone);
    else if (group > 0)
        listing_note(l->listing, parallel->loc,
                     "%siterations run one at a time: about %.0f operations for as many as in the lanes of vectors take %.0f", whose,
                     alone, group);
    else
        listing_note(l->listing, parallel->loc, "%siterations run one at a time, as RG_LANES asks", whose);
}

/* -- printing ---------------------------------------------------------------------------------- */

static void
explain_parallel(explanation *l, const loop_facts *f)
{
    const char *way = f->kept       ? "what its threads record stays on the tape until a loop of its own runs in reverse"
                      : f->adjoints ? "each thread runs its iterations forward, then in reverse"
                                    : "not reversed, no derivative passes through it";
    if (f->bytes)
        listing_note(l->listing, f->loc, "parallel loop: %s; %u bytes per iteration (%s)", way, f->bytes, f->recorded.ptr);
    else
        listing_note(l->listing, f->loc, "parallel loop: %s", way);
}

static void
explain_loop(explanation *l, const loop_facts *f)
{
    const char *kind = f->code == RG_OP_FOR ? "loop, trip count known on entry" : "loop, trip count found as it runs";
    if (f->code == RG_OP_PARALLEL)
        explain_parallel(l, f);
    else if (f->bytes && f->block > 1)
        listing_note(l->listing, f->loc,
                     "%s: records %u bytes per %u iterations (%s); the reverse sweep runs these again and reverses them", kind,
                     f->bytes, f->block, f->recorded.ptr);
    else if (f->bytes)
        listing_note(l->listing, f->loc, "%s: records %u bytes per iteration (%s), which the reverse sweep reads", kind, f->bytes,
                     f->recorded.ptr);
    else if (f->reversed && !f->state.len)
        listing_note(l->listing, f->loc, "%s: reversed, nothing recorded", kind);
    else if (f->reversed)
        listing_note(l->listing, f->loc, "%s: reversed", kind);
    else if (f->adjoints)
        listing_note(l->listing, f->loc, "%s: each iteration runs forward, then in reverse", kind);
    else
        listing_note(l->listing, f->loc, "%s: not reversed, no derivative passes through it", kind);
}

/* how a group of threads runs a loop, and what keeps its iterations in order */
static void
told_loop(void *user, const ir_op *loop, unsigned width, pass_loop_way way, const ir_value *carried)
{
    explanation *l = user;
    if (loop->code == RG_OP_UNWIND)
        see_reversed(l, loop);
    const char *whose = loop->code == RG_OP_UNWIND ? "in reverse, " : "";
    str chain = {.in = mem_scratch()};
    if (carried)
        str_addf(&chain, ", in order: %s goes from one to the next", carried->name ? carried->name : "what is carried");
    if (way == PASS_BY_ITSELF)
        listing_note(l->listing, loop->loc, "%siterations of this loop itself run in vectors: nothing but sums goes from one to the next",
                     whose);
    else if (way == PASS_BY_ROWS)
        listing_note(l->listing, loop->loc, "%sits rows of memory, one for each lane, are loaded and stored %u iterations at a time%s",
                     whose, width, carried ? chain.ptr : "");
}

/* what happens where the budget is short */
static void
explain_budget(explanation *l, const loop_facts *f)
{
    if (f->state.len)
        listing_note(l->listing, f->loc,
                     "if the tape exceeds its budget: checkpoints of %u bytes%s (%s), from which iterations are recorded again",
                     f->state_bytes, f->state_arrays ? " and arrays" : "", f->state.ptr);
}

/* Whether there is a reverse sweep alone, after an earlier forward launch. */
static void
print_split(const ir_fn *source, const pipeline_options *combined)
{
    pipeline_options options = *combined;
    diag_list diags = {.text.in = mem_scratch()};
    ir_fn *fn = NULL;
    options.form = RG_VJP;
    options.seen = NULL;
    options.told_lanes = NULL;
    options.told_loop = NULL;
    ir_module *made = pipeline_run(source, &options, &diags, &fn);
    if (made)
        printf("a reverse sweep alone, after an earlier forward launch (--mode split): possible\n");
    else
        printf("a reverse sweep alone, after an earlier forward launch (--mode split): refused: %.*s\n",
               (int)strcspn(diags.text.ptr, "\n"), diags.text.ptr);
    ir_module_free(made);
}

static void
explain(cli_ir *ir, bool split, const target *machine, const cli_words *constant)
{
    explanation l = {
        .listing = listing_new(), .gpu = machine != NULL, .loops.in = mem_scratch(), .forward.in = mem_scratch()};
    pipeline_options options = {
        .form = split ? RG_VJP : RG_FORWARD_VJP,
        .contraction = ir->contraction,
        .target = machine,
        .stage = IR_STAGE_TAPE,
        .seen = seen,
        .told_lanes = told_lanes,
        .told_loop = told_loop,
        .user = &l,
    };
    ir_fn *fn = NULL;
    ir_module *source = pipeline_source(ir->kernel, &options, &ir->diags);
    if (source)
        options.planes = cli_planes(source->first, constant);
    ir_module *made = source ? pipeline_run(source->first, &options, &ir->diags, &fn) : NULL;
    if (!made)
        cli_fail_diags(ir);
    for (size_t i = 0; i < l.loops.cap; i++)
        if (l.loops.values && l.loops.values[i]) {
            loop_facts *f = l.loops.values[i];
            explain_loop(&l, f);
            explain_budget(&l, f);
        }
    const ir_module *m = ir->module;
    uint32_t file = ir->kernel->loc.file;
    const char *path = file < m->files.n ? m->files.at[file].path : NULL;
    printf("%s: gradient of `%s`\n", path ? path : ir->path, ir->kernel->name);
    listing_print(l.listing, l.file);
    if (!split)
        print_split(source->first, &options);
    ir_module_free(made);
    ir_module_free(source);
    ir_module_free(ir->module);
}

static int
run(int argc, char **argv)
{
    cli_source source = {0};
    cli_words positional = {0}, mode = {0}, grad = {0}, constant = {0}, device = {0};
    /* --grad says what is the default anyway */
    const cli_option options[] = {{"--mode", false, &mode},
                                  {"--grad", true, &grad},
                                  {"--constant", false, &constant},
                                  {"--device", false, &device},
                                  CLI_SOURCE_OPTIONS(source)};
    cli_parse(&cli_explain, argc, argv, options, countof(options), &positional);
    const char *name = cli_last(&mode, "combined");
    bool split = strcmp(name, "split") == 0;
    cli_names_kernel(&cli_explain, &source, &positional, false);
    if (!split && strcmp(name, "combined") != 0)
        cli_usage_error(&cli_explain, "--mode is combined or split, not `%s`", name);
    cli_machine machine = cli_find_machine(&cli_explain, &device, NULL);
    cli_ir ir = cli_compile(&source, positional.at[0], positional.at[1]);
    explain(&ir, split, machine.target, &constant);
    return CLI_OK;
}

const cli_command cli_explain = {"explain", "annotates the source with how its gradient works",
                                 help, run};
