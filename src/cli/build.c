/* rgc build, rgc grad: kernels compiled ahead of time. SPDX-License-Identifier: Apache-2.0 */
#include "cli/header.h"
#include "cli/source.h"

#include "cli/build_gpu.h"
#if RG_HAVE_LLVM
#include "codegen/llvm/ll.h"
#endif

#define OPTIONS_HELP                                                                               \
    "\n"                                                                                           \
    "  -o FILE           the object file (default KERNEL.o, or KERNEL_grad.o; for GPUs .ptx)\n"    \
    "  --header FILE     the C header (default: the object's name with .h)\n"                      \
    "                    -: the standard output\n"                                                  \
    "  --device NAME     cpu (default); cuda: PTX instead of an object and a header\n"              \
    "  --target TRIPLE   of cpu: another machine, as LLVM names it (default: this one); of cuda:\n" \
    "                    sm_70 (default) to sm_121, which says --device cuda by itself\n"           \
    "  --fast-math       approximate functions of f32 on a GPU\n"                                   \
    "  --cpu NAME        its processor (default: this one's; with --target: generic)\n"            \
    "  --features LIST   of the processor: +avx2,+fma\n" CLI_SOURCE_HELP "\n"                      \
    "Link with the object file, librgrt.a, -fopenmp and -lm: no compiler is needed at run time.\n"

static const char build_help[] =
    "usage: rgc build FILE KERNEL [-o FILE.o] [--header FILE.h] [options]\n"
    "\n"
    "Compiles a kernel to an object file; the header declares KERNEL_forward().\n" OPTIONS_HELP;

static const char grad_help[] =
    "usage: rgc grad FILE KERNEL [-o FILE.o] [--header FILE.h] [options]\n"
    "\n"
    "Compiles a kernel and its gradient to an object file. The header declares KERNEL_forward(),\n"
    "KERNEL_forward_vjp() (both sweeps in one launch) and, where the kernel allows it, "
    "KERNEL_vjp() (the\n"
    "reverse after an earlier forward). Every float parameter takes an adjoint; NULL leaves it "
    "out.\n" OPTIONS_HELP;

enum { FORMS = 3 };

static const struct {
    pipeline_form form;
    const char *suffix, *doc;
} forms[FORMS] = {
    {PIPELINE_FORWARD, "forward", "The kernel itself."},
    {PIPELINE_FORWARD_VJP, "forward_vjp", "The kernel and its reverse sweep in one launch."},
    {PIPELINE_VJP, "vjp", "The reverse sweep after an earlier forward launch."},
};

/* Everything that goes into one object. */
typedef struct product {
    ir_module *source, *modules[FORMS];
    const ir_fn *fns[FORMS];
    const char *names[FORMS];
    header_entry entries[FORMS];
    str symbols[FORMS];
    uint32_t n;
} product;

static void
product_free(product *p)
{
    for (uint32_t i = 0; i < FORMS; i++) {
        ir_module_free(p->modules[i]);
        str_free(&p->symbols[i]);
    }
    ir_module_free(p->source);
}

static int
make_forms(product *p, cli_ir *ir, bool gradient, bool gpu)
{
    pipeline_options options = {.contraction = ir->contraction, .stage = IR_STAGE_SLOTS, .target = gpu ? &target_nvidia : NULL};
    p->source = pipeline_source(ir->kernel, &options, &ir->diags);
    if (!p->source)
        return cli_fail_diags(ir);
    for (int f = 0; f < (gradient ? FORMS : 1); f++) {
        /* the split form is extra: where it is refused the combined one serves */
        diag_list refusal = {0};
        diag_list *diags = forms[f].form == PIPELINE_VJP ? &refusal : &ir->diags;
        uint32_t i = p->n;
        ir_fn *fn;
        options.form = forms[f].form;
        p->modules[i] = pipeline_run(p->source->first, &options, diags, &fn);
        diag_free(&refusal);
        if (!p->modules[i] && forms[f].form == PIPELINE_VJP)
            break;
        if (!p->modules[i])
            return cli_fail_diags(ir);
        /* its own prefix: never a name of the C library */
        str_addf(&p->symbols[i], "rgk_%s_%s", p->source->first->name, forms[f].suffix);
        p->fns[i] = fn;
        p->names[i] = p->symbols[i].ptr;
        p->entries[i] = (header_entry){p->names[i], forms[f].suffix, f > 0, forms[f].doc};
        p->n++;
    }
    return CLI_OK;
}

typedef struct build_options {
    cli_source source;
    cli_words positional, object, header, device, target, cpu, features, fast;
    cli_machine machine;
} build_options;

/* The header passes arrays as C has them, one element behind the other; fields of records are further apart. */
static bool *
dense_arrays(const product *p)
{
    const ir_fn *kernel = p->source->first;
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const ir_op *yield = ir_terminator(p->fns[i]->body);
        uint32_t n = p->fns[i]->body->nparams + (yield ? yield->nargs : 0);
        most = n > most ? n : most;
    }
    bool *dense = mem_zalloc(most + 1);
    for (uint32_t i = 0; i < kernel->body->nparams && i < most; i++)
        dense[i] = !kernel->params[i].record;
    return dense;
}

/* "-": to the standard output. */
static int
write_output(const char *path, const str *data)
{
    bool whole = strcmp(path, "-") == 0 ? fwrite(data->ptr, 1, data->len, stdout) == data->len && fflush(stdout) == 0
                                        : file_write(path, data->ptr, data->len) == RG_OK;
    return whole ? CLI_OK : cli_fail("%s: cannot be written", path);
}

#if RG_HAVE_LLVM
static ll_options
target_options(const build_options *o)
{
    const char *triple = cli_last(&o->target, NULL);
    return (ll_options){
        .triple = triple,
        .cpu = cli_last(&o->cpu, triple ? "generic" : NULL),
        .features = cli_last(&o->features, triple ? "" : NULL),
    };
}

static int
check_target(const build_options *o)
{
    ll_options options = target_options(o);
    str error = {0};
    int code = CLI_OK;
    if ((options.triple || options.cpu || options.features) && !ll_has_target(&options, &error))
        code = cli_fail("%s", error.ptr);
    str_free(&error);
    return code;
}
#else
static int
check_target(const build_options *o)
{
    return CLI_OK;
}
#endif

static int
write_object(const product *p, const build_options *o, cli_ir *ir, const char *path)
{
#if RG_HAVE_LLVM
    bool *dense = dense_arrays(p);
    ll_options options = target_options(o);
    options.contiguous = dense;
    str object = {0};
    int code = CLI_OK;
    if (ll_emit_object(p->fns, p->names, p->n, &options, &object, &ir->diags))
        code = cli_fail_diags(ir);
    else
        code = write_output(path, &object);
    str_free(&object);
    mem_free(dense);
    return code;
#else
    return cli_fail("this build was made without LLVM: it makes no object files");
#endif
}

static int
write_ptx(const product *p, const build_options *o, cli_ir *ir, const char *path)
{
    bool *dense = dense_arrays(p);
    build_gpu made = {.kernel = p->source->first, .fns = p->fns, .names = p->names, .n = p->n, .dense = dense,
                      .gpu = o->machine.gpu, .fast_math = o->fast.n > 0};
    str text = {0};
    int code = CLI_OK;
    if (!build_gpu_text(&made, &text, &ir->diags))
        code = cli_fail_diags(ir);
    else
        code = write_output(path, &text);
    str_free(&text);
    mem_free(dense);
    return code;
}

static int
write_header(const product *p, const char *path)
{
    str text = {0}, error = {0};
    int code = CLI_OK;
    if (!header_write(&text, p->source->first, p->entries, p->n, &error))
        code = cli_fail("%s", error.ptr);
    else
        code = write_output(path, &text);
    str_free(&error);
    str_free(&text);
    return code;
}

/* FILE.o gives FILE.h */
static void
header_beside(str *out, const char *object)
{
    size_t n = strlen(object);
    if (n > 2 && strcmp(object + n - 2, ".o") == 0)
        n -= 2;
    str_addf(out, "%.*s.h", (int)n, object);
}

static int
build(const build_options *o, bool gradient)
{
    const char *kernel = o->positional.at[1];
    str object = {0}, header = {0};
    bool gpu = o->machine.gpu != NULL;
    str_addf(&object, "%s%s.%s", kernel, gradient ? "_grad" : "", gpu ? "ptx" : "o");
    const char *object_path = cli_last(&o->object, object.ptr);
    header_beside(&header, object_path);
    cli_ir ir = {0};
    product p = {0};
    int code = gpu ? CLI_OK : check_target(o);
    if (!code)
        code = cli_compile(&ir, &o->source, o->positional.at[0], kernel);
    if (!code)
        code = make_forms(&p, &ir, gradient, gpu);
    if (!code)
        code = gpu ? write_ptx(&p, o, &ir, object_path) : write_object(&p, o, &ir, object_path);
    if (!code && !gpu)
        code = write_header(&p, cli_last(&o->header, header.ptr));
    product_free(&p);
    cli_ir_free(&ir);
    str_free(&header);
    str_free(&object);
    return code;
}

/* What there is to write, and where. */
static int
check_products(const cli_command *command, const build_options *o)
{
    const char *device = o->machine.device;
    bool gpu = o->machine.gpu != NULL;
    if (o->device.n && (strcmp(device, "interp") == 0 || strcmp(device, "simt") == 0))
        return cli_usage_error(command, "there is nothing to build for --device %s: it is for cpu or cuda", device);
    if (gpu && (o->cpu.n || o->features.n))
        return cli_usage_error(command, "--cpu and --features are for --device cpu; --target chooses the GPU");
    if (!gpu && strcmp(cli_last(&o->object, ""), "-") == 0 && !o->header.n)
        return cli_usage_error(command, "with -o - the header needs a name: --header FILE");
    return CLI_OK;
}

static int
run(const cli_command *command, int argc, char **argv, bool gradient)
{
    build_options o = {0};
    const cli_option options[] = {
        {"-o", false, &o.object},           {"--header", false, &o.header},
        {"--target", false, &o.target},     {"--cpu", false, &o.cpu},
        {"--features", false, &o.features}, {"--fast-math", true, &o.fast},
        {"--device", false, &o.device},     CLI_SOURCE_OPTIONS(o.source),
    };
    int code = CLI_USAGE;
    if (cli_parse(command, argc, argv, options, countof(options), &o.positional)) {
        if (!cli_names_kernel(command, &o.source, &o.positional, false))
            code = CLI_USAGE;
        else if (!(code = cli_find_machine(command, &o.device, &o.target, &o.machine)) &&
                 !(code = check_products(command, &o)))
            code = build(&o, gradient);
    }
    cli_source_free(&o.source);
    cli_words *lists[] = {&o.positional, &o.object, &o.header, &o.device, &o.target, &o.cpu, &o.features, &o.fast};
    for (size_t i = 0; i < countof(lists); i++)
        vec_free(lists[i]);
    return code;
}

static int
run_build(int argc, char **argv)
{
    return run(&cli_build, argc, argv, false);
}

static int
run_grad(int argc, char **argv)
{
    return run(&cli_grad, argc, argv, true);
}

const cli_command cli_build = {"build", "compiles a kernel to an object file and a C header",
                               build_help, run_build};
const cli_command cli_grad = {
    "grad", "compiles a kernel and its gradient to an object and a header", grad_help, run_grad};
