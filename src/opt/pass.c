/* Running passes: printing, verifying, timing, repeating. SPDX-License-Identifier: Apache-2.0 */
#include "opt/pass.h"


static void
debug_help(const settings *asked)
{
    static bool shown;
    if (shown || !asked->help)
        return;
    shown = true;
    settings_debug_help();
    fprintf(stderr, "passes:\n");
#define PASS(name, stage, doc) fprintf(stderr, "  %-14s %s\n", #name, doc);
#include "opt/pass.def"
#undef PASS
}

static void
print_to_stderr(const ir_module *m, const char *when, const char *name)
{
    str text = {0};
    ir_print_module(&text, m);
    fprintf(stderr, "; ---- %s %s\n%s", when, name, text.ptr ? text.ptr : "");
    str_free(&text);
}

void
pass_context_init(pass_context *c, diag_list *diags)
{
    *c = (pass_context){.scratch = arena_new(), .diags = diags, .settings = settings_read()};
    mem_own(&c->owns, mem_release_arena, c->scratch);
}

void
pass_context_finish(pass_context *c)
{
    mem_disown(&c->owns);
    arena_free(c->scratch);
}

bool
pass_run(ir_module *m, pass_fn *fn, const char *name, ir_stage stage, pass_context *c)
{
    debug_help(&c->settings);
    /* broken IR would only lead to errors about what is not wrong */
    if (c->diags->errors)
        return false;
    const char *print = c->settings.print;
    double start = clock_ms();
    if (settings_names(print, name))
        print_to_stderr(m, "before", name);
    arena_mark scratch = arena_here(c->scratch);
    bool changed = fn(m, c);
    arena_release(c->scratch, scratch);
    if (c->settings.time)
        fprintf(stderr, "; %8.3f ms %s\n", clock_ms() - start, name);
    if (settings_names(print, name) || (changed && print && !*print))
        print_to_stderr(m, "after", name);
    if (changed || c->settings.verify)
        ir_verify(m, stage, name, c->diags);
    return changed;
}

static void
widen_focus(void *user)
{
    pass_focus *f = user;
    ir_module *m = f->fn->module;
    f->fn->next = f->next;
    m->first = f->first;
    m->last = f->last;
}

void
pass_focus_on(pass_focus *f, ir_fn *fn)
{
    ir_module *m = fn->module;
    *f = (pass_focus){.fn = fn, .first = m->first, .last = m->last, .next = fn->next};
    m->first = m->last = fn;
    fn->next = NULL;
    mem_own(&f->owns, widen_focus, f);
}

void
pass_focus_end(pass_focus *f)
{
    assert(f->fn->module->last == f->fn && "passes make no functions");
    mem_disown(&f->owns);
    widen_focus(f);
}

enum { ROUNDS = 12 };

bool
pass_simplify(ir_module *m, ir_stage stage, pass_context *c)
{
    long left = c->settings.stop;
    bool any = false;
    for (int round = 0; round < ROUNDS; round++) {
        bool changed = false;
        unsigned errors = c->diags->errors;
#define STEP(pass)                                                                                 \
    if (left != 0) {                                                                               \
        changed |= PASS_RUN(m, pass, stage, c);                                                    \
        left -= left > 0;                                                                          \
    }
        STEP(opt_fold)
        STEP(opt_cse)
        STEP(opt_dce)
        STEP(opt_count)
        STEP(opt_induction)
#undef STEP
        any |= changed;
        if (!changed || c->diags->errors > errors)
            break;
    }
    return any;
}
