/* Groups of threads in compiled code. SPDX-License-Identifier: Apache-2.0
 *
 *   lanes_test FOLDER...       every .rg file in it; see ircase.h
 *
 * What is not lowered yet is lowered first. Each case is compiled for this machine and for others: those that this
 * machine can stand in for run it, the others' code is made and not run. Cases of warps are for GPUs.
 *
 *   ; code N TEXT              LLVM's IR, before its passes, holds TEXT N times */
#include "ircase.h"

#include "diff/ad.h"
#include "codegen/llvm/ll.h"
#include "passes.h"
#include "rt/cpu/cpu.h"

typedef struct machine {
    const char *name;
    ll_options options;
    bool runs;
} machine;

static machine machines[] = {
    {"this machine", {0}, true},
    {"one thread", {.alone = true}, true},
#ifdef __x86_64__
    {"AVX2", {.cpu = "x86-64-v3"}, true},
    {"SSE2", {.cpu = "x86-64"}, true},
#endif
    {"NEON", {.triple = "aarch64-linux-gnu", .cpu = "generic"}, false},
};

static ll_jit *jit;

/* the interpreter alone finds races */
static bool
expects_fault(const ircase *c)
{
    size_t at = 0, len;
    return ircase_line(c, "fault", &at, &len) != NULL;
}

static bool
lower(ircase *c)
{
    if (c->stage <= IR_STAGE_AD)
        verified_pass(c->module, lower_tape, "lower_tape", IR_STAGE_TAPE, &c->diags);
    if (c->stage <= IR_STAGE_TAPE)
        verified_pass(c->module, lower_arrays, "lower_arrays", IR_STAGE_SLOTS, &c->diags);
    return !c->diags.errors;
}

static bool
run(ircase *c, const machine *t, uint32_t threads)
{
    ll_code *code;
    if (ll_compile(jit, c->fn, &t->options, &code, &c->diags) != RG_OK)
        return false;
    bool good = ircase_arguments(c);
    if (good) {
        rt_cpu *cpu = rt_cpu_create(threads, 0);
        c->fault = rt_cpu_launch(cpu, ll_code_entry(code), c->args, NULL);
        rt_cpu_destroy(cpu);
        good = ircase_check(c, t->name);
    }
    ll_code_free(code);
    return good;
}

static bool
make_object(ircase *c, const machine *t)
{
    str object = {0};
    bool good = ll_emit_object((const ir_fn *const[]){c->fn}, &c->fn->name, 1, &t->options, &object, &c->diags) == RG_OK;
    good = good && object.len > 0;
    str_free(&object);
    return good;
}

static unsigned
occurrences(str text, const char *of, size_t len)
{
    unsigned n = 0;
    for (const char *at = text.ptr; at + len <= text.ptr + text.len; at++)
        n += memcmp(at, of, len) == 0;
    return n;
}

static bool
has_code(ircase *c)
{
    const char *want;
    size_t at = 0, len;
    bool good = true;
    while ((want = ircase_line(c, "code", &at, &len))) {
        char *text;
        unsigned long wanted = strtoul(want, &text, 10), found;
        str code = {0};
        if (ll_print(c->fn, &machines[0].options, LL_STAGE_RAW, &code, &c->diags) != RG_OK)
            return false;
        text++; /* the blank */
        found = occurrences(code, text, len - (size_t)(text - want));
        str_free(&code);
        if (found != wanted)
            fprintf(stderr, "%s: the code holds %lu times: %.*s\n", c->path, found, (int)len, want);
        good &= found == wanted;
    }
    return good;
}

static int
run_case(const char *path)
{
    ircase c;
    bool good = ircase_open(&c, path);
    if (good && !expects_fault(&c) && !c.module->target->warp) {
        good = lower(&c) && has_code(&c);
        for (size_t i = 0; good && i < countof(machines); i++)
            good = machines[i].runs ? run(&c, &machines[i], 1) && (machines[i].options.alone || run(&c, &machines[i], 2))
                                   : make_object(&c, &machines[i]);
    }
    if (!good && c.diags.text.len)
        fprintf(stderr, "%s: %s\n", path, c.diags.text.ptr);
    ircase_close(&c);
    return !good;
}

int
main(int argc, char **argv)
{
    diag_list diags = {0};
    int failed = 0;
    if (ll_jit_create(&jit, &diags) != RG_OK) {
        fprintf(stderr, "%s\n", diags.text.ptr);
        return 1;
    }
    for (int k = 1; k < argc; k++)
        failed += ircase_each(argv[k], run_case);
    ll_jit_destroy(jit);
    if (failed)
        fprintf(stderr, "%d failed\n", failed);
    return failed != 0;
}
