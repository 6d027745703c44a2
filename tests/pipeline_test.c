/* For GPUs the pipeline makes tasks of serial loops, and takes them as they are where their derivative is refused else: but it
 * hides no fault of its own. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "pipeline/pipeline.h"

#define SERIAL(update)                                                                                                           \
    "kernel @k(%n: i64, %x: buf<f64,1>, %y: buf<f64,1>) {\n"                                                                     \
    "  %lo: i64 = const 0\n"                                                                                                     \
    "  for %i: i64 = %lo to %n step 1 {\n"                                                                                       \
    "    %a: f64 = load %x[%i]  %b: f64 = load %y[%lo]  %c: f64 = mul %a, %b\n"                                                  \
    "    " update " %y[%lo], %c\n"                                                                                               \
    "    yield\n"                                                                                                                \
    "  }\n"                                                                                                                      \
    "  yield\n"                                                                                                                  \
    "}\n"
static const char product[] = SERIAL("store");
/* in a task of one thread the minimum and the load would meet (E0512) */
static const char least[] = SERIAL("rmw.min");

typedef struct spoiler {
    int tries; /* that are spoilt */
    int seen;
} spoiler;

/* a kernel that ends in nothing, which the verifier finds */
static void
spoil(void *user, const char *stage, const ir_module *m)
{
    spoiler *s = user;
    if (strcmp(stage, "ad") == 0 && s->seen++ < s->tries)
        ir_remove(m->first->body->last);
}

static bool
runs(const char *source, bool gpu, int tries, int seen)
{
    ir_fn *fn;
    diag_list diags = {0};
    spoiler s = {.tries = tries};
    ir_module *m = ir_parse(rg_str_of(source), "k", &diags);
    CHECK(m, "%s", diags.text.ptr);
    pipeline_options o = {.form = RG_FORWARD_VJP, .stage = IR_STAGE_SLOTS, .target = gpu ? &target_nvidia : NULL, .seen = spoil, .user = &s};
    ir_module *made = m ? pipeline_run(m->first, &o, &diags, &fn) : NULL;
    bool ran = made;
    CHECK(ran == !diags.errors && (ran || strstr(diags.text.ptr, "[E02")), "%s", diags.text.len ? diags.text.ptr : "no text");
    CHECK(s.seen == seen, "%d derivatives, not %d", s.seen, seen);
    ir_module_free(made);
    ir_module_free(m);
    diag_free(&diags);
    return ran;
}

int
main(void)
{
    CHECK(runs(product, true, 0, 1) && runs(product, false, 0, 1), "nothing is wrong");
    CHECK(runs(least, true, 0, 1), "the second try is taken");
    CHECK(!runs(product, false, 1, 1), "a fault");
    CHECK(!runs(product, true, 1, 1), "a fault of the first try");
    CHECK(!runs(least, true, 1, 1), "a fault of the second try");
    return check_done();
}
