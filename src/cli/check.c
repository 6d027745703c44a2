/* rgc check: a kernel against itself. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "check/check.h"
#include "cli/npz.h"
#include "cli/source.h"

#include <math.h>

static const char help[] =
    "usage: rgc check FILE KERNEL [NAME=VALUE]... [--seed N] [--samples N] [--starts N] [options]\n"
    "\n"
    "Runs a kernel and its derivatives on a device and in the interpreter and compares: the two with\n"
    "each other; what a gradient's or a jvp's launch leaves in arrays with what the forward launch\n"
    "leaves; a split gradient with the combined one; vjp with jvp, and both with central differences,\n"
    "in f64 whatever the kernel's types. Looks for threads that race for an element. Prints the worst\n"
    "relative error of each and where it is, what could not be compared, and what is refused.\n"
    "\n"
    "  NAME=VALUE     as for rgc run. Scalars not given: integers are 8, floats come from the "
    "seed;\n"
    "                 arrays not given are filled from the seed; their shapes follow from the "
    "extents,\n"
    "                 an axis that nothing fixes is as long as the largest integer scalar, and 8,\n"
    "                 64, 512 or 4096 times as long where the kernel leaves it; integers\n"
    "                 lie inside the arrays that they lead to, else below 8\n"
    "  --inputs FILE  FILE.npz: arrays and scalars by parameter name; NAME=VALUE goes before it\n"
    "  --seed N       another seed (default 1)\n"
    "  --samples N    components that differences are taken at, over all starts (default 24)\n"
    "  --starts N     how often to begin anew, with other numbers for what is not given (default 3);\n"
    "                 all but the first have floats of both signs in arrays, and are left out where\n"
    "                 the kernel fails or computes what is not finite\n"
    "  --device NAME  compared with the interpreter: cpu (default), simt, cuda; interp: no other\n" CLI_SOURCE_HELP "\n"
    "exit code: 0 if all is shown; 1 if a comparison fails or after an error; 2 for wrong usage; 3 if\n"
    "nothing fails but not all is shown: numbers that are not finite, a derivative that is refused,\n"
    "nothing to differentiate\n";

enum { MOST_STARTS = 1000, NOT_SHOWN = 3, MOST_STEPS = 1 << 28, LONGER = 8, LONGEST = 4096 };

/* What is not given, at one start. */
typedef struct making {
    cli_arguments *a;
    const cli_words *words;
    const npz *inputs;
    const cli_ir *ir;
    uint64_t seed;
    bool again;     /* not the first start */
    int64_t factor; /* of lengths that nothing fixes */
    bool open;      /* there are such */
} making;

static void
fill_scalar(making *m, uint32_t i)
{
    cli_arguments *a = m->a;
    double v;
    if (a->params[i].dtype >= RG_F16) {
        check_fill(RG_F64, &v, 1, 0, false, &m->seed);
        cli_need(rg_args_set_float_at(a->args, i, v));
    } else {
        cli_need(rg_args_set_int_at(a->args, i, a->params[i].dtype == RG_BOOL ? !m->again : CLI_DEFAULT_INTEGER));
    }
}

/* *guessed: its length is, in part */
static void
make_array(making *m, uint32_t i, bool *guessed)
{
    cli_arguments *a = m->a;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = a->params[i].dtype, .rank = a->params[i].rank);
    cli_need(rg_args_get_shape(a->args, i, desc.shape));
    for (uint32_t k = 0; k < desc.rank; k++)
        if (desc.shape[k] < 0) {
            desc.shape[k] = cli_likely_extent(a) * m->factor;
            m->open = *guessed = true;
        }
    cli_need(rg_array_create(a->queue, &desc, &a->arrays[i]));
    cli_need(rg_args_set_array_at(a->args, i, a->arrays[i]));
}

static void
fill_array(making *m, uint32_t i, uint64_t below)
{
    rg_array_info info = RG_INIT(rg_array_info);
    void *data;
    cli_need(rg_array_get_info(m->a->arrays[i], &info));
    cli_need(rg_array_map(m->a->queue, m->a->arrays[i], RG_PRIMAL, true, &data));
    check_fill(info.dtype, data, info.count, below ? below : CLI_DEFAULT_INTEGER, m->again, &m->seed);
    rg_array_unmap(m->a->arrays[i], RG_PRIMAL);
}

/* A pointer's array is one row to the kernel, whatever its shape. Where a guessed length was too short the integers that lead
 * there stay as small as they were: they may be numbers of rows. */
static void
read_extents(const cli_arguments *a, const bool *guessed, int64_t factor, int64_t (*extents)[RG_MAX_RANK])
{
    for (uint32_t i = 0; i < a->n; i++) {
        rg_array_info info = RG_INIT(rg_array_info);
        if (!a->params[i].array || a->params[i].result)
            continue;
        cli_need(rg_array_get_info(a->arrays[i], &info));
        memcpy(extents[i], info.shape, sizeof(info.shape));
        if (a->params[i].flat)
            extents[i][0] = (int64_t)info.count;
        for (uint32_t k = 0; k < RG_MAX_RANK && guessed[i]; k++)
            extents[i][k] /= factor;
    }
}

static bool
is_missing(const making *m, uint32_t i, bool array)
{
    const rg_param *p = &m->a->params[i];
    return p->array == array && !p->result && !cli_is_given(m->a, i);
}

/* All of them are there before any is filled: integers are to lie inside the arrays that they lead to. */
static void
make_arrays(making *m)
{
    cli_arguments *a = m->a;
    bool *guessed = arena_new_n(mem_scratch(), bool, a->n);
    int64_t(*extents)[RG_MAX_RANK] = arena_alloc(mem_scratch(), a->n * sizeof(*extents));
    uint64_t *below = arena_new_n(mem_scratch(), uint64_t, a->n);
    diag_list diags = {.text.in = mem_scratch()};
    for (uint32_t i = 0; i < a->n; i++)
        if (is_missing(m, i, true))
            make_array(m, i, &guessed[i]);
    read_extents(a, guessed, m->factor, extents);
    /* what does not compile is said later */
    if (check_index_limits(m->ir->kernel, (const int64_t(*)[RG_MAX_RANK])extents, below, &diags))
        memset(below, 0, a->n * sizeof(*below));
    for (uint32_t i = 0; i < a->n; i++)
        if (is_missing(m, i, true))
            fill_array(m, i, below[i]);
}

/* Scalars before arrays: shapes follow from them. */
static void
make_arguments(making *m, rg_queue *queue, rg_kernel *kernel)
{
    cli_arguments *a = m->a;
    cli_arguments_begin(a, queue, kernel);
    cli_arguments_take(a, &cli_check, m->words);
    cli_arguments_take_inputs(a, m->inputs);
    if (!m->again && m->factor == 1)
        cli_warn_unused(a, m->inputs);
    cli_arguments_set_scalars(a);
    for (uint32_t i = 0; i < a->n; i++)
        if (is_missing(m, i, false))
            fill_scalar(m, i);
    cli_arguments_set_arrays(a);
    make_arrays(m);
}

/* What the checks start from: the arguments' contents. */
static check_value *
collect(cli_arguments *a)
{
    check_value *values = arena_new_n(mem_scratch(), check_value, a->n);
    for (uint32_t i = 0; i < a->n; i++) {
        rg_array_info info = RG_INIT(rg_array_info);
        void *data;
        values[i].bits = a->args->slots[i].bits;
        if (a->params[i].result || !a->params[i].array)
            continue;
        cli_need(rg_array_get_info(a->arrays[i], &info));
        cli_need(rg_array_map(a->queue, a->arrays[i], RG_PRIMAL, false, &data));
        values[i].rank = info.rank;
        memcpy(values[i].shape, info.shape, sizeof(info.shape));
        values[i].data = data;
    }
    return values;
}

/* -- the report -------------------------------------------------------------------------------- */

static void
print_finding(const check_finding *f)
{
    static const char *const words[] = {"ok", "left out", "NOT SHOWN", "FAILED"};
    printf("%-45s %-9s", f->test, words[f->outcome]);
    if (f->tolerance > 0)
        printf("  %.2e (may be %.0e)", f->error, f->tolerance);
    if (f->unshown)
        printf("  %llu of %llu not finite", (unsigned long long)f->unshown, (unsigned long long)f->compared);
    if (f->where[0])
        printf("  %s", f->where);
    if (f->note)
        printf("  %s", f->note);
    printf("\n");
}

static int
print_report(const check_report *report)
{
    const check_finding *worst = NULL;
    for (size_t i = 0; i < report->findings.n; i++) {
        const check_finding *f = &report->findings.at[i];
        print_finding(f);
        if (f->tolerance > 0 && (!worst || f->error / f->tolerance > worst->error / worst->tolerance))
            worst = f;
    }
    if (worst && worst->error > 0)
        printf("worst relative error: %.2e, %s: %s\n", worst->error, worst->test, worst->where);
    else if (worst)
        printf("worst relative error: 0\n");
    if (!report->failed && report->not_shown)
        printf("nothing failed, but not all is shown\n");
    return report->failed ? CLI_FAILED : report->not_shown ? NOT_SHOWN : CLI_OK;
}

/* -- all of it --------------------------------------------------------------------------------- */

/* One try with guessed lengths that are `how->factor` times as long; -1: the kernel may have left such arrays, and longer
 * ones are to be tried. */
static int
check_at(cli_ir *ir, making *how, rg_queue *queue, rg_kernel *kernel, const check_options *options, uint32_t n)
{
    cli_arguments *arguments = arena_new_n(mem_scratch(), cli_arguments, n);
    check_start *at = arena_new_n(mem_scratch(), check_start, n);
    check_report report = {0};
    bool open = false;
    int code = -1;
    for (uint32_t k = 0; k < n; k++) {
        making m = *how;
        m.a = &arguments[k];
        m.seed += 7 * k;
        m.again = k > 0;
        make_arguments(&m, queue, kernel);
        open |= m.open;
        at[k] = (check_start){collect(m.a), k ? "a start with both signs" : NULL};
    }
    rg_status status = check_kernel(ir->kernel, at, n, options, &report, &ir->diags);
    if (status == RG_ASSERT && open && how->factor < LONGEST) {
        diag_free(&ir->diags);
    } else if (status) {
        cli_fail_diags(ir);
    } else {
        fputs(ir->diags.text.len ? ir->diags.text.ptr : "", stderr); /* warnings */
        code = print_report(&report);
    }
    check_report_free(&report);
    for (uint32_t k = 0; k < n; k++)
        cli_arguments_free(&arguments[k]);
    return code;
}

static int
run(int argc, char **argv)
{
    cli_source source = {0};
    cli_words positional = {0}, seed = {0}, samples = {0}, starts = {0}, device = {0}, inputs_path = {0};
    const cli_option options[] = {
        {"--seed", false, &seed},
        {"--samples", false, &samples},
        {"--starts", false, &starts},
        {"--device", false, &device},
        {"--inputs", false, &inputs_path},
        CLI_SOURCE_OPTIONS(source)};
    uint64_t n, nstarts;
    check_options o = {.step_limit = MOST_STEPS};
    cli_parse(&cli_check, argc, argv, options, countof(options), &positional);
    cli_names_kernel(&cli_check, &source, &positional, true);
    if (!cli_size(cli_last(&seed, "1"), &o.seed))
        cli_usage_error(&cli_check, "--seed needs a number");
    if (!cli_size(cli_last(&samples, "24"), &n) || n > 1000000)
        cli_usage_error(&cli_check, "--samples needs a number");
    if (!cli_size(cli_last(&starts, "3"), &nstarts) || !nstarts || nstarts > MOST_STARTS)
        cli_usage_error(&cli_check, "--starts needs a number from 1 to %d", MOST_STARTS);
    o.contraction = source.contract.n == 0;
    o.device = cli_last(&device, NULL);
    o.samples = (uint32_t)n;

    cli_ir ir = cli_compile(&source, positional.at[0], positional.at[1]);
    rg_queue *queue = cli_open_queue("interp", NULL);
    rg_module_desc usual = RG_INIT(rg_module_desc);
    rg_kernel *kernel = cli_load(&usual, &source, positional.at[0], positional.at[1]);
    npz inputs = npz_read(cli_last(&inputs_path, NULL));
    cli_words words = {positional.at + 2, positional.n - 2, 0};
    making how = {.words = &words, .inputs = &inputs, .ir = &ir, .seed = o.seed, .factor = 1};
    int code = -1;
    for (; code < 0; how.factor *= LONGER) /* pointers do not say how long their arrays are */
        code = check_at(&ir, &how, queue, kernel, &o, (uint32_t)nstarts);
    ir_module_free(ir.module);
    return code;
}

const cli_command cli_check = {"check", "compares devices, vjp with jvp, and finite differences",
                               help, run};
