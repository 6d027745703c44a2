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
    "Link with the object file, librgrt.a, -pthread and -lm: no compiler is needed at run time.\n"

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
    "reverse after an earlier forward) and KERNEL_jvp() (with tangents). Every float parameter takes an\n"
    "adjoint, or a tangent; NULL leaves it out.\n" OPTIONS_HELP;

enum { FORMS = 4 };

static const struct {
    rg_form form;
    const char *suffix, *doc;
} forms[FORMS] = {
    {RG_FORWARD, "forward", "The kernel itself."},
    {RG_FORWARD_VJP, "forward_vjp", "The kernel and its reverse sweep in one launch."},
    {RG_VJP, "vjp", "The reverse sweep after an earlier forward launch."},
    {RG_JVP, "jvp", "The kernel and the tangents of what it writes."},
};

/* Everything that goes into one object. */
typedef struct product {
    ir_module *source, *modules[FORMS];
    const ir_fn *fns[FORMS];
    const char *names[FORMS];
    header_entry entries[FORMS];
    uint32_t n;
    bool *dense; /* by parameter: its elements lie as C has them; fields of records are further apart */
} product;

static void
make_forms(product *p, cli_ir *ir, bool gradient, const target *machine)
{
    pipeline_options options = {.contraction = ir->contraction, .stage = IR_STAGE_SLOTS, .target = machine};
    uint32_t most = 0;
    p->source = pipeline_source(ir->kernel, &options, &ir->diags);
    if (!p->source)
        cli_fail_diags(ir);
    const ir_fn *kernel = p->source->first;
    for (int f = 0; f < (gradient ? FORMS : 1); f++) {
        /* what is refused is left out, but for the gradient in one launch */
        bool extra = forms[f].form == RG_VJP || forms[f].form == RG_JVP;
        diag_list refusal = {.text.in = mem_scratch()};
        uint32_t i = p->n;
        ir_fn *fn;
        options.form = forms[f].form;
        p->modules[i] = pipeline_run(kernel, &options, extra ? &refusal : &ir->diags, &fn);
        if (!p->modules[i] && extra)
            continue;
        if (!p->modules[i])
            cli_fail_diags(ir);
        str symbol = {.in = mem_scratch()}; /* its own prefix: never a name of the C library */
        str_addf(&symbol, "rgk_%s_%s", kernel->name, forms[f].suffix);
        const ir_op *yield = ir_terminator(fn->body);
        uint32_t n = fn->body->nparams + (yield ? yield->nargs : 0);
        most = n > most ? n : most;
        p->fns[i] = fn;
        p->names[i] = symbol.ptr;
        p->entries[i] = (header_entry){p->names[i], forms[f].suffix, f == 0 ? 0 : forms[f].form == RG_JVP ? RG_TANGENT : RG_ADJOINT, forms[f].doc};
        p->n++;
    }
    p->dense = arena_new_n(mem_scratch(), bool, most);
    for (uint32_t i = 0; i < kernel->body->nparams && i < most; i++)
        p->dense[i] = !kernel->params[i].record;
}

typedef struct build_options {
    cli_source source;
    cli_words positional, object, header, device, target, cpu, features, fast;
    cli_machine machine;
} build_options;

/* "-": to the standard output. */
static void
write_output(const char *path, const str *data)
{
    if (strcmp(path, "-") != 0)
        cli_write_file(path, str_view(data));
    else if (fwrite(data->ptr, 1, data->len, stdout) != data->len || fflush(stdout) != 0)
        cli_fail("%s: cannot be written", path);
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
#endif

/* NULL: this machine's */
static const target *
named_machine(const build_options *o)
{
    const char *triple = cli_last(&o->target, NULL), *cpu = cli_last(&o->cpu, NULL);
    return triple || cpu ? target_named(triple, cpu) : NULL;
}

static void
check_target(const build_options *o)
{
#if RG_HAVE_LLVM
    ll_options options = target_options(o);
    str error = {.in = mem_scratch()};
    if ((options.triple || options.cpu || options.features) && !ll_has_target(&options, &error))
        cli_fail("%s", error.ptr);
#endif
}

#if RG_HAVE_LLVM
static void
add_word(str *out, const char *word, size_t n)
{
    str_addf(out, "%s%.*s", out->len ? " " : "", (int)n, word);
}

/* What the processor has to have: of this machine all that matters, of one that is named what its vectors take. */
static void
add_needs(str *out, const build_options *o)
{
    const target *named = named_machine(o);
    const char *list = cli_last(&o->features, "");
#if defined(__x86_64__)
#define FEATURE(name, builtin)                                                                     \
    if (!named && __builtin_cpu_supports(builtin))                                                 \
        add_word(out, name, strlen(name));
#include "target/features.def"
#undef FEATURE
    if (named)
        add_word(out, named->features, strlen(named->features));
#else
    named = named ? named : target_host();
    add_word(out, named->features, strlen(named->features));
#endif
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (*list == '+')
            add_word(out, list + 1, n - 1);
    }
}
#endif

static void
add_object(str *out, const product *p, const build_options *o, const char *made, cli_ir *ir)
{
#if RG_HAVE_LLVM
    str needs = {.in = mem_scratch()};
    add_needs(&needs, o);
    ll_options options = target_options(o);
    options.made = made;
    options.needs = needs.len ? needs.ptr : "";
    options.contiguous = p->dense;
    if (ll_emit_object(p->fns, p->names, p->n, &options, out, &ir->diags))
        cli_fail_diags(ir);
#else
    cli_fail("this build was made without LLVM: it makes no object files");
#endif
}

static void
add_ptx(str *out, const product *p, const build_options *o, cli_ir *ir)
{
    build_gpu made = {.kernel = p->source->first, .fns = p->fns, .names = p->names, .n = p->n, .dense = p->dense,
                      .gpu = o->machine.gpu, .fast_math = o->fast.n > 0};
    if (!build_gpu_text(&made, out, &ir->diags))
        cli_fail_diags(ir);
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

static void
build(const build_options *o, bool gradient)
{
    const char *kernel = o->positional.at[1];
    str name = {.in = mem_scratch()}, header_name = {.in = mem_scratch()}, error = {.in = mem_scratch()}, made = {.in = mem_scratch()};
    str object = {.in = mem_scratch()}, header = {.in = mem_scratch()};
    bool gpu = o->machine.gpu != NULL;
    product p = {0};
    str_addf(&name, "%s%s.%s", kernel, gradient ? "_grad" : "", gpu ? "ptx" : "o");
    const char *path = cli_last(&o->object, name.ptr);
    header_beside(&header_name, path);
    if (!gpu)
        check_target(o);
    cli_ir ir = cli_compile(&o->source, o->positional.at[0], kernel);
    make_forms(&p, &ir, gradient, gpu ? &target_nvidia : named_machine(o));
    if (!gpu && !header_write(&header, p.source->first, p.entries, p.n, &made, &error))
        cli_fail("%s", error.ptr);
    if (gpu)
        add_ptx(&object, &p, o, &ir);
    else
        add_object(&object, &p, o, made.ptr, &ir);
    write_output(path, &object);
    if (!gpu)
        write_output(cli_last(&o->header, header_name.ptr), &header);
    for (uint32_t i = 0; i < p.n; i++)
        ir_module_free(p.modules[i]);
    ir_module_free(p.source);
    ir_module_free(ir.module);
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
    cli_parse(command, argc, argv, options, countof(options), &o.positional);
    cli_names_kernel(command, &o.source, &o.positional, false);
    o.machine = cli_find_machine(command, &o.device, &o.target);
    const char *device = o.machine.device;
    bool gpu = o.machine.gpu != NULL;
    if (o.device.n && (strcmp(device, "interp") == 0 || strcmp(device, "simt") == 0))
        cli_usage_error(command, "there is nothing to build for --device %s: it is for cpu or cuda", device);
    if (gpu && (o.cpu.n || o.features.n))
        cli_usage_error(command, "--cpu and --features are for --device cpu; --target chooses the GPU");
    if (!gpu && strcmp(cli_last(&o.object, ""), "-") == 0 && !o.header.n)
        cli_usage_error(command, "with -o - the header needs a name: --header FILE");
    build(&o, gradient);
    return CLI_OK;
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
