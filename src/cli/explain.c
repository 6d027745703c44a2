/* rgc explain: the source, annotated with what the gradient makes of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ad/ad.h"
#include "cli/explain.h"
#include "cli/source.h"

static const char help[] =
    "usage: rgc explain FILE KERNEL [--mode combined|split] [--device NAME] [--constant NAME]\n"
    "                   [options]\n"
    "\n"
    "Prints the kernel's source with what its gradient does: how each loop is reversed, which "
    "values\n"
    "are recorded for that (and how many bytes per iteration), which are computed again;\n"
    "how each addition to an adjoint is done: plain, a sum of each worker's own, or atomic;\n"
    "how many threads run side by side in vectors, and what that is estimated to save.\n"
    "\n"
    "  --mode MODE    combined (default): forward and reverse in one launch; split: reverse "
    "only\n"
    "  --device NAME  cpu (default) or interp; cuda or simt: for warps of 32 threads\n" CLI_CONSTANT_HELP CLI_SOURCE_HELP;

/* -- notes: lines of text below lines of source ------------------------------------------------ */

typedef struct note {
    uint32_t line, col;
    char *text;
} note;

typedef struct listing {
    arena *arena;
    uint32_t file; /* the kernel's own */
    vec(note) notes;
    map loops;            /* place of a loop -> loop_facts */
    map forward;          /* place and code of the kernel's ops */
    uint32_t first, last; /* lines that the kernel's ops come from */
} listing;

/* What is known of one loop of the source. */
typedef struct loop_facts {
    ir_loc loc;
    rg_op code;
    bool reversed;  /* some code runs through its iterations backwards */
    bool kept;      /* a parallel loop whose threads' records outlive it */
    bool adjoints;  /* a parallel loop that adds to adjoints itself */
    uint32_t bytes; /* that one iteration records */
    uint32_t group; /* more than 1: so many iterations are recorded as one */
    str recorded;   /* their names */
    str state;            /* names of what recording again starts from; empty: it never does */
    uint32_t state_bytes; /* of its values; arrays not counted */
} loop_facts;

static uint64_t
place_key(ir_loc loc)
{
    return (uint64_t)loc.line << 32 | (uint64_t)(loc.col & 0xffff) << 16 | (loc.inlined & 0xffff);
}

static void
add_note(listing *l, ir_loc loc, const char *format, ...)
{
    if (!loc.line || loc.file != l->file)
        return;
    str text = {0};
    va_list args;
    va_start(args, format);
    str_addv(&text, format, args);
    va_end(args);
    note n = {loc.line, loc.col, (char *)(uintptr_t)arena_str(l->arena, str_view(&text))};
    str_free(&text);
    for (size_t i = 0; i < l->notes.n; i++)
        if (l->notes.at[i].line == n.line && strcmp(l->notes.at[i].text, n.text) == 0)
            return;
    vec_push(&l->notes, n);
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
    listing *l = user;
    if (op->loc.line && op->loc.file == l->file) {
        l->first = op->loc.line < l->first || !l->first ? op->loc.line : l->first;
        l->last = op->loc.line > l->last ? op->loc.line : l->last;
    }
    if (is_loop(op) && op->loc.line && !map_get(&l->loops, place_key(op->loc))) {
        loop_facts *f = arena_one(l->arena, loop_facts);
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

/* plan: which loops are unwound */
static bool
see_plan(ir_op *op, void *user)
{
    listing *l = user;
    loop_facts *f = is_loop(op) ? map_get(&l->loops, place_key(op->loc)) : NULL;
    if (f && op->code == RG_OP_PARALLEL) {
        f->kept = f->kept || op->records;
        f->adjoints = f->adjoints || !ir_walk(op->regions[0], find_adjoint, NULL);
    }
    if (op->code == RG_OP_SNAPSHOT)
        add_note(l, op->loc, "kept whole for the way back, before this loop: %s",
                 op->args[0]->name ? op->args[0]->name : "the array that is picked");
    const ir_op *made = op->code == RG_OP_UNWIND ? op->args[0]->def : NULL;
    if (made && made->code == RG_OP_RECALL)
        made = made->args[0]->def;
    if (made && (f = map_get(&l->loops, place_key(made->loc)))) {
        f->reversed = true;
        f->group = ad_group_size(made);
    }
    return true;
}

static const char *
shown_name(const ir_value *v)
{
    if (v->name)
        return v->name;
    return v->def ? ir_ops[v->def->code].text : "a value";
}

static void
see_push(listing *l, const ir_op *push)
{
    const ir_op *loop = push->parent->op;
    while (loop && !is_loop(loop))
        loop = loop->parent->op;
    loop_facts *f = loop ? map_get(&l->loops, place_key(loop->loc)) : NULL;
    for (uint32_t i = 1; i < push->nargs; i++) {
        const ir_value *v = push->args[i];
        bool place = v->type.kind == IR_CURSOR; /* where what an inner loop or a branch recorded ends */
        unsigned bytes = place ? ir_slot_bytes(v->type)
                               : ir_bytes((rg_dtype)v->type.dtype) * (v->type.length ? v->type.length : 1);
        ir_loc loc = v->def ? v->def->loc : loop ? loop->loc : push->loc;
        if (place)
            add_note(l, loc, "recorded: a place in the tape (%u bytes)", bytes);
        else
            add_note(l, loc, "recorded: %s (%s, %u bytes)", shown_name(v), ir_dtype_name((rg_dtype)v->type.dtype), bytes);
        if (!f)
            continue;
        str_addf(&f->recorded, "%s%s", f->recorded.len ? ", " : "", place ? "a place in the tape" : shown_name(v));
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

/* One note per line for all that is computed again there. */
static void
add_again(listing *l, ir_loc loc, const char *what)
{
    static const char start[] = "computed again on the way back: ";
    for (size_t i = 0; i < l->notes.n; i++) {
        note *n = &l->notes.at[i];
        if (n->line != loc.line || strncmp(n->text, start, strlen(start)) != 0)
            continue;
        const char *there = strstr(n->text + strlen(start), what);
        size_t used = strlen(n->text), more = strlen(what) + 3;
        if (there && (there[-1] == ' ') && strchr(",", there[strlen(what)]))
            return;
        char *longer = arena_alloc(l->arena, used + more);
        snprintf(longer, used + more, "%s, %s", n->text, what);
        n->text = longer;
        return;
    }
    add_note(l, loc, "%s%s", start, what);
}

/* A real operation of the kernel that stands in a reverse loop again. */
static bool
see_again(ir_op *op, void *user)
{
    listing *l = user;
    bool pure = ir_ops[op->code].flags & (IR_PURE | IR_READ) && op->code != RG_OP_CONST;
    bool real = op->nresults && ir_is_float((rg_dtype)op->results[0]->type.dtype);
    if (pure && real && op->plane == RG_PRIMAL && map_get(&l->forward, op_key(op)))
        add_again(l, op->loc, ir_ops[op->code].text);
    return true;
}

/* The state from which a loop records again what it dropped: the values, less the iteration's number. */
static void
see_state(listing *l, const ir_op *thin)
{
    loop_facts *f = map_get(&l->loops, place_key(thin->loc));
    if (!f || f->state.len)
        return;
    for (uint32_t i = 3; i + 1 < thin->nargs; i++) {
        const ir_value *v = thin->args[i];
        bool array = v->type.kind == IR_BUFFER;
        f->state_bytes += array ? 0 : ir_bytes((rg_dtype)v->type.dtype) * (v->type.length ? v->type.length : 1);
        str_addf(&f->state, "%s%s%s", f->state.len ? ", " : "", array ? "array " : "", shown_name(v));
    }
}

static void
note_add(void *user, ir_loc loc, const char *text)
{
    add_note(user, loc, "%s", text);
}

/* tape: what is pushed, and what is done again between pops */
static bool
see_tape(ir_op *op, void *user)
{
    listing *l = user;
    if (op->code == RG_OP_TAPE_BEGIN)
        explain_count(op, &(explain_adds_to){note_add, l});
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
    listing *l = user;
    ir_visit *visit = strcmp(stage, "simplify") == 0 ? see_source
                      : strcmp(stage, "plan") == 0   ? see_plan
                      : strcmp(stage, "tape") == 0   ? see_tape
                                                     : NULL;
    if (!visit)
        return;
    if (visit == see_source) {
        l->file = m->first->loc.file;
        l->first = l->last = m->first->loc.line;
    }
    ir_walk(m->first->body, visit, l);
    if (visit == see_tape)
        explain_adds(m->first, &(explain_adds_to){note_add, l});
}

/* how many threads run side by side, and what was weighed (in operations of one thread, or why not) */
static void
told_lanes(void *user, const ir_op *parallel, unsigned width, double alone, double group, const char *refused)
{
    listing *l = user;
    bool warps = parallel->parent->fn->module->simt;
    if (refused)
        add_note(l, parallel->loc, "threads run one by one%s: %s", warps ? ", a warp for each" : "", refused);
    else if (warps)
        add_note(l, parallel->loc, width > 1 ? "%u threads run side by side, as lanes of a warp" : "%u thread runs, by itself", width);
    else if (width > 1)
        add_note(l, parallel->loc, "%u threads run side by side: about %.0f operations for them, %.0f one by one", width,
                 group, alone);
    else if (group > 0)
        add_note(l, parallel->loc, "threads run one by one: about %.0f operations for as many as side by side take %.0f",
                 alone, group);
    else
        add_note(l, parallel->loc, "threads run one by one, as RG_LANES asks");
}

/* -- printing ---------------------------------------------------------------------------------- */

static void
explain_loop(listing *l, const loop_facts *f)
{
    if (f->code == RG_OP_PARALLEL) {
        const char *way = f->kept ? "its threads' records are kept for a reverse task of its own"
                          : f->adjoints ? "each thread runs forward and then back"
                                        : "no derivative passes through it";
        if (f->bytes)
            add_note(l, f->loc, "parallel: %s; %u bytes per thread (%s)", way, f->bytes,
                     f->recorded.ptr);
        else
            add_note(l, f->loc, "parallel: %s", way);
        return;
    }
    const char *kind =
        f->code == RG_OP_FOR ? "loop, count known on entry" : "loop, count found as it runs";
    if (f->bytes && f->group > 1)
        add_note(l, f->loc, "%s: records %u bytes per %u iterations (%s), which are run again and reversed",
                 kind, f->bytes, f->group, f->recorded.ptr);
    else if (f->bytes)
        add_note(l, f->loc, "%s: records %u bytes per iteration (%s), reversed from that", kind,
                 f->bytes, f->recorded.ptr);
    else if (f->reversed && !f->state.len)
        add_note(l, f->loc, "%s: reversed, nothing recorded", kind);
    else if (f->reversed)
        add_note(l, f->loc, "%s: reversed", kind);
    else
        add_note(l, f->loc, "%s: not reversed, no derivative passes through it", kind);
}

/* what happens where the budget is short */
static void
explain_budget(listing *l, const loop_facts *f)
{
    if (f->state.len)
        add_note(l, f->loc, "in a small budget: chunks of it are dropped and recorded again, each from %u bytes (%s)",
                 f->state_bytes, f->state.ptr);
}

static int
compare_notes(const void *a, const void *b)
{
    const note *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    bool head_x = strncmp(x->text, "parallel", 8) == 0 || strncmp(x->text, "loop", 4) == 0;
    bool head_y = strncmp(y->text, "parallel", 8) == 0 || strncmp(y->text, "loop", 4) == 0;
    if (head_x != head_y)
        return head_x ? -1 : 1;
    return x->col < y->col ? -1 : x->col > y->col;
}

static rg_str
next_line(rg_str *text)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    size_t n = end ? (size_t)(end - text->ptr) : text->len;
    rg_str line = {text->ptr, n};
    size_t skip = n + (end != NULL);
    *text = (rg_str){text->ptr + skip, text->len - skip};
    return line;
}

static void
print_listing(listing *l, rg_str text)
{
    qsort(l->notes.at, l->notes.n, sizeof(note), compare_notes);
    size_t k = 0;
    for (uint32_t line = 1; text.len && line <= l->last; line++) {
        rg_str shown = next_line(&text);
        if (line < l->first)
            continue;
        printf("%5u | %.*s\n", line, (int)shown.len, shown.ptr);
        while (k < l->notes.n && l->notes.at[k].line < line)
            k++;
        for (; k < l->notes.n && l->notes.at[k].line == line; k++) {
            size_t indent = strspn(shown.ptr, " \t");
            printf("      | %.*s^ %s\n", (int)(indent < shown.len ? indent : shown.len), shown.ptr,
                   l->notes.at[k].text);
        }
    }
}

static int
print_explanation(listing *l, cli_ir *ir)
{
    for (size_t i = 0; i < l->loops.cap; i++)
        if (l->loops.values && l->loops.values[i]) {
            loop_facts *f = l->loops.values[i];
            explain_loop(l, f);
            explain_budget(l, f);
            str_free(&f->recorded);
            str_free(&f->state);
        }
    const ir_module *m = ir->module;
    str text = {0};
    rg_str source = {0};
    const char *path = NULL;
    uint32_t file = ir->kernel->loc.file;
    if (file && file < m->files.n) {
        path = m->files.at[file].path;
        source = (rg_str){m->files.at[file].text, m->files.at[file].len};
    }
    if (!source.ptr && path && !file_read(path, &text))
        source = str_view(&text);
    printf("%s: gradient of `%s`\n", path ? path : ir->path, ir->kernel->name);
    if (source.ptr)
        print_listing(l, source);
    for (size_t i = 0; i < l->notes.n && !source.ptr; i++)
        printf("%u: %s\n", l->notes.at[i].line, l->notes.at[i].text);
    str_free(&text);
    return CLI_OK;
}

static int
explain(cli_ir *ir, bool split, bool warps, const cli_words *constant)
{
    listing l = {.arena = arena_new()};
    pipeline_options options = {
        .form = split ? PIPELINE_VJP : PIPELINE_FORWARD_VJP,
        .contraction = ir->contraction,
        .simt = warps,
        .stage = IR_STAGE_TAPE,
        .seen = seen,
        .told_lanes = told_lanes,
        .user = &l,
    };
    ir_fn *fn = NULL;
    ir_module *made = NULL, *source = pipeline_source(ir->kernel, &options, &ir->diags);
    uint8_t *planes = source ? cli_planes(source->first, constant) : NULL;
    options.planes = planes;
    if (planes)
        made = pipeline_run(source->first, &options, &ir->diags, &fn);
    int code = made                ? print_explanation(&l, ir)
               : source && !planes ? CLI_FAILED
                                   : cli_fail_diags(ir);
    mem_free(planes);
    ir_module_free(made);
    ir_module_free(source);
    map_free(&l.loops);
    map_free(&l.forward);
    vec_free(&l.notes);
    arena_free(l.arena);
    return code;
}

static int
run(int argc, char **argv)
{
    cli_source source = {0};
    cli_words positional = {0}, mode = {0}, grad = {0}, constant = {0}, device = {0};
    cli_machine machine;
    /* --grad says what is the default anyway */
    const cli_option options[] = {{"--mode", false, &mode},
                                  {"--grad", true, &grad},
                                  {"--constant", false, &constant},
                                  {"--device", false, &device},
                                  CLI_SOURCE_OPTIONS(source)};
    int code = CLI_USAGE;
    if (cli_parse(&cli_explain, argc, argv, options, countof(options), &positional)) {
        const char *name = cli_last(&mode, "combined");
        bool split = strcmp(name, "split") == 0;
        cli_ir ir = {0};
        if (positional.n != 2)
            cli_usage_error(&cli_explain, "it takes FILE and KERNEL");
        else if (!split && strcmp(name, "combined") != 0)
            cli_usage_error(&cli_explain, "--mode is combined or split, not `%s`", name);
        else if (!(code = cli_find_machine(&cli_explain, &device, NULL, &machine)) &&
                 !(code = cli_compile(&ir, &source, positional.at[0], positional.at[1])))
            code = explain(&ir, split, machine.warps, &constant);
        cli_ir_free(&ir);
    }
    cli_source_free(&source);
    vec_free(&positional);
    vec_free(&mode);
    vec_free(&grad);
    vec_free(&constant);
    vec_free(&device);
    return code;
}

const cli_command cli_explain = {"explain", "annotates the source with how its gradient works",
                                 help, run};
