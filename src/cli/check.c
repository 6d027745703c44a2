/* rgc check: a kernel against itself. SPDX-License-Identifier: Apache-2.0 */
#include "api.h"
#include "check.h"
#include "cli/source.h"

#include <math.h>

static const char help[] =
    "usage: rgc check FILE KERNEL [NAME=VALUE]... [--seed N] [--samples N] [options]\n"
    "\n"
    "Runs a kernel and its derivatives on a device and in the interpreter and compares: the two with\n"
    "each other; vjp with jvp, and the gradient with central differences, both in f64 whatever the\n"
    "kernel's types. Prints the worst relative error of each and where it is.\n"
    "\n"
    "  NAME=VALUE     as for rgc run. Scalars not given: integers are 8, floats come from the "
    "seed;\n"
    "                 arrays not given are filled from the seed; their shapes follow from the "
    "extents,\n"
    "                 an axis that nothing fixes is as long as the largest integer scalar\n"
    "  --seed N       another seed (default 1)\n"
    "  --samples N    components that differences are taken at (default 24)\n"
    "  --device NAME  compared with the interpreter: cpu (default), simt, cuda; interp: no other\n" CLI_SOURCE_HELP "\n"
    "exit code: 0; 1 if a comparison fails or after an error; 2 for wrong usage\n";

enum { DEFAULT_INTEGER = 8, MOST_GUESSED = 1 << 20 };

static bool
is_given(const cli_words *words, rg_str name)
{
    for (size_t i = 0; i < words->n; i++)
        if (strncmp(words->at[i], name.ptr, name.len) == 0 && words->at[i][name.len] == '=')
            return true;
    return false;
}

static int
fill_scalar(cli_arguments *a, uint32_t i, uint64_t *seed)
{
    rg_status status;
    if (a->params[i].dtype >= RG_F16) {
        double v;
        check_fill(RG_F64, &v, 1, 0, seed);
        status = rg_args_set_float_at(a->args, i, v);
    } else {
        status =
            rg_args_set_int_at(a->args, i, a->params[i].dtype == RG_BOOL ? 1 : DEFAULT_INTEGER);
    }
    return status ? cli_fail_api() : CLI_OK;
}

/* Indices that arrays hold then lie inside most arrays. */
static uint64_t
smallest_extent(cli_arguments *a)
{
    uint64_t least = DEFAULT_INTEGER;
    for (uint32_t i = 0; i < a->n; i++) {
        int64_t shape[RG_MAX_RANK];
        if (!a->params[i].array || rg_args_get_shape(a->args, i, shape))
            continue;
        for (uint32_t k = 0; k < a->params[i].rank; k++)
            if (shape[k] > 0 && (uint64_t)shape[k] < least)
                least = (uint64_t)shape[k];
    }
    return least;
}

/* For an axis that nothing fixes: the largest integer among the scalars. */
static int64_t
likely_extent(const cli_arguments *a)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < a->n; i++)
        if (!a->params[i].array && a->params[i].dtype < RG_F16) {
            int64_t v = (int64_t)a->args->slots[i].bits;
            most = v > most && v <= MOST_GUESSED ? v : most;
        }
    return most ? most : DEFAULT_INTEGER;
}

static int
fill_array(cli_arguments *a, uint32_t i, uint64_t below, uint64_t *seed)
{
    rg_array_desc desc = {.dtype = a->params[i].dtype, .rank = a->params[i].rank};
    if (rg_args_get_shape(a->args, i, desc.shape))
        return cli_fail_api();
    for (uint32_t k = 0; k < desc.rank; k++)
        if (desc.shape[k] < 0)
            desc.shape[k] = likely_extent(a);
    rg_array_info info;
    void *data;
    if (rg_array_create(a->context, &desc, &a->arrays[i]) ||
        rg_args_set_array_at(a->args, i, a->arrays[i]) || rg_array_get_info(a->arrays[i], &info) ||
        rg_array_map(a->arrays[i], RG_PRIMAL, true, &data))
        return cli_fail_api();
    check_fill(info.dtype, data, info.count, below, seed);
    rg_array_unmap(a->arrays[i], RG_PRIMAL);
    return CLI_OK;
}

/* Scalars before arrays: shapes follow from them. */
static int
fill_missing(cli_arguments *a, const cli_words *words, uint64_t seed, bool arrays)
{
    uint64_t below = arrays ? smallest_extent(a) : 0;
    int code = CLI_OK;
    for (uint32_t i = 0; i < a->n && !code; i++)
        if (a->params[i].array == arrays && !a->params[i].result &&
            !is_given(words, a->params[i].name))
            code = arrays ? fill_array(a, i, below, &seed) : fill_scalar(a, i, &seed);
    return code;
}

/* What the checks start from: the arguments' contents. */
static int
collect(cli_arguments *a, check_value *values)
{
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->params[i].result)
            continue;
        if (!a->params[i].array) {
            values[i].bits = a->args->slots[i].bits;
            continue;
        }
        rg_array_info info;
        void *data;
        if (rg_array_get_info(a->arrays[i], &info) ||
            rg_array_map(a->arrays[i], RG_PRIMAL, false, &data))
            return cli_fail_api();
        values[i].rank = info.rank;
        memcpy(values[i].shape, info.shape, sizeof(info.shape));
        values[i].data = data;
    }
    return CLI_OK;
}

static int
print_report(const check_report *report)
{
    const check_finding *worst = NULL;
    for (size_t i = 0; i < report->findings.n; i++) {
        const check_finding *f = &report->findings.at[i];
        if (f->skipped) {
            printf("%-40s skipped: %s\n", f->test, f->skipped);
            continue;
        }
        printf("%-40s %s  %.2e (may be %.0e)%s%s\n", f->test, f->failed ? "FAILED" : "ok    ",
               f->error, f->tolerance, f->where[0] ? "  " : "", f->where);
        if (!worst || f->error / f->tolerance > worst->error / worst->tolerance)
            worst = f;
    }
    if (worst && worst->error > 0)
        printf("worst relative error: %.2e, %s: %s\n", worst->error, worst->test, worst->where);
    else if (worst)
        printf("worst relative error: 0\n");
    return report->failed ? CLI_FAILED : CLI_OK;
}

static int
check_arguments(cli_arguments *a, cli_ir *ir, const check_options *options)
{
    check_value *values = mem_zalloc((a->n + 1) * sizeof(*values));
    check_report report = {0};
    int code = collect(a, values);
    if (!code && check_kernel(ir->kernel, values, options, &report, &ir->diags)) {
        code = cli_fail_diags(ir);
    } else if (!code) {
        fputs(ir->diags.text.len ? ir->diags.text.ptr : "", stderr); /* warnings */
        code = print_report(&report);
    }
    check_report_free(&report);
    mem_free(values);
    return code;
}

static int
check(const cli_source *source, const cli_words *positional, const check_options *options)
{
    cli_ir ir = {0};
    cli_words words = {positional->at + 2, positional->n - 2, 0};
    rg_context *context = NULL;
    rg_module *module = NULL;
    rg_kernel *kernel;
    cli_arguments a = {0};
    int code = cli_compile(&ir, source, positional->at[0], positional->at[1]);
    rg_context_desc desc = {.device = RG_STR("interp")};
    if (!code && (rg_context_create(&desc, &context) ||
                  cli_load(context, source, positional->at[0], &module) ||
                  rg_module_get_kernel(module, rg_str_of(positional->at[1]), &kernel)))
        code = cli_fail_api();
    if (!code)
        code = cli_arguments_begin(&a, context, kernel);
    if (!code)
        code = cli_arguments_set_scalars(&a, &cli_check, &words);
    if (!code)
        code = fill_missing(&a, &words, options->seed, false);
    if (!code)
        code = cli_arguments_set(&a, &cli_check, &words);
    if (!code)
        code = fill_missing(&a, &words, options->seed + 1, true);
    if (!code)
        code = check_arguments(&a, &ir, options);
    cli_arguments_free(&a);
    rg_module_destroy(module);
    rg_context_destroy(context);
    cli_ir_free(&ir);
    return code;
}

static int
run(int argc, char **argv)
{
    cli_source source = {0};
    cli_words positional = {0}, seed = {0}, samples = {0}, device = {0};
    const cli_option options[] = {
        {"--seed", false, &seed},
        {"--samples", false, &samples},
        {"--device", false, &device},
        CLI_SOURCE_OPTIONS(source)};
    int code = CLI_USAGE;
    uint64_t n;
    check_options o = {0};
    if (cli_parse(&cli_check, argc, argv, options, countof(options), &positional)) {
        o.contraction = source.contract.n == 0;
        o.device = cli_last(&device, NULL);
        if (positional.n < 2)
            cli_usage_error(&cli_check, "FILE and KERNEL are missing");
        else if (!cli_size(cli_last(&seed, "1"), &o.seed))
            cli_usage_error(&cli_check, "--seed needs a number");
        else if (!cli_size(cli_last(&samples, "24"), &n) || n > 1000000)
            cli_usage_error(&cli_check, "--samples needs a number");
        else {
            o.samples = (uint32_t)n;
            code = check(&source, &positional, &o);
        }
    }
    cli_source_free(&source);
    vec_free(&positional);
    vec_free(&seed);
    vec_free(&samples);
    vec_free(&device);
    return code;
}

const cli_command cli_check = {"check", "compares devices, vjp with jvp, and finite differences",
                               help, run};
