/* rgc check: a kernel against itself. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include "cli/npz.h"
#include "cli/source.h"

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
    "  --device NAME  compared with the interpreter: cpu (default), simt, cuda, amd, vulkan; interp: no other\n" CLI_SOURCE_HELP "\n"
    "exit code: 0 if all is shown; 1 if a comparison fails or after an error; 2 for wrong usage; 3 if\n"
    "nothing fails but not all is shown: numbers that are not finite, a derivative that is refused,\n"
    "nothing to differentiate\n";

enum { NOT_SHOWN = 3 };

/* -- the report -------------------------------------------------------------------------------- */

static void
print_finding(const rg_finding *f)
{
    static const char *const words[] = {"ok", "left out", "NOT SHOWN", "FAILED"};
    printf("%-45s %-9s", f->test.ptr, words[f->outcome]);
    if (f->tolerance > 0)
        printf("  %.2e (may be %.0e)", f->error, f->tolerance);
    if (f->unshown)
        printf("  %llu of %llu not finite", (unsigned long long)f->unshown, (unsigned long long)f->compared);
    if (f->where.len)
        printf("  %s", f->where.ptr);
    if (f->note.len)
        printf("  %s", f->note.ptr);
    printf("\n");
}

static int
print_report(const rg_report *report)
{
    rg_report_info info = RG_INIT(rg_report_info);
    rg_finding worst = RG_INIT(rg_finding);
    cli_need(rg_report_get_info(report, &info));
    for (uint32_t i = 0; i < info.findings; i++) {
        rg_finding f = RG_INIT(rg_finding);
        cli_need(rg_report_get_finding(report, i, &f));
        print_finding(&f);
        if (f.tolerance > 0 && (!worst.tolerance || f.error / f.tolerance > worst.error / worst.tolerance))
            worst = f;
    }
    if (worst.tolerance && worst.error > 0)
        printf("worst relative error: %.2e, %s: %s\n", worst.error, worst.test.ptr, worst.where.ptr);
    else if (worst.tolerance)
        printf("worst relative error: 0\n");
    if (info.outcome == RG_CHECK_NOT_SHOWN)
        printf("nothing failed, but not all is shown\n");
    return info.outcome == RG_CHECK_FAILED ? CLI_FAILED : info.outcome == RG_CHECK_NOT_SHOWN ? NOT_SHOWN : CLI_OK;
}

/* -- all of it --------------------------------------------------------------------------------- */

/* Integers that are not given are set as the check would make them up: shapes of arrays that are given follow from them. */
static void
make_arguments(cli_arguments *a, const npz *inputs, const cli_words *words)
{
    cli_arguments_take(a, &cli_check, words);
    cli_arguments_take_inputs(a, inputs);
    cli_warn_unused(a, inputs);
    cli_arguments_set_scalars(a);
    for (uint32_t i = 0; i < a->n; i++)
        if (!cli_is_given(a, i) && !a->params[i].array && a->params[i].dtype > RG_BOOL && a->params[i].dtype < RG_F16)
            cli_need(rg_args_set_int_at(a->args, i, API_DEFAULT_INTEGER));
    cli_arguments_set_arrays(a);
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
    rg_check_desc desc = RG_INIT(rg_check_desc);
    cli_parse(&cli_check, argc, argv, options, countof(options), &positional);
    cli_names_kernel(&cli_check, &source, &positional, true);
    if (!cli_size(cli_last(&seed, "1"), &desc.seed))
        cli_usage_error(&cli_check, "--seed needs a number");
    if (!cli_size(cli_last(&samples, "24"), &n) || n > 1000000)
        cli_usage_error(&cli_check, "--samples needs a number");
    if (!cli_size(cli_last(&starts, "3"), &nstarts) || !nstarts || nstarts > 1000)
        cli_usage_error(&cli_check, "--starts needs a number from 1 to 1000");
    desc.device = rg_str_of(cli_last(&device, NULL));
    desc.samples = (uint32_t)n;
    desc.starts = (uint32_t)nstarts;

    rg_queue *queue = cli_open_queue("interp", NULL);
    rg_module_desc usual = RG_INIT(rg_module_desc);
    rg_kernel *kernel = cli_load(&usual, &source, positional.at[0], positional.at[1]);
    npz inputs = npz_read(cli_last(&inputs_path, NULL));
    cli_words words = {positional.at + 2, positional.n - 2, 0};
    cli_arguments arguments;
    rg_report *report;
    cli_arguments_begin(&arguments, queue, kernel);
    make_arguments(&arguments, &inputs, &words);
    desc.args = arguments.args;
    rg_status status = rg_kernel_check(kernel, &desc, &report);
    if (status == RG_BUDGET)
        fprintf(stderr, "rgc: NAME=VALUE gives an argument instead of a made up one\n");
    cli_need(status);
    int code = print_report(report);
    rg_report_destroy(report);
    cli_arguments_free(&arguments);
    return code;
}

const cli_command cli_check = {"check", "compares devices, vjp with jvp, and finite differences",
                               help, run};
