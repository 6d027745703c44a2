/* Kernels in segments: the steps of a launch, where values lie, what the verifier refuses. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "passes.h"
#include "segments/segments.h"

static const char loop_text[] =
    "kernel @k(%n: i32, %x: buf<f32,1>) {\n"
    "  %zero: i32 = const 0\n  %one: i32 = const 1\n  %least: f32 = const 1\n  %none: f32 = const 0\n"
    "  %last: f32, %t: i32 = loop (%i: i32 = %zero, %s: f32 = %none) {\n"
    "    %end: bool = ge %i, %n\n"
    "    exit_if %end (%s, %i)\n"
    "    %sum: f32 = parallel (%j: i32) = (%zero) to (%n) reduce (add %none) {\n"
    "      %v: f32 = load %x[%j]\n      yield %v\n    }\n"
    "    %small: bool = lt %sum, %least\n"
    "    %next: f32 = if %small {\n"
    "      parallel (%k: i32) = (%zero) to (%n) {\n        store %x[%k], %least\n        yield\n      }\n"
    "      yield %none\n    } else {\n      yield %s\n    }\n"
    "    %i.1: i32 = add %i, %one\n"
    "    yield %i.1, %next\n  }\n"
    "  store %x[%zero], %last\n  yield\n}\n";

static const char for_text[] =
    "kernel @k(%n: i32, %x: buf<f32,1>) {\n"
    "  %zero: i32 = const 0\n  %one: f32 = const 1\n  %two: i32 = const 2\n"
    "  for %i: i32 = %n to %two step -3 {\n"
    "    parallel (%j: i32) = (%zero) to (%i) {\n      store %x[%j], %one\n      yield\n    }\n"
    "    yield\n  }\n"
    "  yield\n}\n";

/* Each if and exit asks a segment of its own, but for the first exit of a loop that carries the condition. */
static const char asking_text[] =
    "kernel @k(%n: i32, %b: bool, %x: buf<f32,1>) {\n"
    "  %zero: i32 = const 0\n  %one: f32 = const 1\n"
    "  loop (%stop: bool = %b) {\n"
    "    exit_if %stop\n"
    "    if %b {\n"
    "      if %b {\n"
    "        parallel (%j: i32) = (%zero) to (%n) {\n          store %x[%j], %one\n          yield\n        }\n"
    "        yield\n      } else {\n        yield\n      }\n"
    "      yield\n    } else {\n      yield\n    }\n"
    "    exit_if %b\n"
    "    %t: bool = const true\n"
    "    yield %t\n  }\n"
    "  loop {\n"
    "    exit_if %b\n"
    "    parallel (%k: i32) = (%zero) to (%n) {\n      store %x[%k], %one\n      yield\n    }\n"
    "    yield\n  }\n"
    "  yield\n}\n";

/* What only chooses and counts is no segment. */
static const char formula_text[] =
    "kernel @k(%n: i32, %x: buf<f32,1>, %y: buf<f32,1>) {\n"
    "  %zero: i32 = const 0\n  %one: f32 = const 1\n"
    "  for %i: i32 = %zero to %n step 1 {\n"
    "    %m: i32 = mul %n, %i\n"
    "    %z: buf<f32,1> = pick %i, %x, %y\n"
    "    %odd: bool = lt %m, %i\n"
    "    %bound: i32 = if %odd {\n      %less: i32 = sub %m, %i\n      yield %less\n    } else {\n      yield %m\n    }\n"
    "    parallel (%j: i32) = (%zero) to (%bound) {\n      store %z[%j], %one\n      yield\n    }\n"
    "    %half: f32 = div %one, %one\n"
    "    parallel (%k: i32) = (%zero) to (%m) {\n      store %z[%k], %half\n      yield\n    }\n"
    "    yield\n  }\n"
    "  yield\n}\n";

/* What an iteration begins with is done by the segment that decides on it. */
static const char head_text[] =
    "kernel @k(%n: i32, %x: buf<i32,1>, %y: buf<f32,1>) {\n"
    "  %zero: i32 = const 0\n  %one: f32 = const 1\n  %two: i32 = const 2\n"
    "  for %i: i32 = %zero to %n step 1 {\n"
    "    %v: i32 = load %x[%i]\n"
    "    %m: i32 = mul %v, %two\n"
    "    parallel (%j: i32) = (%zero) to (%m) {\n      store %y[%j], %one\n      yield\n    }\n"
    "    store %x[%i], %m\n"
    "    yield\n  }\n"
    "  yield\n}\n";

static ir_module *
parsed(const char *text, ir_stage stage, diag_list *diags)
{
    ir_module *m = ir_parse(rg_str_of(text), "test", diags);
    return m && ir_verify(m, stage, NULL, diags) ? m : NULL;
}

/* "run0 loop exit task1 .. end": the steps, with the step that each goes to */
static void
print_steps(str *out, const segments *s)
{
    static const char *const names[] = {"run", "task", "loop", "exit", "if", "else", "end"};
    for (size_t i = 0; i < s->steps.n; i++) {
        const segments_step *step = &s->steps.at[i];
        bool entry = step->kind == SEGMENTS_RUN || step->kind == SEGMENTS_TASK;
        str_addf(out, "%s%s%u", i ? " " : "", names[step->kind], entry ? step->entry : step->to);
    }
}

static void
check_steps(const char *text, const char *expected)
{
    diag_list diags = {.text.in = mem_scratch()};
    ir_module *m = parsed(text, IR_STAGE_SLOTS, &diags);
    CHECK(m, "%s", diags.text.ptr);
    if (!m)
        return;
    CHECK(verified_pass(m, lower_segments, "lower_segments", IR_STAGE_SEGMENTS, &diags));
    CHECK(!diags.errors, "%s", diags.text.ptr);
    arena *a = arena_new();
    segments s = segments_make(m->first, a);
    str steps = {.in = mem_scratch()};
    str_addz(&steps, "");
    print_steps(&steps, &s);
    CHECK(strcmp(steps.ptr, expected) == 0, "%s", steps.ptr);
    arena_free(a);
    ir_module_free(m);
}

/* Each value that is handed on is written to where it goes, and to its own place. */
static void
check_places(void)
{
    diag_list diags = {.text.in = mem_scratch()};
    ir_module *m = parsed(loop_text, IR_STAGE_SLOTS, &diags);
    arena *a = arena_new();
    verified_pass(m, lower_segments, "lower_segments", IR_STAGE_SEGMENTS, &diags);
    segments s = segments_make(m->first, a);
    const ir_op *loop = m->first->body->first;
    while (loop->code != RG_OP_LOOP)
        loop = loop->next;
    const ir_op *begin = s.entries.at[0];
    uint32_t k = 0, place = 0, n = 0;
    for (; segments_next_place(&s, begin, 0, &k, &place); n++)
        CHECK(place == s.places[(n ? loop->regions[0]->params[0] : begin->results[0])->id], "%u", n);
    CHECK(n == 2, "%u", n);
    /* the only exit gives what the loop carries: it lies there */
    CHECK(s.places[loop->results[0]->id] == s.places[loop->regions[0]->params[1]->id]);
    CHECK(s.places[loop->results[1]->id] == s.places[loop->regions[0]->params[0]->id]);
    CHECK(s.bytes % 16 == 0 && s.bytes >= 8 * SEGMENTS_CELL);
    arena_free(a);
    ir_module_free(m);
}

static void
check_refused(const char *text, const char *why)
{
    diag_list diags = {.text.in = mem_scratch()};
    ir_module *m = ir_parse(rg_str_of(text), "test", &diags);
    CHECK(m, "%s", diags.text.ptr);
    if (!m)
        return;
    CHECK(!ir_verify(m, IR_STAGE_SEGMENTS, NULL, &diags) && strstr(diags.text.ptr, why), "%s: %s", why, diags.text.ptr);
    ir_module_free(m);
}

int
main(void)
{
    check_steps("kernel @k(%x: buf<f32,1>) {\n  yield\n}\n", "");
    check_steps(loop_text, "run0 loop12 exit12 task1 run2 if8 task3 run4 else10 run5 end10 run6 end1 run7");
    check_steps(for_text, "run0 loop5 exit5 task1 run2 end1");
    check_steps(asking_text, "run0 loop13 exit13 run1 if9 run2 if8 task3 end8 end9 run4 exit13 run5 end1 loop18 run6 exit18 task7 end14");
    check_steps(formula_text, "run0 loop7 exit7 task1 run2 task3 run4 end1");
    check_steps(head_text, "run0 loop5 exit5 task1 run2 end1");
    check_places();
    check_refused("kernel @k(%n: i32, %x: buf<i32,1>) {\n  %0: i32 = const 0\n  store %x[%0], %n\n  yield\n}\n", "segment or task");
    check_refused("kernel @k(%x: buf<i32,1>) {\n  %0: i32 = const 0\n  segment {\n    segment {\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
                  "does not stand in a segment");
    check_refused("kernel @k(%n: i32) {\n  %a: i32 = segment {\n    yield\n  }\n  yield\n}\n", "yields its results");
    check_refused("kernel @k(%n: i32, %b: bool) {\n  %c: i32 = segment {\n    yield %n\n  }\n"
                  "  %s: i32 = loop (%i: i32 = %c) {\n    exit_if %b (%c)\n    yield %i\n  }\n  yield\n}\n",
                  "the condition is no result");
    check_refused("kernel @k(%n: i32, %b: bool) {\n  %c: i32, %d: bool = segment {\n    yield %n, %b\n  }\n"
                  "  %s: i32 = loop (%i: i32 = %c) {\n    exit_if %d (%c)\n    yield %i\n  }\n  yield\n}\n",
                  "no result of the segment before it");
    return check_done();
}
