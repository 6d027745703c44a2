/* Random kernels (irgen.h) compiled, forward and differentiated, against the interpreter.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   codegen_fuzz [FIRST [COUNT]]      seeds
 *
 * The interpreter runs the form as differentiation left it, the machine code what the whole
 * pipeline made of it, contraction to fma included in both. On one thread and on three. */
#include "irgen.h"

#include "codegen/llvm/ll.h"
#include "pipeline/pipeline.h"
#include "rt/cpu/cpu.h"
#include "rt/interp/interp.h"

#include <math.h>

enum { THREADS = 3, ELEMENTS = 8 * THREADS, BUFFERS = 5 };

static uint64_t seed;
static int failures;
static ll_jit *jit;

typedef struct memory {
    double plane[4][BUFFERS][ELEMENTS];
    int64_t k[8];
} memory;

static double
number(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 11) / 9007199254740992.0 * 2 - 1;
}

static void
fill(memory *m, rt_arg *args)
{
    static const int64_t extents[BUFFERS] = {0, 8, ELEMENTS, 8, 4};
    uint64_t state = seed + 999;
    memset(args, 0, sizeof(rt_arg) * BUFFERS);
    args[0].bits = THREADS;
    for (int b = 1; b < BUFFERS; b++) {
        args[b].extent[0] = extents[b];
        args[b].stride[0] = 1;
        for (int plane = 0; plane < 4; plane++) {
            args[b].plane[plane] = m->plane[plane][b];
            for (int e = 0; e < ELEMENTS; e++)
                m->plane[plane][b][e] = plane < 3 ? number(&state) : 0;
        }
    }
    args[3] = (rt_arg){.extent = {8}, .stride = {1}, .plane = {m->k}};
    for (int e = 0; e < 8; e++)
        m->k[e] = (int64_t)(number(&state) * 20);
}

static bool
same(const memory *a, const memory *b, const char *what)
{
    for (int plane = 0; plane < 4; plane++)
        for (int k = 1; k < BUFFERS; k++)
            for (int e = 0; e < ELEMENTS; e++) {
                double x = a->plane[plane][k][e], y = b->plane[plane][k][e];
                if (x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-9 * (1 + fabs(x)))
                    continue;
                fprintf(stderr,
                        "seed %llu: %s: plane %d of parameter %d, element %d: %.17g, not %.17g\n",
                        (unsigned long long)seed, what, plane, k, e, y, x);
                failures++;
                return false;
            }
    return true;
}

static ir_fn *
make_form(const ir_fn *source, rg_form form, ir_stage stage, ir_module **m)
{
    diag_list diags = {0};
    ir_fn *fn = NULL;
    pipeline_options options = {.form = form, .contraction = true, .stage = stage};
    *m = pipeline_run(source, &options, &diags, &fn);
    if (!*m) {
        fprintf(stderr, "seed %llu: %s: %s\n", (unsigned long long)seed, pipeline_form_name(form),
                diags.text.ptr);
        failures++;
    }
    diag_free(&diags);
    return fn;
}

static void
run_both(const ir_fn *oracle, const ir_fn *fn, const char *what)
{
    diag_list diags = {0};
    ll_options options = {0};
    ll_code *code;
    if (ll_compile(jit, fn, &options, &code, &diags) != RG_OK) {
        fprintf(stderr, "seed %llu: %s: %s\n", (unsigned long long)seed, what, diags.text.ptr);
        failures++;
        diag_free(&diags);
        return;
    }
    memory want, have;
    rt_arg args[BUFFERS];
    interp_options limits = {.step_limit = 20000000};
    interp_report report;
    fill(&want, args);
    bool done = interp_run(oracle, args, &limits, &report) == RT_OK;
    if (!done && !report.out_of_steps) {
        fprintf(stderr, "seed %llu: %s: %s\n", (unsigned long long)seed, what, report.message);
        failures++;
    }
    for (uint32_t threads = 1; done && threads <= THREADS; threads += THREADS - 1) {
        rt_cpu *cpu = rt_cpu_create(threads, 0);
        rt_report result;
        fill(&have, args);
        if (rt_cpu_launch(cpu, ll_code_entry(code), args, &result) != RT_OK) {
            fprintf(stderr, "seed %llu: %s: fault %d\n", (unsigned long long)seed, what,
                    (int)result.fault);
            failures++;
            done = false;
        } else {
            done = same(&want, &have, what);
        }
        rt_cpu_destroy(cpu);
    }
    ll_code_free(code);
}

static void
check_form(const ir_fn *source, rg_form form)
{
    ir_module *a, *b;
    ir_fn *oracle = make_form(source, form, IR_STAGE_AD, &a),
          *fn = make_form(source, form, IR_STAGE_SLOTS, &b);
    if (oracle && fn)
        run_both(oracle, fn, pipeline_form_name(form));
    ir_module_free(a);
    ir_module_free(b);
}

static void
check_seed(void)
{
    static const rg_form forms[] = {RG_FORWARD, RG_FORWARD_VJP, RG_JVP,
                                          RG_JVP_FORWARD_VJP};
    str text = {0};
    diag_list diags = {0};
    irgen_kernel(&text, seed);
    ir_module *m = ir_parse(str_view(&text), "generated", &diags);
    pipeline_options options = {.contraction = true};
    ir_module *source = m ? pipeline_source(m->first, &options, &diags) : NULL;
    if (!source) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, diags.text.ptr);
        failures++;
    }
    for (size_t k = 0; source && k < countof(forms); k++)
        check_form(source->first, forms[k]);
    ir_module_free(source);
    ir_module_free(m);
    diag_free(&diags);
    str_free(&text);
}

int
main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
             count = argc > 2 ? strtoull(argv[2], NULL, 10) : 20;
    diag_list diags = {0};
    if (ll_jit_create(&jit, &diags) != RG_OK) {
        fprintf(stderr, "%s\n", diags.text.ptr);
        return 1;
    }
    for (seed = first; seed < first + count && failures < 20; seed++)
        check_seed();
    ll_jit_destroy(jit);
    diag_free(&diags);
    printf("%llu programs, %d failures\n", (unsigned long long)(seed - first), failures);
    return failures != 0;
}
