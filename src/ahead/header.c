/* Headers for kernels compiled ahead of time: they need no other header of ours, only librgrt.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ahead/expression.h"
#include "ahead/header.h"
#include "rt/cpu/cpu.h"

/* what rt/abi.h and rt/cpu/cpu.h say, in as many words as a caller needs */
static const char runtime[] =
    "#ifndef RGRT_INTERFACE\n"
    "#define RGRT_INTERFACE\n"
    "#include <stdbool.h>\n"
    "#include <stdint.h>\n"
    "#include <string.h>\n"
    "#ifdef __cplusplus\n"
    "extern \"C\" {\n"
    "#endif\n"
    "struct rt_arg {\n"
    "    uint64_t bits;\n"
    "    void *plane[8];\n"
    "    int64_t extent[8];\n"
    "    int64_t stride[8];\n"
    "};\n"
    "struct rt_cpu;\n"
    "struct rt_launch;\n"
    "struct rt_report;\n"
    "struct rt_cpu *rt_cpu_default(void);\n"
    "void rt_cpu_set_threads(struct rt_cpu *cpu, uint32_t num_threads); /* 0: OMP_NUM_THREADS, else one for each processor */\n"
    "void rt_cpu_set_budget(struct rt_cpu *cpu, uint64_t tape_bytes);\n"
    "struct rt_made { const char *abi, *needs; int32_t known; };\n"
    "const char *rt_cpu_lacks(struct rt_made *made);\n"
    "int rt_cpu_launch(struct rt_cpu *cpu, int32_t (*kernel)(const struct rt_arg *, struct "
    "rt_launch "
    "*),\n"
    "                  const struct rt_arg *args, struct rt_report *report);\n"
    "#ifdef __cplusplus\n"
    "}\n"
    "#endif\n"
    "#endif\n";

static const char *
c_type(rg_dtype d)
{
    static const char *const names[RG_DTYPE_COUNT] = {
        [RG_NONE] = "void",   [RG_BOOL] = "bool",    [RG_I8] = "int8_t",    [RG_U8] = "uint8_t",
        [RG_I16] = "int16_t", [RG_U16] = "uint16_t", [RG_I32] = "int32_t",  [RG_U32] = "uint32_t",
        [RG_I64] = "int64_t", [RG_U64] = "uint64_t", [RG_F16] = "uint16_t", [RG_F32] = "float",
        [RG_F64] = "double",
    };
    return names[d];
}

/* "p.mass" becomes p_mass, "return1" becomes result1 */
static void
add_name(str *out, const char *name)
{
    if (strncmp(name, "return", 6) == 0 && strspn(name + 6, "0123456789") == strlen(name + 6)) {
        str_addf(out, "result%s", name + 6);
        return;
    }
    for (; *name; name++)
        str_addc(out, *name == '.' ? '_' : *name);
}

static bool
is_buffer(const ir_fn *k, uint32_t i)
{
    return k->body->params[i]->type.kind == IR_BUFFER;
}

static rg_dtype
dtype_of(const ir_fn *k, uint32_t i)
{
    return (rg_dtype)k->body->params[i]->type.dtype;
}

/* The value that the shape region yields for an axis; NULL: any extent will do. */
static const ir_value *
fixed_extent(const ir_fn *k, uint32_t i, uint32_t axis)
{
    if (!k->shape)
        return NULL;
    uint32_t n = axis;
    for (uint32_t j = 0; j < i; j++)
        n += is_buffer(k, j) ? k->body->params[j]->type.rank : 0;
    const ir_value *v = ir_terminator(k->shape)->args[n];
    uint64_t bits;
    return ir_is_const(v, &bits) && (int64_t)bits == -1 ? NULL : v;
}

/* -- extents as C expressions ------------------------------------------------------------------ */

static bool
add_value(str *out, const ir_fn *k, const ir_value *v)
{
    uint64_t bits;
    if (ir_is_const(v, &bits)) {
        str_addf(out, "INT64_C(%lld)", (long long)bits);
        return true;
    }
    if (!v->def) {
        add_name(out, k->params[v->index].name);
        return true;
    }
    infix between = expression_infix((rg_op)v->def->code);
    if (v->def->code == RG_OP_CAST)
        str_addf(out, "(%s)", c_type((rg_dtype)v->type.dtype));
    else if (!between.text)
        return false;
    str_addc(out, '(');
    bool ok = add_value(out, k, v->def->args[0]);
    str_addz(out, between.text ? between.text : "");
    ok = ok && (!between.text || add_value(out, k, v->def->args[1]));
    str_addc(out, ')');
    return ok;
}

/* -- one function ------------------------------------------------------------------------------ */

static const char *
suffix_of(unsigned plane)
{
    return plane == RG_TANGENT ? "_tan" : plane == RG_ADJOINT ? "_adj" : "_adj_tan";
}

static void
add_params(str *out, const ir_fn *k, unsigned planes)
{
    for (uint32_t i = 0; i < k->body->nparams; i++) {
        const ir_param *p = &k->params[i];
        const char *type = c_type(dtype_of(k, i));
        bool real = ir_is_float(dtype_of(k, i));
        str_addz(out, i ? ", " : "");
        if (is_buffer(k, i))
            str_addf(out, "%s%s *", p->written ? "" : "const ", type);
        else
            str_addf(out, "%s ", type);
        add_name(out, p->name);
        for (unsigned plane = 1; real && plane <= (RG_ADJOINT | RG_TANGENT); plane++) {
            if (!(planes >> plane & 1))
                continue;
            str_addf(out, ", %s *", type);
            add_name(out, p->name);
            str_addz(out, suffix_of(plane));
        }
        for (uint32_t a = 0; is_buffer(k, i) && a < k->body->params[i]->type.rank; a++) {
            if (fixed_extent(k, i, a))
                continue;
            str_addz(out, ", int64_t ");
            add_name(out, p->name);
            str_addf(out, "_extent%u", a);
        }
    }
    if (k->body->nparams == 0)
        str_addz(out, "void");
}

static bool
add_buffer(str *out, const ir_fn *k, uint32_t i)
{
    const ir_param *p = &k->params[i];
    uint32_t rank = k->body->params[i]->type.rank;
    str_addf(out, "    args[%u].plane[0] = (void *)(uintptr_t)", i);
    add_name(out, p->name);
    str_addz(out, ";\n");
    /* a field of records: its elements, or the arrays inside them, are a record apart */
    unsigned step = p->record ? p->record_size / ir_bytes(dtype_of(k, i)) : 1;
    uint32_t outer = rank - p->inner_axes;
    for (uint32_t a = rank; a-- > 0;) {
        const ir_value *extent = fixed_extent(k, i, a);
        str_addf(out, "    args[%u].extent[%u] = ", i, a);
        if (extent && !add_value(out, k, extent))
            return false;
        if (!extent) {
            add_name(out, p->name);
            str_addf(out, "_extent%u", a);
        }
        if (a + 1 == rank || a + 1 == outer)
            str_addf(out, ";\n    args[%u].stride[%u] = %u;\n", i, a, a < outer ? step : 1);
        else
            str_addf(out,
                     ";\n    args[%u].stride[%u] = args[%u].stride[%u] * args[%u].extent[%u];\n", i,
                     a, i, a + 1, i, a + 1);
    }
    return true;
}

static bool
add_function(str *out, const ir_fn *k, const header_entry *e, const char *made)
{
    str_addf(out,
             "\n/* %s */\nextern\n#ifdef __cplusplus\n\"C\"\n#endif\n"
             "int32_t %s(const struct rt_arg *args, struct rt_launch *launch);\n",
             e->doc, e->symbol);
    str_addf(out, "static inline int\n%s_%s(", k->name, e->suffix);
    add_params(out, k, e->planes);
    str_addz(out, ")\n{\n");
    str_addf(out, "    struct rt_arg args[%u];\n    memset(args, 0, sizeof(args));\n",
             k->body->nparams ? k->body->nparams : 1);
    for (uint32_t i = 0; i < k->body->nparams; i++) {
        if (is_buffer(k, i)) {
            if (!add_buffer(out, k, i))
                return false;
        } else {
            str_addf(out, "    memcpy(&args[%u].bits, &", i);
            add_name(out, k->params[i].name);
            str_addf(out, ", %u);\n", ir_bytes(dtype_of(k, i)));
        }
        for (unsigned plane = 1; ir_is_float(dtype_of(k, i)) && plane <= (RG_ADJOINT | RG_TANGENT); plane++) {
            if (!(e->planes >> plane & 1))
                continue;
            str_addf(out, "    args[%u].plane[%u] = ", i, plane);
            add_name(out, k->params[i].name);
            str_addf(out, "%s;\n", suffix_of(plane));
        }
    }
    str_addf(out, "    if (rt_cpu_lacks(&%s))\n        return %d;\n", made, RT_NO_PROCESSOR);
    str_addf(out, "    return rt_cpu_launch(rt_cpu_default(), %s, args, 0);\n}\n", e->symbol);
    return true;
}

static void
add_guard(str *out, const ir_fn *k, size_t n)
{
    str_addz(out, "RG_KERNEL_");
    for (const char *p = k->name; *p; p++)
        str_addc(out, *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p);
    str_addz(out, n > 1 ? "_GRAD_H\n" : "_H\n");
}

/* The same text but for the object's name. */
static bool
add_header(str *out, const ir_fn *kernel, const header_entry *entries, size_t n, const char *made, str *error)
{
    str_addf(
        out,
        "/* Kernel `%s`, compiled ahead of time: link with the object file, librgrt.a, -pthread\n"
        " * and libm.\n"
        " *\n"
        " * Arrays are row-major; a field of an array of structs points at the field of the\n"
        " * first one. Adjoints and tangents are row-major without gaps and may be NULL; gradients add into\n"
        " * adjoints. Neither they nor arrays that are written overlap anything else. f16 values are\n"
        " * given as their bits. Functions return 0, or 1: an assertion failed, 2: the tape exceeds\n"
        " * its budget, 3: out of memory, 6: the object was compiled for another processor, and\n"
        " * %s_lacks() says what this one lacks (a text that begins with it; NULL: nothing). */\n",
        kernel->name,
        kernel->name);
    str_addz(out, "#ifndef ");
    add_guard(out, kernel, n);
    str_addz(out, "#define ");
    add_guard(out, kernel, n);
    str_addz(out, "\n");
    str_addz(out, runtime);
    str_addf(out, "\n/* the object that belongs to this header */\nextern\n#ifdef __cplusplus\n\"C\"\n#endif\n"
             "struct rt_made %s;\nstatic inline const char *\n%s_lacks(void)\n{\n    return rt_cpu_lacks(&%s);\n}\n",
             made, kernel->name, made);
    for (size_t i = 0; i < n; i++)
        if (!add_function(out, kernel, &entries[i], made)) {
            str_addf(error, "kernel `%s`: an extent's expression cannot be written in C",
                     kernel->name);
            return false;
        }
    str_addz(out, "\n#endif\n");
    return true;
}

bool
header_write(str *out, const ir_fn *kernel, const header_entry *entries, size_t n, str *made, str *error)
{
    str nameless = {.in = mem_scratch()};
    if (!add_header(&nameless, kernel, entries, n, "", error))
        return false;
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < nameless.len; i++)
        hash = (hash ^ (unsigned char)nameless.ptr[i]) * 0x100000001b3u;
    str_addf(made, "rgk_%s_%016llx", kernel->name, (unsigned long long)hash);
    return add_header(out, kernel, entries, n, made->ptr, error);
}
