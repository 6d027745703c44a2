/* rgc run: a kernel on NumPy files. SPDX-License-Identifier: Apache-2.0 */
#include "cli/npz.h"
#include "cli/source.h"

#include <errno.h>
#include <sys/stat.h>

static const char help[] =
    "usage: rgc run FILE KERNEL [NAME=VALUE]... [options]\n"
    "\n"
    "Runs a kernel of a C file (or of IR, FILE.rg), and its derivatives if asked for.\n"
    "\n"
    "  NAME=NUMBER        a scalar, or a field of a struct: p.mass=2\n"
    "  NAME=FILE.npy      an array; dtype and rank must be those of the parameter\n"
    "  NAME=zeros:3,4     an array of zeros (or ones) of that shape; without a shape where the\n"
    "                     parameter's extents follow from the scalars\n"
    "  --inputs F.npz     arrays and scalars by parameter name; NAME=VALUE goes before it\n"
    "  NAME=1,2,3         an array with these elements; NAME=1: with this one\n"
    "  --vjp NAME=F.npy   the adjoint of an output to start from (also zeros, ones); repeatable\n"
    "  --jvp NAME=F.npy   the tangent of an input (also zeros, ones); repeatable; with --vjp: the\n"
    "                     Hessian-vector product\n"
    "  --mode MODE        combined (default): forward and reverse in one launch; split: the "
    "reverse\n"
    "                     after the forward launch\n"
    "  --out DIR          writes there NAME.npy for each array that the kernel writes, NAME.adj.npy,\n"
    "                     NAME.tan.npy, NAME.adj.tan.npy; FILE.npz: the same as one file; without it a\n"
    "                     summary is printed\n"
    "  --device NAME      cpu (default), interp, cuda, amd, vulkan, or simt (GPU code on the host)\n"
    "  --checked          a subscript outside its array's extents is an error: the default on cpu, and\n"
    "                     always so on interp, where now two threads that reach one element, of which\n"
    "                     one writes, not atomically, are one too\n"
    "  --unchecked        no such checks on cpu\n"
    "  --fast-math        GPUs: approximate division, roots, sin, exp, ... of float\n"
    "  --deterministic    the same bits in every run, with any number of threads\n"
    "  --threads N        threads of the device\n"
    "  --budget BYTES     what a gradient may record (k, m, g: 1024, 1024^2, 1024^3)\n"
    "  --repeat N         prints median times of N forward launches and of N gradients, without checks\n"
    "                     of subscripts unless --checked is given\n" CLI_SOURCE_HELP "\n"
    "exit code: 0; 1 after an error; 2 for wrong usage\n";

typedef struct run_options {
    cli_source source;
    cli_words positional, vjp, jvp, mode, device, threads, budget, repeat, out, inputs, checked, unchecked, fast_math, fixed;
    uint64_t repeats;
    bool split;
    int argc; /* the words after the subcommand */
    char **argv;
} run_options;

/* -- writing results --------------------------------------------------------------------------- */

static void
make_folders(rg_str path)
{
    char *copy = (char *)(uintptr_t)arena_str(mem_scratch(), path);
    for (size_t n = 1; n <= path.len; n++) {
        char c = copy[n];
        if (c && c != '/')
            continue;
        copy[n] = 0;
        if (mkdir(copy, 0777) && errno != EEXIST)
            cli_fail("%s: %s", copy, strerror(errno));
        copy[n] = c;
    }
}

static void
summarize(const char *name, const rg_array_info *info, const void *data)
{
    printf("%s: %s[", name, rg_dtype_name(info->dtype));
    for (uint32_t k = 0; k < info->rank; k++)
        printf("%s%lld", k ? "," : "", (long long)info->shape[k]);
    printf("] =");
    size_t size = rg_dtype_size(info->dtype);
    for (size_t i = 0; i < info->count && i < 6; i++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)data + i * size, size); /* little-endian */
        if (ir_is_float(info->dtype))
            printf(" %.*g", info->dtype == RG_F16 ? 5 : info->dtype == RG_F32 ? 9 : 17, ir_bits_float(info->dtype, bits));
        else if (ir_is_signed(info->dtype))
            printf(" %lld", (long long)ir_wrap(info->dtype, bits));
        else
            printf(" %llu", (unsigned long long)bits);
    }
    printf("%s\n", info->count > 6 ? " ..." : "");
}

/* Where results go: a folder, an archive, or (neither) the standard output. */
typedef struct results {
    const char *folder, *archive;
    npz_writer npz;
} results;

static void
write_plane(results *to, rg_queue *queue, rg_array *array, unsigned plane, rg_str name, const char *suffix)
{
    rg_array_info info = RG_INIT(rg_array_info);
    arena_mark mark = arena_here(mem_scratch());
    cli_need(rg_array_get_info(array, &info));
    void *data = arena_raw(mem_scratch(), info.bytes);
    cli_need(rg_array_read(queue, array, plane, data, info.bytes));
    str full = {.in = mem_scratch()}, file = {.in = mem_scratch()}, path = {.in = mem_scratch()};
    str_addf(&full, "%.*s%s", (int)name.len, name.ptr, suffix);
    if (to->folder) {
        str_addf(&path, "%s/%s.npy", to->folder, full.ptr);
        npy_format(&file, info.dtype, info.rank, info.shape, data);
        cli_write_file(path.ptr, str_view(&file));
    } else if (to->archive) {
        npz_add(&to->npz, str_view(&full), info.dtype, info.rank, info.shape, data);
    } else {
        summarize(full.ptr, &info, data);
    }
    if (!to->archive)
        arena_release(mem_scratch(), mark);
}

static void
write_param(results *to, cli_arguments *a, uint32_t i, const run_options *o)
{
    const rg_param *p = &a->params[i];
    rg_array *array = a->arrays[i];
    bool real = p->dtype >= RG_F16;
    if (p->array && !array)
        cli_need(rg_args_get_array(a->args, p->name, &array));
    if (p->written)
        write_plane(to, a->queue, array, RG_PRIMAL, p->name, "");
    if (o->jvp.n && p->written && real)
        write_plane(to, a->queue, array, RG_TANGENT, p->name, ".tan");
    if (o->vjp.n && real)
        write_plane(to, a->queue, array, RG_ADJOINT, p->name, ".adj");
    if (o->vjp.n && o->jvp.n && real)
        write_plane(to, a->queue, array, RG_ADJOINT | RG_TANGENT, p->name, ".adj.tan");
}

static void
write_results(cli_arguments *a, const run_options *o)
{
    const char *out = cli_last(&o->out, NULL), *slash = out ? strrchr(out, '/') : NULL;
    size_t n = out ? strlen(out) : 0;
    bool archive = n > 4 && strcmp(out + n - 4, ".npz") == 0;
    results to = {.folder = archive ? NULL : out, .archive = archive ? out : NULL};
    to.npz.body.in = to.npz.directory.in = mem_scratch();
    if (to.folder)
        make_folders(rg_str_of(out));
    else if (slash && slash > out)
        make_folders((rg_str){out, (size_t)(slash - out)});
    for (uint32_t i = 0; i < a->n; i++)
        write_param(&to, a, i, o);
    if (archive)
        npz_finish(&to.npz, out);
}

/* -- launching --------------------------------------------------------------------------------- */

/* The form that gives what the options ask for; gradient: that with a reverse sweep. */
static rg_form
asked_form(const run_options *o, bool gradient)
{
    if (!gradient)
        return o->jvp.n ? RG_JVP : RG_FORWARD;
    if (o->split)
        return o->jvp.n ? RG_JVP_VJP : RG_VJP;
    return o->jvp.n ? RG_JVP_FORWARD_VJP : RG_FORWARD_VJP;
}

static void
run_once(cli_arguments *a, const run_options *o)
{
    if (!o->vjp.n || o->split)
        cli_need(rg_launch(a->queue, a->args, asked_form(o, false)));
    if (o->vjp.n)
        cli_need(rg_launch(a->queue, a->args, asked_form(o, true)));
    cli_need(rg_queue_sync(a->queue));
}

/* -- timing: everything that a launch changes is put back in between, untimed ------------------ */

typedef struct saved_plane {
    rg_array *array;
    unsigned plane;
    size_t bytes;
    void *data;
} saved_plane;

typedef vec(saved_plane) saved_planes;

static saved_planes
save_planes(cli_arguments *a)
{
    saved_planes out = {.in = mem_scratch()};
    for (uint32_t i = 0; i < a->n; i++) {
        rg_array *array = a->arrays[i];
        rg_array_info info = RG_INIT(rg_array_info);
        if (a->params[i].array && !array)
            cli_need(rg_args_get_array(a->args, a->params[i].name, &array));
        if (!array)
            continue;
        cli_need(rg_array_get_info(array, &info));
        for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++) {
            if (!(info.planes >> plane & 1) || (plane == RG_PRIMAL && !a->params[i].written))
                continue;
            saved_plane s = {array, plane, info.bytes, arena_raw(mem_scratch(), info.bytes)};
            vec_push(&out, s);
            cli_need(rg_array_read(a->queue, array, plane, s.data, s.bytes));
        }
    }
    return out;
}

static void
restore_planes(const cli_arguments *a, const saved_planes *saved)
{
    for (size_t i = 0; i < saved->n; i++)
        cli_need(rg_array_write(a->queue, saved->at[i].array, saved->at[i].plane, saved->at[i].data, saved->at[i].bytes));
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* In ms. The first launch, which compiles and touches memory, is not counted. */
static double
median(cli_arguments *a, uint64_t repeats, rg_form form, const saved_planes *saved)
{
    double *times = arena_new_n(mem_scratch(), double, repeats);
    for (uint64_t i = 0; i <= repeats; i++) {
        double start = clock_ms();
        cli_need(rg_launch(a->queue, a->args, form));
        cli_need(rg_queue_sync(a->queue));
        if (i)
            times[i - 1] = clock_ms() - start;
        restore_planes(a, saved);
    }
    qsort(times, repeats, sizeof(*times), compare_doubles);
    return times[repeats / 2];
}

static void
time_launches(cli_arguments *a, const run_options *o)
{
    saved_planes saved = save_planes(a);
    double ms = median(a, o->repeats, RG_FORWARD, &saved);
    printf("forward %.6f ms%s\n", ms, o->checked.n ? "" : ", subscripts not checked");
    if (o->vjp.n) {
        if (o->split) /* what the reverse reads */
            cli_need(rg_launch(a->queue, a->args, asked_form(o, false)));
        saved_planes before = save_planes(a);
        double gradient_ms = median(a, o->repeats, asked_form(o, true), &before);
        printf("gradient %.6f ms (%.2f x forward)\n", gradient_ms, gradient_ms / ms);
    }
    restore_planes(a, &saved);
}

/* -- the command ------------------------------------------------------------------------------- */

/* The second would undo the first without a word. */
static void
refuse_twice(const cli_words *words, const char *option)
{
    for (size_t i = 1; i < words->n; i++)
        for (size_t k = 0; k < i; k++) {
            size_t name = strcspn(words->at[i], "=") + 1;
            if (strncmp(words->at[i], words->at[k], name) == 0)
                cli_usage_error(&cli_run, "%s is given twice for one parameter: %s and %s", option, words->at[k],
                                words->at[i]);
        }
}

static void
prepare_planes(cli_arguments *a, const run_options *o)
{
    refuse_twice(&o->vjp, "--vjp");
    refuse_twice(&o->jvp, "--jvp");
    if (o->vjp.n)
        cli_arguments_require(a, RG_ADJOINT);
    if (o->jvp.n)
        cli_arguments_require(a, RG_TANGENT);
    if (o->vjp.n && o->jvp.n)
        cli_arguments_require(a, RG_ADJOINT | RG_TANGENT);
    for (size_t i = 0; i < o->vjp.n; i++)
        cli_arguments_set_plane(a, &cli_run, o->vjp.at[i], RG_ADJOINT);
    for (size_t i = 0; i < o->jvp.n; i++)
        cli_arguments_set_plane(a, &cli_run, o->jvp.at[i], RG_TANGENT);
}

static void
run_kernel(rg_queue *queue, rg_kernel *kernel, const run_options *o)
{
    cli_arguments a;
    npz inputs = npz_read(cli_last(&o->inputs, NULL));
    cli_words words = {o->positional.at + 2, o->positional.n - 2, 0};
    cli_arguments_begin(&a, queue, kernel);
    cli_arguments_take(&a, &cli_run, &words);
    cli_arguments_take_inputs(&a, &inputs);
    cli_warn_unused(&a, &inputs);
    cli_arguments_set_scalars(&a);
    cli_arguments_need_all(&a, &cli_run, o->argc, o->argv);
    cli_arguments_set_arrays(&a);
    prepare_planes(&a, o);
    if (o->repeats)
        time_launches(&a, o);
    run_once(&a, o);
    write_results(&a, o);
}

/* Where a wrong subscript would go anywhere, it is looked for unless what counts is time. */
static bool
is_checked(const run_options *o)
{
    const char *device = cli_last(&o->device, "");
    bool cpu = !*device || strcmp(device, "cpu") == 0;
    return o->checked.n || (cpu && !o->unchecked.n && !o->repeats);
}

static int
run(int argc, char **argv)
{
    run_options o = {.argc = argc, .argv = argv};
    const cli_option options[] = {
        {"--vjp", false, &o.vjp},         {"--jvp", false, &o.jvp},
        {"--mode", false, &o.mode},       {"--device", false, &o.device},
        {"--threads", false, &o.threads}, {"--budget", false, &o.budget},
        {"--repeat", false, &o.repeat},   {"--out", false, &o.out},
        {"--checked", true, &o.checked},  {"--unchecked", true, &o.unchecked},
        {"--fast-math", true, &o.fast_math}, {"--inputs", false, &o.inputs},
        {"--deterministic", true, &o.fixed},
        CLI_SOURCE_OPTIONS(o.source),
    };
    uint64_t budget = 0, threads = 0;
    cli_parse(&cli_run, argc, argv, options, countof(options), &o.positional);
    const char *mode = cli_last(&o.mode, "combined");
    o.split = strcmp(mode, "split") == 0;
    cli_names_kernel(&cli_run, &o.source, &o.positional, true);
    if (strcmp(cli_last(&o.out, ""), "-") == 0)
        cli_usage_error(&cli_run, "--out names a folder; without it a summary goes to the standard output");
    if (o.checked.n && o.unchecked.n)
        cli_usage_error(&cli_run, "--checked and --unchecked exclude each other");
    if (!o.split && strcmp(mode, "combined") != 0)
        cli_usage_error(&cli_run, "--mode is combined or split, not `%s`", mode);
    if (!cli_size(cli_last(&o.repeat, "0"), &o.repeats) || o.repeats > 1000000000 || (o.repeat.n && !o.repeats))
        cli_usage_error(&cli_run, "--repeat needs a number above 0");
    if (!cli_size(cli_last(&o.budget, "0"), &budget) || (o.budget.n && !budget))
        cli_usage_error(&cli_run, "--budget needs a number of bytes above 0");
    if (!cli_size(cli_last(&o.threads, "0"), &threads) || threads > RG_MAX_THREADS)
        cli_usage_error(&cli_run, "--threads needs a number of at most %d", RG_MAX_THREADS);
    rg_queue_desc desc = RG_DESC(rg_queue_desc, .tape_budget = budget, .num_threads = (uint32_t)threads);
    rg_module_desc code = RG_DESC(rg_module_desc, .checked = is_checked(&o), .fast_math = o.fast_math.n > 0,
                                  .deterministic = o.fixed.n > 0);
    rg_queue *queue = cli_open_queue(cli_last(&o.device, ""), &desc);
    run_kernel(queue, cli_load(&code, &o.source, o.positional.at[0], o.positional.at[1]), &o);
    return CLI_OK;
}

const cli_command cli_run = {"run", "runs a kernel and its derivatives on NumPy files", help, run};
