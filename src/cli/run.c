/* rgc run: a kernel on NumPy files. SPDX-License-Identifier: Apache-2.0 */
#include "cli/npz.h"
#include "cli/source.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

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
    "  --device NAME      cpu (default), interp, cuda, or simt (the GPU's code on the host)\n"
    "  --checked          a subscript outside its array's extents is an error: the default on cpu, and\n"
    "                     always so on interp, where now two threads that reach one element, of which\n"
    "                     one writes, not atomically, are one too\n"
    "  --unchecked        no such checks on cpu\n"
    "  --fast-math        cuda: approximate division, roots, sin, exp, ... of float\n"
    "  --threads N        threads of the device\n"
    "  --budget BYTES     what a gradient may record (k, m, g: 1024, 1024^2, 1024^3)\n"
    "  --repeat N         prints median times of N forward launches and of N gradients, without checks\n"
    "                     of subscripts unless --checked is given\n" CLI_SOURCE_HELP "\n"
    "exit code: 0; 1 after an error; 2 for wrong usage\n";

typedef struct run_options {
    cli_source source;
    cli_words positional, vjp, jvp, mode, device, threads, budget, repeat, out, inputs, checked, unchecked, fast_math;
    uint64_t repeats;
    bool split;
    int argc; /* the words after the subcommand */
    char **argv;
} run_options;

/* -- writing results --------------------------------------------------------------------------- */

static int
make_folders(const char *path)
{
    char *copy = mem_alloc(strlen(path) + 1);
    strcpy(copy, path);
    int code = CLI_OK;
    for (char *p = copy + 1;; p++) {
        char c = *p;
        if (c && c != '/')
            continue;
        *p = 0;
        if (mkdir(copy, 0777) && errno != EEXIST) {
            code = cli_fail("%s: %s", copy, strerror(errno));
            break;
        }
        *p = c;
        if (!c)
            break;
    }
    mem_free(copy);
    return code;
}

static int
make_folder_of(const char *path)
{
    str folder = {0};
    const char *slash = strrchr(path, '/');
    if (slash && slash > path)
        str_add(&folder, (rg_str){path, (size_t)(slash - path)});
    int code = folder.len ? make_folders(folder.ptr) : CLI_OK;
    str_free(&folder);
    return code;
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
        const char *p = (const char *)data + i * size;
        int64_t whole = 0;
        float f;
        double d;
        switch (info->dtype) {
        case RG_F16: {
            uint16_t h;
            memcpy(&h, p, 2);
            printf(" %.5g", float_of_half(h));
            break;
        }
        case RG_F32:
            memcpy(&f, p, 4);
            printf(" %.9g", f);
            break;
        case RG_F64:
            memcpy(&d, p, 8);
            printf(" %.17g", d);
            break;
        case RG_I8:
            printf(" %d", *(const int8_t *)p);
            break;
        case RG_I16:
            printf(" %d", (int16_t)((uint8_t)p[0] | (uint8_t)p[1] << 8));
            break;
        case RG_I32: {
            int32_t i32;
            memcpy(&i32, p, 4);
            printf(" %d", i32);
            break;
        }
        case RG_I64:
            memcpy(&whole, p, 8);
            printf(" %lld", (long long)whole);
            break;
        default:
            memcpy(&whole, p, size);
            printf(" %llu", (unsigned long long)whole);
            break;
        }
    }
    printf("%s\n", info->count > 6 ? " ..." : "");
}

/* Where results go: a folder, an archive, or (neither) the standard output. */
typedef struct results {
    const char *folder, *archive;
    npz_writer npz;
} results;

static int
write_file(results *to, const char *name, const rg_array_info *info, const void *data)
{
    str path = {0}, error = {0};
    int code = CLI_OK;
    str_addf(&path, "%s/%s.npy", to->folder, name);
    if (!npy_write(path.ptr, info->dtype, info->rank, info->shape, data, &error))
        code = cli_fail("%s: %s", path.ptr, error.ptr);
    str_free(&error);
    str_free(&path);
    return code;
}

static int
write_plane(results *to, rg_array *array, unsigned plane, rg_str name, const char *suffix)
{
    rg_array_info info;
    if (rg_array_get_info(array, &info))
        return cli_fail_api();
    void *data = mem_alloc(info.bytes + 1);
    int code = rg_array_read(array, plane, data, info.bytes) ? cli_fail_api() : CLI_OK;
    str full = {0};
    str_addf(&full, "%.*s%s", (int)name.len, name.ptr, suffix);
    if (!code && to->folder)
        code = write_file(to, full.ptr, &info, data);
    else if (!code && to->archive)
        npz_add(&to->npz, str_view(&full), info.dtype, info.rank, info.shape, data);
    else if (!code)
        summarize(full.ptr, &info, data);
    str_free(&full);
    mem_free(data);
    return code;
}

static int
write_param(results *to, cli_arguments *a, uint32_t i, const run_options *o)
{
    const rg_param *p = &a->params[i];
    rg_array *array = a->arrays[i];
    if (p->array && !array && rg_args_get_array(a->args, p->name, &array))
        return cli_fail_api();
    bool real = p->dtype >= RG_F16;
    int code = CLI_OK;
    if (p->written)
        code = write_plane(to, array, RG_PRIMAL, p->name, "");
    if (!code && o->jvp.n && p->written && real)
        code = write_plane(to, array, RG_TANGENT, p->name, ".tan");
    if (!code && o->vjp.n && real)
        code = write_plane(to, array, RG_ADJOINT, p->name, ".adj");
    if (!code && o->vjp.n && o->jvp.n && real)
        code = write_plane(to, array, RG_ADJOINT | RG_TANGENT, p->name, ".adj.tan");
    return code;
}

static int
write_results(cli_arguments *a, const run_options *o)
{
    const char *out = cli_last(&o->out, NULL);
    size_t n = out ? strlen(out) : 0;
    bool archive = n > 4 && strcmp(out + n - 4, ".npz") == 0;
    results to = {.folder = archive ? NULL : out, .archive = archive ? out : NULL};
    str error = {0};
    int code = to.folder ? make_folders(to.folder) : archive ? make_folder_of(out) : CLI_OK;
    for (uint32_t i = 0; i < a->n && !code; i++)
        code = write_param(&to, a, i, o);
    if (archive && !npz_finish(&to.npz, out, &error) && !code)
        code = cli_fail("%s: %s", out, error.ptr);
    str_free(&error);
    return code;
}

/* -- launching --------------------------------------------------------------------------------- */

static rg_status
forward(cli_arguments *a, const run_options *o)
{
    return o->jvp.n ? rg_launch_jvp(a->kernel, a->args) : rg_launch(a->kernel, a->args);
}

static rg_status
gradient(cli_arguments *a, const run_options *o)
{
    if (o->split)
        return o->jvp.n ? rg_launch_jvp_vjp(a->kernel, a->args) : rg_launch_vjp(a->kernel, a->args);
    return o->jvp.n ? rg_launch_jvp_forward_vjp(a->kernel, a->args)
                    : rg_launch_forward_vjp(a->kernel, a->args);
}

static int
run_once(cli_arguments *a, const run_options *o)
{
    if ((!o->vjp.n || o->split) && forward(a, o))
        return cli_fail_api();
    if (o->vjp.n && gradient(a, o))
        return cli_fail_api();
    return rg_sync(a->context) ? cli_fail_api() : CLI_OK;
}

/* -- timing: everything that a launch changes is put back in between, untimed ------------------ */

typedef struct saved_plane {
    rg_array *array;
    unsigned plane;
    size_t bytes;
    void *data;
} saved_plane;

typedef vec(saved_plane) saved_planes;

static int
save_planes(cli_arguments *a, saved_planes *out)
{
    for (uint32_t i = 0; i < a->n; i++) {
        rg_array *array = a->arrays[i];
        if (a->params[i].array && !array && rg_args_get_array(a->args, a->params[i].name, &array))
            return cli_fail_api();
        rg_array_info info;
        if (!array)
            continue;
        if (rg_array_get_info(array, &info))
            return cli_fail_api();
        for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++) {
            if (!(info.planes >> plane & 1) || (plane == RG_PRIMAL && !a->params[i].written))
                continue;
            saved_plane s = {array, plane, info.bytes, mem_alloc(info.bytes + 1)};
            vec_push(out, s);
            if (rg_array_read(array, plane, s.data, s.bytes))
                return cli_fail_api();
        }
    }
    return CLI_OK;
}

static int
restore_planes(const saved_planes *saved)
{
    for (size_t i = 0; i < saved->n; i++)
        if (rg_array_write(saved->at[i].array, saved->at[i].plane, saved->at[i].data,
                           saved->at[i].bytes))
            return cli_fail_api();
    return CLI_OK;
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double
now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

typedef rg_status launch_fn(cli_arguments *a, const run_options *o);

/* The first launch, which compiles and touches memory, is not counted. */
static int
median(cli_arguments *a, const run_options *o, launch_fn *launch, const saved_planes *saved,
       double *ms)
{
    double *times = mem_alloc(o->repeats * sizeof(*times));
    int code = CLI_OK;
    for (uint64_t i = 0; i <= o->repeats && !code; i++) {
        double start = now_ms();
        if (launch(a, o) || rg_sync(a->context))
            code = cli_fail_api();
        if (i)
            times[i - 1] = now_ms() - start;
        if (!code)
            code = restore_planes(saved);
    }
    qsort(times, o->repeats, sizeof(*times), compare_doubles);
    *ms = times[o->repeats / 2];
    mem_free(times);
    return code;
}

static rg_status
plain_forward(cli_arguments *a, const run_options *o)
{
    return rg_launch(a->kernel, a->args);
}

static int
time_launches(cli_arguments *a, const run_options *o)
{
    saved_planes saved = {0};
    int code = save_planes(a, &saved);
    double ms = 0, gradient_ms = 0;
    if (!code)
        code = median(a, o, plain_forward, &saved, &ms);
    if (!code)
        printf("forward %.6f ms%s\n", ms, o->checked.n ? "" : ", subscripts not checked");
    if (!code && o->vjp.n && o->split && forward(a, o)) /* what the reverse reads */
        code = cli_fail_api();
    saved_planes before = {0};
    if (!code && o->vjp.n)
        code = save_planes(a, &before);
    if (!code && o->vjp.n)
        code = median(a, o, gradient, &before, &gradient_ms);
    if (!code && o->vjp.n)
        printf("gradient %.6f ms (%.2f x forward)\n", gradient_ms, gradient_ms / ms);
    if (!code)
        code = restore_planes(&saved);
    for (size_t i = 0; i < saved.n; i++)
        mem_free(saved.at[i].data);
    for (size_t i = 0; i < before.n; i++)
        mem_free(before.at[i].data);
    vec_free(&saved);
    vec_free(&before);
    return code;
}

/* -- the command ------------------------------------------------------------------------------- */

/* The second would undo the first without a word. */
static int
refuse_twice(const cli_words *words, const char *option)
{
    for (size_t i = 1; i < words->n; i++)
        for (size_t k = 0; k < i; k++) {
            size_t name = strcspn(words->at[i], "=") + 1;
            if (strncmp(words->at[i], words->at[k], name) == 0)
                return cli_usage_error(&cli_run, "%s is given twice for one parameter: %s and %s", option, words->at[k],
                                       words->at[i]);
        }
    return CLI_OK;
}

static int
prepare_planes(cli_arguments *a, const run_options *o)
{
    int code = refuse_twice(&o->vjp, "--vjp");
    if (!code)
        code = refuse_twice(&o->jvp, "--jvp");
    if (!code && o->vjp.n)
        code = cli_arguments_require(a, RG_ADJOINT);
    if (!code && o->jvp.n)
        code = cli_arguments_require(a, RG_TANGENT);
    if (!code && o->vjp.n && o->jvp.n)
        code = cli_arguments_require(a, RG_ADJOINT | RG_TANGENT);
    for (size_t i = 0; i < o->vjp.n && !code; i++)
        code = cli_arguments_set_plane(a, &cli_run, o->vjp.at[i], RG_ADJOINT);
    for (size_t i = 0; i < o->jvp.n && !code; i++)
        code = cli_arguments_set_plane(a, &cli_run, o->jvp.at[i], RG_TANGENT);
    return code;
}

static int
take_arguments(cli_arguments *a, const run_options *o, const npz *inputs)
{
    cli_words words = {o->positional.at + 2, o->positional.n - 2, 0};
    int code = cli_arguments_take(a, &cli_run, &words);
    cli_arguments_take_inputs(a, inputs);
    cli_warn_unused(a, inputs);
    if (!code)
        code = cli_arguments_set_scalars(a);
    if (!code)
        code = cli_arguments_need_all(a, &cli_run, o->argc, o->argv);
    if (!code)
        code = cli_arguments_set_arrays(a);
    return code;
}

static int
with_kernel(rg_context *context, rg_kernel *kernel, const run_options *o)
{
    cli_arguments a;
    npz inputs = {0};
    int code = cli_arguments_begin(&a, context, kernel);
    if (!code)
        code = cli_read_inputs(&o->inputs, &inputs);
    if (!code)
        code = take_arguments(&a, o, &inputs);
    if (!code)
        code = prepare_planes(&a, o);
    if (!code && o->repeats)
        code = time_launches(&a, o);
    if (!code)
        code = run_once(&a, o);
    if (!code)
        code = write_results(&a, o);
    cli_arguments_free(&a);
    npz_free(&inputs);
    return code;
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
with_options(const run_options *o)
{
    uint64_t budget = 0, threads = 0;
    if (!cli_size(cli_last(&o->budget, "0"), &budget) || (o->budget.n && !budget))
        return cli_usage_error(&cli_run, "--budget needs a number of bytes above 0");
    if (!cli_size(cli_last(&o->threads, "0"), &threads) || threads > RG_MAX_THREADS)
        return cli_usage_error(&cli_run, "--threads needs a number of at most %d", RG_MAX_THREADS);
    rg_context_desc desc = {
        .device = rg_str_of(cli_last(&o->device, "")),
        .tape_budget = budget,
        .num_threads = (uint32_t)threads,
        .no_contraction = o->source.contract.n > 0,
        .checked = is_checked(o),
        .fast_math = o->fast_math.n > 0,
    };
    rg_context *context;
    rg_module *module = NULL;
    rg_kernel *kernel;
    if (rg_context_create(&desc, &context))
        return cli_fail_api();
    int code = CLI_OK;
    if (cli_load(context, &o->source, o->positional.at[0], &module) ||
        rg_module_get_kernel(module, rg_str_of(o->positional.at[1]), &kernel))
        code = cli_fail_api();
    else
        code = with_kernel(context, kernel, o);
    rg_module_destroy(module);
    rg_context_destroy(context);
    return code;
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
        CLI_SOURCE_OPTIONS(o.source),
    };
    int code = CLI_USAGE;
    const char *mode;
    if (!cli_parse(&cli_run, argc, argv, options, countof(options), &o.positional))
        goto done;
    mode = cli_last(&o.mode, "combined");
    o.split = strcmp(mode, "split") == 0;
    if (!cli_names_kernel(&cli_run, &o.source, &o.positional, true))
        code = CLI_USAGE;
    else if (strcmp(cli_last(&o.out, ""), "-") == 0)
        cli_usage_error(&cli_run, "--out names a folder; without it a summary goes to the standard output");
    else if (o.checked.n && o.unchecked.n)
        cli_usage_error(&cli_run, "--checked and --unchecked exclude each other");
    else if (!o.split && strcmp(mode, "combined") != 0)
        cli_usage_error(&cli_run, "--mode is combined or split, not `%s`", mode);
    else if (!cli_size(cli_last(&o.repeat, "0"), &o.repeats) || o.repeats > 1000000000 ||
             (o.repeat.n && !o.repeats))
        cli_usage_error(&cli_run, "--repeat needs a number above 0");
    else
        code = with_options(&o);
done:
    cli_source_free(&o.source);
    cli_words *lists[] = {&o.positional, &o.vjp,    &o.jvp,    &o.mode, &o.device,
                          &o.threads,    &o.budget, &o.repeat, &o.out,  &o.inputs, &o.checked, &o.unchecked, &o.fast_math};
    for (size_t i = 0; i < countof(lists); i++)
        vec_free(lists[i]);
    return code;
}

const cli_command cli_run = {"run", "runs a kernel and its derivatives on NumPy files", help, run};
