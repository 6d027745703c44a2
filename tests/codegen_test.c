/* Compiled code against the interpreter. SPDX-License-Identifier: Apache-2.0
 *
 * A case is IR text. Arguments come from its parameters: integers and bools are set from the case's
 * size, arrays have that extent along each axis and pseudo-random elements in all planes.
 * Interpreter and compiled code run on equal copies; memory is compared bit for bit afterwards (any
 * NaN equals any other), or, for sums over threads, within a tolerance. */
#include "codegen/llvm/ll.h"
#include "passes.h"
#include "rt/cpu/cpu.h"
#include "rt/interp/interp.h"

#include <math.h>
#include <pthread.h>

typedef struct test_case {
    const char *name;
    int64_t size;     /* of the larger of two runs */
    double tolerance; /* 0: the same bits */
    const char *text;
    unsigned copies; /* of local arrays that lowering may leave, and one; 0: any number */
} test_case;

static int failures;

static uint64_t
random_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *state ^ (*state >> 29);
    return x * 0xbf58476d1ce4e5b9u ^ (x >> 32);
}

/* -- arguments --------------------------------------------------------------------------------- */

typedef struct memory {
    rt_arg *args;
    uint32_t n;
    size_t bytes[64][RT_PLANES];
    rg_dtype dtype[64];
} memory;

static uint64_t
element(rg_dtype d, int64_t size, uint64_t *seed)
{
    uint64_t r = random_bits(seed);
    if (ir_is_float(d))
        return ir_float_bits(d, (double)(int64_t)(r >> 12) / 0x1p50 - 2);
    return d == RG_BOOL ? r >> 40 & 1 : (r >> 33) % (uint64_t)(size < 100 ? size : 100);
}

static void
fill(char *at, rg_dtype d, size_t count, int64_t size, uint64_t *seed)
{
    unsigned bytes = ir_bytes(d);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = element(d, size, seed);
        memcpy(at + i * bytes, &bits, bytes);
    }
}

static void
make_array(memory *m, uint32_t i, ir_type type, int64_t size, bool strided, uint64_t *seed)
{
    rt_arg *arg = &m->args[i];
    rg_dtype d = (rg_dtype)type.dtype;
    size_t count = 1;
    for (uint32_t k = type.rank; k-- > 0;) {
        arg->extent[k] = size;
        arg->stride[k] = (int64_t)count * (strided ? 2 : 1);
        count *= (size_t)size;
    }
    for (unsigned p = 0; p < RT_PLANES && (p == 0 || ir_is_float(d)) && p < 4; p++) {
        size_t n = count * (p == 0 && strided ? 2 : 1);
        m->bytes[i][p] = n * ir_bytes(d);
        arg->plane[p] = mem_zalloc(m->bytes[i][p] + 8);
        fill(arg->plane[p], d, n, size, seed);
    }
}

static void
make_arguments(memory *m, const ir_fn *fn, int64_t size, bool strided)
{
    uint64_t seed = 7;
    const ir_op *yield = ir_terminator(fn->body);
    *m = (memory){.n = fn->body->nparams + yield->nargs};
    assert(m->n <= 64);
    m->args = mem_zalloc(m->n * sizeof(rt_arg) + 1);
    for (uint32_t i = 0; i < m->n; i++) {
        ir_type type = i < fn->body->nparams
                           ? fn->body->params[i]->type
                           : ir_buffer(yield->args[i - fn->body->nparams]->type.dtype, 0);
        m->dtype[i] = (rg_dtype)type.dtype;
        if (type.kind == IR_BUFFER) {
            make_array(m, i, type, size, strided, &seed);
        } else {
            bool is_float = ir_is_float(m->dtype[i]);
            m->args[i].bits = is_float                 ? ir_float_bits(m->dtype[i], 0.75)
                              : m->dtype[i] == RG_BOOL ? 1
                                                       : (uint64_t)size;
            if (is_float) {
                rt_arg scalar = m->args[i];
                make_array(m, i, ir_buffer(m->dtype[i], 0), size, false, &seed);
                m->args[i].bits = scalar.bits;
            }
        }
    }
}

static void
free_arguments(memory *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        for (unsigned p = 0; p < RT_PLANES; p++)
            mem_free(m->args[i].plane[p]);
    mem_free(m->args);
}

static bool
same_element(rg_dtype d, const char *a, const char *b, double tolerance)
{
    unsigned bytes = ir_bytes(d);
    if (!memcmp(a, b, bytes))
        return true;
    if (!ir_is_float(d))
        return false;
    uint64_t x = 0, y = 0;
    memcpy(&x, a, bytes);
    memcpy(&y, b, bytes);
    double u = ir_bits_float(d, x), v = ir_bits_float(d, y);
    return (u != u && v != v) || fabs(u - v) <= tolerance * fmax(fabs(u), fabs(v));
}

static bool
compare(const char *name, const char *how, const ir_fn *fn, const memory *want, const memory *got,
        double tolerance)
{
    for (uint32_t i = 0; i < want->n; i++) {
        unsigned bytes = ir_bytes(want->dtype[i]);
        for (unsigned p = 0; p < RT_PLANES; p++)
            for (size_t at = 0; at < want->bytes[i][p]; at += bytes) {
                const char *a = (char *)want->args[i].plane[p] + at;
                const char *b = (char *)got->args[i].plane[p] + at;
                if (same_element(want->dtype[i], a, b, tolerance))
                    continue;
                uint64_t x = 0, y = 0;
                memcpy(&x, a, bytes);
                memcpy(&y, b, bytes);
                printf("%s (%s): parameter %u (%s) plane %u element %zu: interpreter %#llx (%g), "
                       "compiled %#llx (%g)\n",
                       name, how, i, i < fn->body->nparams ? fn->body->params[i]->name : "return",
                       p, at / bytes, (unsigned long long)x, ir_bits_float(want->dtype[i], x),
                       (unsigned long long)y, ir_bits_float(want->dtype[i], y));
                failures++;
                return false;
            }
    }
    return true;
}

/* -- one case ---------------------------------------------------------------------------------- */

/* as it stands, for the interpreter */
static ir_module *
parse_only(const char *name, const char *text)
{
    diag_list diags = {0};
    ir_module *m = ir_parse(rg_str_of(text), name, &diags);
    diag_free(&diags);
    return m;
}

static bool
count_copy(ir_op *op, void *user)
{
    *(unsigned *)user += op->code == RG_OP_SLOT_COPY;
    return true;
}

static ir_module *
parse(const char *name, const char *text)
{
    diag_list diags = {0}, early = {0}; /* a pass does not run after an error */
    ir_module *m = ir_parse(rg_str_of(text), name, &diags);
    bool lowered = m && ir_verify(m, IR_STAGE_SLOTS, NULL, &early);
    if (m && !lowered && ir_verify(m, IR_STAGE_TAPE, NULL, &diags))
        lowered = verified_pass(m, lower_arrays, "lower_arrays", IR_STAGE_SLOTS, &diags);
    if (!m || !lowered) {
        printf("%s: %s\n", name, diags.text.len ? diags.text.ptr : "not lowered");
        failures++;
    }
    diag_free(&diags);
    diag_free(&early);
    return m;
}

static ll_code *
compile(const char *name, ll_jit *jit, const ir_fn *fn, const ll_options *options)
{
    diag_list diags = {0};
    ll_code *code;
    if (ll_compile(jit, fn, options, &code, &diags) != RG_OK) {
        printf("%s: %s\n", name, diags.text.ptr);
        failures++;
    }
    diag_free(&diags);
    return code;
}

typedef struct variant {
    const char *name;
    uint32_t threads;
    bool strided, assume;
} variant;

static const variant variants[] = {
    {"1 thread", 1, false, false},
    {"2 threads", 2, false, false},
    {"strided", 1, true, false},
    {"dense, apart, planes there", 1, false, true},
    {"dense, apart, planes there, 2 threads", 2, false, true},
};

static void
run_variant(const test_case *c, ll_jit *jit, const ir_fn *source, const ir_fn *fn, const variant *v,
            int64_t size)
{
    uint8_t present[64];
    bool dense[64];
    memset(present, 0x0f, sizeof present);
    memset(dense, true, sizeof dense);
    ll_options options = {0};
    if (v->assume)
        options = (ll_options){.present = present, .contiguous = dense, .noalias = true};
    ll_code *code = compile(c->name, jit, fn, &options);
    if (!code)
        return;
    memory want, got;
    make_arguments(&want, fn, size, v->strided);
    make_arguments(&got, fn, size, v->strided);
    interp_report oracle;
    rt_report report;
    rt_fault expected = interp_run(source, want.args, NULL, &oracle);
    rt_cpu *cpu = rt_cpu_create(v->threads, 0);
    rt_fault fault = rt_cpu_launch(cpu, ll_code_entry(code), got.args, &report);
    if (fault != expected) {
        printf("%s (%s): fault %d, expected %d %s\n", c->name, v->name, fault, expected,
               oracle.message);
        failures++;
    } else if (fault == RT_OK) {
        compare(c->name, v->name, fn, &want, &got, c->tolerance);
    }
    rt_cpu_destroy(cpu);
    ll_code_free(code);
    free_arguments(&want);
    free_arguments(&got);
}

static void
run_case(ll_jit *jit, const test_case *c)
{
    ir_module *source = parse_only(c->name, c->text), *m = parse(c->name, c->text);
    unsigned copies = 0;
    for (size_t v = 0; m && v < countof(variants); v++) {
        run_variant(c, jit, source->first, m->first, &variants[v], 7);
        run_variant(c, jit, source->first, m->first, &variants[v], c->size);
    }
    if (m && c->copies) {
        ir_walk(m->first->body, count_copy, &copies);
        if (copies + 1 != c->copies) {
            printf("%s: %u copies, expected %u\n", c->name, copies, c->copies - 1);
            failures++;
        }
    }
    ir_module_free(m);
    ir_module_free(source);
}

/* -- cases ------------------------------------------------------------------------------------- */

static const test_case cases[] = {
#include "codegen_cases.h"
};

/* -- every scalar op on edge values ------------------------------------------------------------ */

static size_t
edge_values(rg_dtype d, uint64_t *out)
{
    static const double floats[] = {
        0.0,   -0.0,   1,     -1,    0.5,    -0.5,  1.5,          -2.5,   3,        1e-3,      7.25,
        -1e5,  1e10,   -3e38, 1e308, 1e-310, 1e-40, 2.5,          -3.5,   INFINITY, -INFINITY, NAN,
        127.5, -128.6, 255.4, 65504, 65519,  65520, 2147483648.0, 9.3e18, 1e-7,     0.1};
    static const int64_t ints[] = {0, 1, -1, 2, -2, 3, 7, -7, 31, 32, 33, 63, 64, 65, 100, -100};
    size_t n = 0;
    if (ir_is_float(d)) {
        for (size_t i = 0; i < countof(floats); i++)
            out[n++] = ir_float_bits(d, floats[i]);
        return n;
    }
    for (size_t i = 0; i < countof(ints); i++)
        out[n++] = ir_wrap(d, (uint64_t)ints[i]);
    uint64_t top = (uint64_t)1 << (ir_bits(d) - 1);
    out[n++] = ir_wrap(d, top);
    out[n++] = ir_wrap(d, top - 1);
    out[n++] = ir_wrap(d, top + 1);
    out[n++] = ir_wrap(d, 0xaaaaaaaaaaaaaaaa);
    return n;
}

static void
add_op(str *body, rg_op op, rg_dtype d, const ir_type *args, uint32_t nargs, ir_type result,
       unsigned row)
{
    static const char *const names[] = {"%a", "%b", "%c"};
    const char *into = result.dtype == d ? "%r" : result.dtype == RG_BOOL ? "%rb" : "%ri";
    str_addf(body, "    %%v%u: %s = %s ", row, ir_dtype_name(result.dtype), ir_ops[op].text);
    for (uint32_t i = 0; i < nargs; i++)
        str_addf(body, "%s%s", i ? ", " : "",
                 args[i].dtype == d         ? names[i]
                 : args[i].dtype == RG_BOOL ? "%flag"
                                            : "%exp");
    str_addf(body, "\n    %%row%u: i64 = const %u\n    store %s[%%row%u, %%i], %%v%u\n", row, row,
             into, row, row);
}

/* one kernel with every op that the type has; returns the number of rows of results */
static unsigned
ops_kernel(str *text, rg_dtype d, rg_op *rows)
{
    const char *t = ir_dtype_name(d);
    unsigned n = 0;
    str body = {0};
    for (int op = 0; op < RG_OP_COUNT; op++) {
        if (ir_ops[op].form == IR_OTHER || op == RG_OP_CAST || op == RG_OP_BITCAST)
            continue;
        ir_type s = ir_scalar(d), args[3] = {s, s, s}, result = {0};
        for (uint32_t nargs = 1; nargs <= 3; nargs++) {
            ir_type tried[3] = {args[0], args[1], args[2]};
            if (ir_ops[op].form == IR_LDEXP)
                tried[1] = ir_scalar(RG_I32);
            if (ir_ops[op].form == IR_SELECT)
                tried[0] = ir_scalar(RG_BOOL);
            if (ir_form_check((rg_op)op, nargs, tried, &result)) {
                rows[n] = (rg_op)op;
                add_op(&body, (rg_op)op, d, tried, nargs, result, n++);
                break;
            }
        }
    }
    str_addf(
        text,
        "kernel @ops(%%n: i64, %%x: buf<%s,1>, %%y: buf<%s,1>, %%z: buf<%s,1>, %%r: buf<%s,2>, "
        "%%rb: buf<bool,2>, %%ri: buf<i32,2>, %%f: buf<bool,1>, %%x2: buf<i32,1>) {\n"
        "  %%lo: i64 = const 0\n  parallel (%%i: i64) = (%%lo) to (%%n) {\n"
        "    %%a: %s = load %%x[%%i]\n    %%b: %s = load %%y[%%i]\n    %%c: %s = load %%z[%%i]\n"
        "    %%flag: bool = load %%f[%%i]\n    %%exp: i32 = load %%x2[%%i]\n",
        t, t, t, t, t, t, t);
    str_add(text, str_view(&body));
    str_addz(text, "    yield\n  }\n  yield\n}\n");
    str_free(&body);
    return n;
}

enum { OPS_MAX = 96 };

static void
set_array(rt_arg *arg, rg_dtype d, unsigned rank, int64_t rows, int64_t columns)
{
    arg->extent[0] = rank == 2 ? rows : columns;
    arg->extent[1] = columns;
    arg->stride[0] = rank == 2 ? columns : 1;
    arg->stride[1] = 1;
    arg->plane[0] = mem_zalloc((size_t)(rows * columns + 1) * ir_bytes(d));
}

static uint64_t
read_bits(const rt_arg *arg, rg_dtype d, size_t at)
{
    uint64_t bits = 0;
    memcpy(&bits, (char *)arg->plane[0] + at * ir_bytes(d), ir_bytes(d));
    return ir_wrap(d, bits);
}

static bool
same_bits(rg_dtype d, uint64_t a, uint64_t b)
{
    if (a == b)
        return true;
    return ir_is_float(d) && ir_bits_float(d, a) != ir_bits_float(d, a) &&
           ir_bits_float(d, b) != ir_bits_float(d, b);
}

static void
check_ops(ll_jit *jit, rg_dtype d)
{
    rg_op rows[OPS_MAX];
    uint64_t values[64];
    str text = {0};
    unsigned nrows = ops_kernel(&text, d, rows);
    size_t nvalues = edge_values(d, values), n = nvalues * nvalues;
    ir_module *m = parse("ops", text.ptr);
    ll_code *code = m ? compile("ops", jit, m->first, NULL) : NULL;
    if (!code) {
        ir_module_free(m);
        str_free(&text);
        return;
    }
    rg_dtype types[9] = {RG_I64, d, d, d, d, RG_BOOL, RG_I32, RG_BOOL, RG_I32};
    rt_arg args[9] = {{.bits = n}};
    for (unsigned i = 1; i < 9; i++)
        set_array(&args[i], types[i], i >= 4 && i <= 6 ? 2 : 1, nrows, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        uint64_t in[3] = {values[i / nvalues], values[i % nvalues], values[(i * 7) % nvalues]};
        for (unsigned k = 0; k < 3; k++)
            memcpy((char *)args[1 + k].plane[0] + i * ir_bytes(d), &in[k], ir_bytes(d));
        ((uint8_t *)args[7].plane[0])[i] = i % 3 == 0;
        ((int32_t *)args[8].plane[0])[i] = (int32_t)(i % 80) - 40;
    }
    rt_cpu *cpu = rt_cpu_create(1, 0);
    rt_cpu_launch(cpu, ll_code_entry(code), args, NULL);
    for (unsigned r = 0; r < nrows; r++) {
        unsigned form = ir_ops[rows[r]].form;
        unsigned into = d == RG_BOOL || (form != IR_COMPARE && form != IR_EXPONENT) ? 4
                        : form == IR_COMPARE                                        ? 5
                                                                                    : 6;
        for (size_t i = 0; i < n; i++) {
            uint64_t x = read_bits(&args[1], d, i), y = read_bits(&args[2], d, i),
                     z = read_bits(&args[3], d, i), want;
            if (form == IR_LDEXP)
                y = read_bits(&args[8], RG_I32, i);
            if (form == IR_SELECT && d != RG_BOOL)
                x = read_bits(&args[7], RG_BOOL, i);
            if (!ir_eval(rows[r], d, types[into], x, y, z, &want))
                break;
            uint64_t got = read_bits(&args[into], types[into], r * n + i);
            if (!same_bits(types[into], want, got)) {
                printf("%s %s: %#llx %#llx %#llx: folder %#llx, compiled %#llx\n", ir_dtype_name(d),
                       ir_ops[rows[r]].text, (unsigned long long)x, (unsigned long long)y,
                       (unsigned long long)z, (unsigned long long)want, (unsigned long long)got);
                failures++;
                break;
            }
        }
    }
    rt_cpu_destroy(cpu);
    for (unsigned i = 1; i < 9; i++)
        mem_free(args[i].plane[0]);
    ll_code_free(code);
    ir_module_free(m);
    str_free(&text);
}

/* every cast from d, and bitcasts */
static void
check_casts(ll_jit *jit, rg_dtype d)
{
    uint64_t values[64];
    size_t n = edge_values(d, values);
    str text = {0};
    str_addf(&text, "kernel @casts(%%n: i64, %%x: buf<%s,1>", ir_dtype_name(d));
    for (int to = RG_BOOL; to < RG_DTYPE_COUNT; to++)
        str_addf(&text, ", %%r%d: buf<%s,1>", to, ir_dtype_name((rg_dtype)to));
    str_addf(&text,
             ") {\n  %%lo: i64 = const 0\n  parallel (%%i: i64) = (%%lo) to (%%n) {\n"
             "    %%v: %s = load %%x[%%i]\n",
             ir_dtype_name(d));
    for (int to = RG_BOOL; to < RG_DTYPE_COUNT; to++) {
        bool bits = to != (int)d && ir_bits((rg_dtype)to) == ir_bits(d);
        str_addf(&text, "    %%c%d: %s = %s %%v\n    store %%r%d[%%i], %%c%d\n", to,
                 ir_dtype_name((rg_dtype)to), bits ? "bitcast" : "cast", to, to);
    }
    str_addz(&text, "    yield\n  }\n  yield\n}\n");
    ir_module *m = parse("casts", text.ptr);
    ll_code *code = m ? compile("casts", jit, m->first, NULL) : NULL;
    if (code) {
        rt_arg args[2 + RG_DTYPE_COUNT] = {{.bits = n}};
        set_array(&args[1], d, 1, 1, (int64_t)n);
        for (size_t i = 0; i < n; i++)
            memcpy((char *)args[1].plane[0] + i * ir_bytes(d), &values[i], ir_bytes(d));
        for (int to = RG_BOOL; to < RG_DTYPE_COUNT; to++)
            set_array(&args[1 + to], (rg_dtype)to, 1, 1, (int64_t)n);
        rt_cpu *cpu = rt_cpu_create(1, 0);
        rt_cpu_launch(cpu, ll_code_entry(code), args, NULL);
        for (int to = RG_BOOL; to < RG_DTYPE_COUNT; to++)
            for (size_t i = 0; i < n; i++) {
                bool bits = to != (int)d && ir_bits((rg_dtype)to) == ir_bits(d);
                uint64_t want, got = read_bits(&args[1 + to], (rg_dtype)to, i);
                ir_eval(bits ? RG_OP_BITCAST : RG_OP_CAST, d, (rg_dtype)to, ir_wrap(d, values[i]),
                        0, 0, &want);
                if (!same_bits((rg_dtype)to, want, got)) {
                    printf("cast %s to %s: %#llx: folder %#llx, compiled %#llx\n", ir_dtype_name(d),
                           ir_dtype_name((rg_dtype)to), (unsigned long long)values[i],
                           (unsigned long long)want, (unsigned long long)got);
                    failures++;
                    break;
                }
            }
        rt_cpu_destroy(cpu);
        for (int i = 1; i < 1 + RG_DTYPE_COUNT; i++)
            mem_free(args[i].plane[0]);
    }
    ll_code_free(code);
    ir_module_free(m);
    str_free(&text);
}

/* several threads compile, run and free with one jit */
typedef struct sharing {
    ll_jit *jit;
    ir_module *module;
    int wrong;
} sharing;

static void
no_memory(void *user, size_t bytes)
{
    printf("no memory for %zu bytes\n", bytes);
    exit(1);
}

static void *
compile_often(void *user)
{
    sharing *s = user;
    mem_set_handler(no_memory, NULL); /* its scratch goes with it, as for a call of the API */
    for (int i = 0; i < 8; i++) {
        diag_list diags = {0};
        ll_code *code = NULL;
        memory args;
        make_arguments(&args, s->module->first, 100, false);
        rt_cpu *cpu = rt_cpu_create(1, 0);
        s->wrong += ll_compile(s->jit, s->module->first, NULL, &code, &diags) != RG_OK ||
                    rt_cpu_launch(cpu, ll_code_entry(code), args.args, NULL) != RT_OK ||
                    memcmp(args.args[1].plane[0], args.args[2].plane[0], 400) != 0;
        ll_code_free(code);
        rt_cpu_destroy(cpu);
        free_arguments(&args);
        diag_free(&diags);
    }
    mem_set_handler(NULL, NULL);
    return NULL;
}

static void
check_threads(ll_jit *jit)
{
    ir_module *m = parse(cases[0].name, cases[0].text);
    pthread_t threads[3];
    sharing shares[3];
    for (size_t i = 0; i < countof(threads); i++) {
        shares[i] = (sharing){.jit = jit, .module = m};
        failures += pthread_create(&threads[i], NULL, compile_often, &shares[i]) != 0;
    }
    for (size_t i = 0; i < countof(threads); i++) {
        pthread_join(threads[i], NULL);
        if (shares[i].wrong)
            printf("%d of 8 compilations of a thread went wrong\n", shares[i].wrong);
        failures += shares[i].wrong;
    }
    ir_module_free(m);
}

int
main(int argc, char **argv)
{
    diag_list diags = {0};
    ll_jit *jit;
    if (ll_jit_create(&jit, &diags) != RG_OK) {
        printf("%s\n", diags.text.ptr);
        return 1;
    }
    for (size_t i = 0; i < countof(cases); i++)
        if (argc < 2 || !strcmp(argv[1], cases[i].name))
            run_case(jit, &cases[i]);
    for (int d = RG_BOOL; d < RG_DTYPE_COUNT && argc < 2; d++) {
        check_ops(jit, (rg_dtype)d);
        check_casts(jit, (rg_dtype)d);
    }
    check_threads(jit);
    ll_jit_destroy(jit);
    printf("%d failures\n", failures);
    return failures != 0;
}
