/* rgc list: the kernels of a file and their parameters. SPDX-License-Identifier: Apache-2.0 */
#include "ahead/expression.h"
#include "cli/source.h"

static const char help[] =
    "usage: rgc list FILE [KERNEL]... [options]\n"
    "\n"
    "Prints the kernels of a C file (or of IR, FILE.rg): each parameter with its type and extents, and\n"
    "whether the kernel reads or writes the array; for a function that cannot be compiled, why. Static\n"
    "functions are listed where they are named, or the file has no others.\n"
    "\n"
    "  x f32[n,m + 1]   an array with these extents; ?: any; [...]: a pointer, to an array of any shape\n"
    "  p.mass f64[n]    a field of a struct, or of an array of structs\n"
    "  return f64       the result\n"
    "\n" CLI_SOURCE_HELP;

/* -- signatures -------------------------------------------------------------------------------- */

static uint32_t
first_axis(const ir_fn *fn, uint32_t param)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < param; i++)
        n += fn->body->params[i]->type.kind == IR_BUFFER ? fn->body->params[i]->type.rank : 0;
    return n;
}

static void
add_extent(str *out, const ir_fn *fn, uint32_t axis)
{
    const ir_value *v = fn->shape ? ir_terminator(fn->shape)->args[axis] : NULL;
    uint64_t bits;
    bool any = !v || (ir_is_const(v, &bits) && (int64_t)bits == -1);
    size_t start = out->len;
    if (any) {
        str_addc(out, '?');
    } else if (!expression_write(out, v)) {
        out->len = start;
        str_addz(out, "...");
    }
}

void
cli_add_type(str *out, const ir_fn *fn, uint32_t param)
{
    ir_type type = fn->body->params[param]->type;
    str_addz(out, ir_dtype_name((rg_dtype)type.dtype));
    if (type.kind != IR_BUFFER)
        return;
    if (fn->params[param].flat) {
        str_addz(out, "[...]");
        return;
    }
    str_addz(out, type.rank ? "[" : "");
    for (uint32_t axis = 0; axis < type.rank; axis++) {
        str_addz(out, axis ? "," : "");
        add_extent(out, fn, first_axis(fn, param) + axis);
    }
    str_addz(out, type.rank ? "]" : "");
}

static const char *
use_of(const ir_fn *fn, uint32_t i, uint32_t results)
{
    const ir_param *p = &fn->params[i];
    if (i >= fn->body->nparams - results)
        return "result";
    if (fn->body->params[i]->type.kind != IR_BUFFER)
        return "";
    return p->read && p->written ? "read, written" : p->written ? "written" : p->read ? "read" : "not used";
}

static int
longest_name(const ir_fn *fn)
{
    size_t most = 0;
    for (uint32_t i = 0; i < fn->body->nparams; i++)
        most = strlen(fn->params[i].name) > most ? strlen(fn->params[i].name) : most;
    return (int)most;
}

static void
print_head(const char *path, const ir_fn *fn)
{
    const ir_module *m = fn->module;
    const char *file = fn->loc.file < m->files.n ? m->files.at[fn->loc.file].path : NULL;
    printf("%s:", file ? file : path);
    if (fn->loc.line)
        printf("%u:", fn->loc.line);
    printf(" %s\n", fn->name);
}

static void
print_kernel(const char *path, const ir_fn *fn, uint32_t results)
{
    int name_width = longest_name(fn), type_width = 0;
    str types[2] = {{.in = mem_scratch()}, {.in = mem_scratch()}};
    for (uint32_t i = 0; i < fn->body->nparams; i++) {
        types[0].len = 0;
        cli_add_type(&types[0], fn, i);
        type_width = (int)types[0].len > type_width ? (int)types[0].len : type_width;
    }
    print_head(path, fn);
    for (uint32_t i = 0; i < fn->body->nparams; i++) {
        const char *use = use_of(fn, i, results);
        types[1].len = 0;
        cli_add_type(&types[1], fn, i);
        printf("    %-*s  %-*s%s%s\n", name_width, fn->params[i].name, *use ? type_width : 0, types[1].ptr, *use ? "  " : "",
               use);
    }
}

/* -- kernels that do not compile --------------------------------------------------------------- */

/* The first diagnostic's line, which begins with its place. */
static void
print_refusal(const char *path, const char *kernel, const diag_list *diags)
{
    const char *text = diags->text.len ? diags->text.ptr : "it cannot be compiled";
    const char *error = strstr(text, "error");
    size_t place = error ? (size_t)(error - text) : 0;
    if (!place)
        printf("%s: ", path);
    printf("%.*s%s: %.*s\n", (int)place, text, kernel, (int)strcspn(text + place, "\n"), text + place);
}

/* false: it is refused */
static bool
print_fn(const cli_ir *ir, const ir_fn *fn, diag_list *diags)
{
    pipeline_options options = {.contraction = true};
    ir_module *m = pipeline_source(fn, &options, diags);
    if (!m)
        return false;
    print_kernel(ir->path, m->first, ir_terminator(fn->body)->nargs);
    ir_module_free(m);
    return true;
}

static void
list_one(const cli_source *source, const char *path, const char *kernel)
{
    cli_ir ir;
    bool there = cli_compile_module(&ir, source, path, kernel);
    const ir_fn *fn = there ? ir_fn_find(ir.module, rg_str_of(kernel)) : NULL;
    if (!fn || !print_fn(&ir, fn, &ir.diags))
        print_refusal(path, kernel, &ir.diags);
    ir_module_free(ir.module);
}

static bool
has_kernels(const cli_ir *ir)
{
    for (const ir_fn *fn = ir->module->first; fn; fn = fn->next)
        if (fn->kernel)
            return true;
    return false;
}

/* -- the command ------------------------------------------------------------------------------- */

/* All at once if they all compile; else one by one, so that those that do are shown. */
static void
list(const cli_source *source, const char *path)
{
    cli_ir ir;
    cli_names names = {.in = mem_scratch()};
    if (cli_compile_module(&ir, source, path, NULL) && has_kernels(&ir)) {
        for (const ir_fn *fn = ir.module->first; fn; fn = fn->next) {
            diag_list diags = {.text.in = mem_scratch()};
            if (fn->kernel && !print_fn(&ir, fn, &diags))
                print_refusal(path, fn->name, &diags);
        }
    } else if (!cli_find_names(source, path, &names)) {
        cli_fail_diags(&ir);
    } else {
        for (uint32_t i = 0; i < names.n; i++)
            list_one(source, path, names.at[i]);
    }
    ir_module_free(ir.module);
}

static int
run(int argc, char **argv)
{
    cli_source source = {0};
    cli_words positional = {0};
    const cli_option options[] = {CLI_SOURCE_OPTIONS(source)};
    cli_parse(&cli_list, argc, argv, options, countof(options), &positional);
    if (!positional.n)
        cli_usage_error(&cli_list, "it takes a FILE");
    if (positional.n == 1)
        list(&source, positional.at[0]);
    for (size_t i = 1; i < positional.n; i++)
        list_one(&source, positional.at[0], positional.at[i]);
    return CLI_OK;
}

const cli_command cli_list = {"list", "prints the kernels of a file and their parameters", help, run};
