/* Differentiates every kernel of tests/ad and compares, by the interpreter and at every stage: vjp against
 * jvp (duality), jvp against central differences, jvp of vjp against differences of the vjp.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A case is IR text whose first lines say how to call it: `; arg NAME VALUE` for an integer,
 * `; arg NAME EXTENT...` with `[` `]` for a buffer (`; arg x [ 3 4 ]`), integers in buffers count
 * up from `from N` modulo `mod N`. Floats are f64 and filled from a seed. `; split` marks kernels whose
 * vjp may be launched apart from the forward launch; `; rewinds N` says how many tasks rewind another one, `; writes N` how many ops write to adjoints, `; blocks N` how many iterations are recorded as one where the
 * tape is far away.
 *
 *   ad_test [--lanes N] FILE... */
#include "diff/ad.h"
#include "passes.h"
#include "rt/interp/interp.h"

#include <math.h>
#include <setjmp.h>

enum { PLANES = 4 };

typedef struct param {
    int64_t extent[RG_MAX_RANK];
    uint32_t rank;
    size_t elements;
    rg_dtype dtype;
    bool buffer;
    int64_t from, mod;
    double *start[PLANES]; /* what each plane holds before a launch; f64 only */
    double *now[PLANES];
    int64_t *ints;         /* integer buffers, in their own width */
} param;

typedef struct testcase {
    const char *path;
    ir_module *m;
    ir_fn *fn;
    uint32_t n;
    param p[32];
    rt_arg args[32];
    bool split;
    int rewinds; /* tasks that rewind another one; -1: not said */
    int writes;  /* ops of the simplified vjp that store or add to adjoints; -1: not said */
    int block;   /* iterations of the largest block where the tape is far away; 0: not said */
    unsigned long long seed;
} testcase;

static int failures, checks;
static unsigned lanes; /* threads of a group, once the plan is made; 0: they run one by one */

static void
fail(const testcase *t, const char *what, double got, double want)
{
    printf("FAILED %s: %s: %.17g, expected %.17g\n", t->path, what, got, want);
    failures++;
}

static double
draw(testcase *t)
{
    t->seed = t->seed * 6364136223846793005ull + 1442695040888963407ull;
    return 0.2 + (double)(t->seed >> 11) / 9007199254740992.0;
}

/* -- reading a case ----------------------------------------------------------------------------------- */
static void
read_arg(testcase *t, char *line)
{
    char *word = strtok(line, " \n");
    uint32_t i = 0;
    while (i < t->n && strcmp(t->fn->body->params[i]->name, word) != 0)
        i++;
    assert(i < t->n && "a case names a parameter that its kernel lacks");
    param *p = &t->p[i];
    for (word = strtok(NULL, " \n"); word; word = strtok(NULL, " \n")) {
        if (strcmp(word, "[") == 0) {
            for (word = strtok(NULL, " \n"); strcmp(word, "]") != 0; word = strtok(NULL, " \n"))
                p->extent[p->rank++] = atoll(word);
        } else if (strcmp(word, "from") == 0) {
            p->from = atoll(strtok(NULL, " \n"));
        } else if (strcmp(word, "mod") == 0) {
            p->mod = atoll(strtok(NULL, " \n"));
        } else {
            t->args[i].bits = (uint64_t)atoll(word);
        }
    }
}

static void
make_storage(testcase *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        param *p = &t->p[i];
        ir_type type = t->fn->body->params[i]->type;
        p->dtype = (rg_dtype)type.dtype;
        p->buffer = type.kind == IR_BUFFER;
        p->elements = 1;
        for (uint32_t k = p->rank; k-- > 0;) {
            t->args[i].extent[k] = p->extent[k];
            t->args[i].stride[k] = (int64_t)p->elements;
            p->elements *= (size_t)p->extent[k];
        }
        if (p->dtype != RG_F64) {
            assert((!p->buffer || p->dtype == RG_I32) && "cases use f64 and i32");
            int32_t *at = mem_zalloc(8 * p->elements + 8);
            for (size_t e = 0; p->buffer && e < p->elements; e++)
                at[e] = (int32_t)((p->from + (int64_t)e) % (p->mod ? p->mod : 1000000));
            p->ints = (int64_t *)at;
            if (p->buffer)
                t->args[i].plane[0] = at;
            continue;
        }
        for (int plane = 0; plane < PLANES; plane++) {
            p->start[plane] = mem_zalloc(8 * p->elements + 8);
            p->now[plane] = mem_zalloc(8 * p->elements + 8);
            for (size_t e = 0; e < p->elements; e++)
                p->start[plane][e] = draw(t);
            t->args[i].plane[plane] = p->now[plane];
        }
        if (!p->buffer)
            p->start[RG_ADJOINT][0] = p->start[3][0] = 0;
    }
}

static bool
read_case(testcase *t, const char *path)
{
    str text = {0};
    diag_list diags = {0};
    *t = (testcase){.path = path, .seed = 12345, .rewinds = -1, .writes = -1};
    if (file_read(path, &text) != RG_OK)
        return false;
    t->m = ir_parse(str_view(&text), path, &diags);
    if (!t->m || !ir_verify(t->m, IR_STAGE_SOURCE, NULL, &diags)) {
        printf("FAILED %s:\n%s\n", path, diags.text.ptr);
        failures++;
        return false;
    }
    t->fn = t->m->first;
    t->n = t->fn->body->nparams;
    for (char *line = text.ptr; *line == ';';) {
        char *end = strchr(line, '\n'), copy[512];
        snprintf(copy, sizeof copy, "%.*s", (int)(end - line), line);
        if (strncmp(copy, "; arg ", 6) == 0)
            read_arg(t, copy + 6);
        t->split |= strncmp(copy, "; split", 7) == 0;
        if (strncmp(copy, "; rewinds ", 10) == 0)
            t->rewinds = atoi(copy + 10);
        if (strncmp(copy, "; writes ", 9) == 0)
            t->writes = atoi(copy + 9);
        if (strncmp(copy, "; blocks ", 9) == 0)
            t->block = atoi(copy + 9);
        line = end + 1;
    }
    make_storage(t);
    str_free(&text);
    diag_free(&diags);
    return true;
}

/* -- running -------------------------------------------------------------------------------------------- */
/* from the starting values, primals moved by h along their tangents */
static bool
run(testcase *t, const ir_fn *fn, double h)
{
    for (uint32_t i = 0; i < t->n; i++) {
        param *p = &t->p[i];
        if (p->dtype != RG_F64)
            continue;
        for (int plane = 0; plane < PLANES; plane++)
            memcpy(p->now[plane], p->start[plane], 8 * p->elements);
        for (size_t e = 0; e < p->elements; e++)
            p->now[0][e] += h * p->start[RG_TANGENT][e];
        if (h) /* the adjoint moves along its tangent as well */
            for (size_t e = 0; e < p->elements; e++)
                p->now[RG_ADJOINT][e] += h * p->start[3][e];
        if (!p->buffer)
            memcpy(&t->args[i].bits, p->now[0], 8);
    }
    interp_report report;
    if (interp_run(fn, t->args, NULL, &report) != RT_OK) {
        printf("FAILED %s: @%s: %s\n", t->path, fn->name, report.message);
        failures++;
        return false;
    }
    return true;
}

/* sum over float buffers (and scalars, if asked) of plane a after the run times starting plane b */
static double
dot(const testcase *t, int now, int start, bool scalars)
{
    double sum = 0;
    for (uint32_t i = 0; i < t->n; i++)
        for (size_t e = 0; t->p[i].dtype == RG_F64 && (t->p[i].buffer || scalars) && e < t->p[i].elements; e++)
            sum += t->p[i].now[now][e] * t->p[i].start[start][e];
    return sum;
}

static double
norm(const testcase *t, int plane, bool now)
{
    double sum = 0;
    for (uint32_t i = 0; i < t->n; i++)
        for (size_t e = 0; t->p[i].dtype == RG_F64 && e < t->p[i].elements; e++) {
            double v = now ? t->p[i].now[plane][e] : t->p[i].start[plane][e];
            sum += v * v;
        }
    return sqrt(sum);
}

static void
expect(const testcase *t, const char *what, double got, double want, double tolerance)
{
    checks++;
    if (!(fabs(got - want) <= tolerance))
        fail(t, what, got, want);
}

/* -- stages ------------------------------------------------------------------------------------------------ */
static bool
stage(testcase *t, const ir_fn *fn, const char *name, double want, double scale, double *u_dot_vjp)
{
    if (!run(t, fn, 0))
        return false;
    double got = dot(t, RG_ADJOINT, RG_TANGENT, true);
    if (u_dot_vjp)
        *u_dot_vjp = got;
    expect(t, name, got, want, 1e-12 * scale * norm(t, RG_ADJOINT, true) * norm(t, RG_TANGENT, false) + 1e-14);
    return true;
}

static bool
good(testcase *t, bool ok, const char *what, diag_list *diags)
{
    if (!ok || diags->errors) {
        printf("FAILED %s: %s\n%s\n", t->path, what, diags->text.ptr ? diags->text.ptr : "");
        failures++;
        diag_free(diags);
        return false;
    }
    return true;
}

/* the primal arrays after a run of fn equal those in `want` (saved from the forward run) */
static void
expect_primals(testcase *t, const char *what, double *const *want)
{
    for (uint32_t i = 0; i < t->n; i++)
        for (size_t e = 0; want[i] && e < t->p[i].elements; e++)
            if (!(fabs(t->p[i].now[0][e] - want[i][e]) <= (lanes ? 1e-13 * fabs(want[i][e]) : 0))) {
                fail(t, what, t->p[i].now[0][e], want[i][e]);
                return;
            }
}

static bool
note_rewinding(ir_op *op, void *user)
{
    *(int *)user += op->rewinds;
    return true;
}

static bool
note_writing(ir_op *op, void *user)
{
    *(int *)user += op->plane & RG_ADJOINT && (op->code == RG_OP_STORE || op->code == RG_OP_RMW);
    return true;
}

static int
count(const ir_fn *fn, ir_visit *note)
{
    int n = 0;
    ir_walk(fn->body, note, &n);
    return n;
}

static bool
plan_it(ir_module *m, diag_list *diags)
{
    verified_pass(m, ad_plan, "ad_plan", IR_STAGE_AD, diags);
    simplified(m, IR_STAGE_AD, diags);
    if (verified_pass(m, ad_blocks, "ad_blocks", IR_STAGE_AD, diags)) {
        verified_pass(m, ad_plan, "ad_plan", IR_STAGE_AD, diags);
        simplified(m, IR_STAGE_AD, diags);
    }
    passes_asked.lanes = lanes;
    if (lanes && verified_pass(m, lower_lanes, "lower_lanes", IR_STAGE_AD, diags))
        simplified(m, IR_STAGE_AD, diags);
    return !diags->errors;
}

/* every stage of the pipeline on one differentiated kernel, in a module of its own */
static void
check_stages(testcase *t, const ir_fn *made, double want, double scale, const char *form, const char *plan,
             double *const *primals)
{
    diag_list diags = {0};
    ir_module *m = ir_module_new();
    passes_asked.plan = (ad_plan_options){0};
    ad_plan_parse(plan, &passes_asked.plan);
    ir_fn *fn = ir_fn_clone(m, made, made->name);
    char name[64];
    const char *steps[] = {"raw", "simplified", "planned", "taped", "slotted"};
    for (int s = 0; s < 5; s++) {
        bool ok = true;
        if (s == 1)
            simplified(m, IR_STAGE_AD, &diags);
        else if (s == 2)
            ok = plan_it(m, &diags);
        else if (s == 3)
            bare_pass(m, lower_tape);
        else if (s == 4)
            bare_pass(m, opt_dce), bare_pass(m, lower_arrays);
        snprintf(name, sizeof name, "%s, %s (%s)", form, steps[s], plan);
        if (s == 1 && t->rewinds >= 0 && strcmp(form, "combined vjp") == 0)
            expect(t, "tasks that rewind", count(fn, note_rewinding), t->rewinds, 0);
        if (s == 1 && t->writes >= 0 && strcmp(form, "combined vjp") == 0)
            expect(t, "writes to adjoints", count(fn, note_writing), t->writes, 0);
        bool valid = ok && ir_verify(m, s < 3 ? IR_STAGE_AD : s < 4 ? IR_STAGE_TAPE : IR_STAGE_SLOTS, name, &diags);
        if (!good(t, valid, name, &diags)) {
            str text = {0};
            ir_print_module(&text, m);
            if (getenv("AD_PRINT"))
                printf("%s\n", text.ptr);
            str_free(&text);
            break;
        }
        if (getenv("AD_PRINT")) {
            str text = {0};
            ir_print_module(&text, m);
            printf("; ---- %s\n%s\n", name, text.ptr);
            str_free(&text);
        }
        if (!stage(t, fn, name, want, scale, NULL))
            break;
        if (primals)
            expect_primals(t, name, primals);
    }
    diag_free(&diags);
    ir_module_free(m);
}

static const char *const plans[] = {"least",   "record",  "recompute",      "block=2",
                                    "block=3", "block=8", "record,block=4", "recompute,block=5",
                                    "drop=1",  "drop=40", "record,drop=100", "block=2,drop=30"};

/* a second derivative under each plan; `want` is what it gives without one */
static void
check_second(testcase *t, const ir_fn *second, double want)
{
    for (size_t k = 0; k < countof(plans); k++) {
        diag_list diags = {0};
        ir_module *m = ir_module_new();
        char name[64];
        snprintf(name, sizeof name, "jvp of vjp (%s)", plans[k]);
        passes_asked.plan = (ad_plan_options){0};
        ad_plan_parse(plans[k], &passes_asked.plan);
        ir_fn *fn = ir_fn_clone(m, second, "hvp");
        simplified(m, IR_STAGE_AD, &diags);
        bool valid = plan_it(m, &diags) && bare_pass(m, lower_tape) && ir_verify(m, IR_STAGE_TAPE, name, &diags);
        if (good(t, valid, name, &diags) && run(t, fn, 0))
            expect(t, name, dot(t, 3, RG_TANGENT, true), want, 1e-12 * (norm(t, 3, true) * norm(t, RG_TANGENT, false) + 1));
        diag_free(&diags);
        ir_module_free(m);
    }
}

static bool
note_blocks(ir_op *op, void *user)
{
    int *size = user;
    if (op->records && op->code != RG_OP_PARALLEL && (int)op->block > *size)
        *size = (int)op->block;
    return true;
}

/* on a processor for which the tape is far away */
static void
check_blocks(testcase *t, const ir_fn *vjp)
{
    target far_away = *target_cpu(64);
    diag_list diags = {0};
    ir_module *m = ir_module_new();
    int size = 0;
    far_away.frame = 20, far_away.byte = 25, far_away.registers = 64 * 4;
    m->target = &far_away;
    passes_asked.plan = (ad_plan_options){0};
    ir_fn *fn = ir_fn_clone(m, vjp, "vjp");
    simplified(m, IR_STAGE_AD, &diags);
    good(t, plan_it(m, &diags), "blocks", &diags);
    ir_walk(fn->body, note_blocks, &size);
    expect(t, "iterations in a block", size, t->block, 0);
    diag_free(&diags);
    ir_module_free(m);
}

static void
check_plans(testcase *t, const ir_fn *made, double want, const char *form, double *const *primals)
{
    for (size_t k = 0; k < countof(plans); k++)
        check_stages(t, made, want, 1, form, plans[k], primals);
}

static void
check_case(testcase *t, pass_context *c)
{
    diag_list diags = {0};
    c->diags = &diags;
    double *forward[32] = {0};
    ad_options split = {0}, combined = {.combined = true};
    if (!run(t, t->fn, 0))
        return;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->p[i].dtype == RG_F64) {
            forward[i] = mem_alloc(8 * t->p[i].elements + 8);
            memcpy(forward[i], t->p[i].now[0], 8 * t->p[i].elements);
        }

    double h = 6e-6, up, down, forward_mode;
    ir_fn *jvp = ad_jvp(t->fn, NULL, "jvp", c);
    if (!good(t, jvp != NULL, "jvp", &diags) || !good(t, ir_verify(t->m, IR_STAGE_AD, "jvp", &diags), "jvp", &diags))
        return;
    if (!run(t, jvp, 0))
        return;
    expect_primals(t, "jvp, primals", forward);
    forward_mode = dot(t, RG_TANGENT, RG_ADJOINT, false);
    run(t, t->fn, h);
    up = dot(t, 0, RG_ADJOINT, false);
    run(t, t->fn, -h);
    down = dot(t, 0, RG_ADJOINT, false);
    expect(t, "jvp against central differences", forward_mode, (up - down) / (2 * h),
           1e-7 * (fabs(forward_mode) + 1));

    ir_fn *vjp = ad_vjp(t->fn, &combined, "vjp", c);
    if (!good(t, vjp != NULL, "vjp", &diags))
        return;
    check_plans(t, vjp, forward_mode, "combined vjp", forward);
    if (t->block)
        check_blocks(t, vjp);

    /* jvp of the vjp: the tangent of the adjoint against differences of the adjoint */
    ir_fn *second = ad_jvp(vjp, NULL, "hvp", c);
    if (good(t, second != NULL, "jvp of vjp", &diags) &&
        good(t, ir_verify(t->m, IR_STAGE_AD, "jvp of vjp", &diags), "jvp of vjp", &diags) && run(t, second, 0)) {
        double mixed = dot(t, 3, RG_TANGENT, true);
        check_second(t, second, mixed);
        run(t, vjp, h);
        up = dot(t, RG_ADJOINT, RG_TANGENT, true);
        run(t, vjp, -h);
        down = dot(t, RG_ADJOINT, RG_TANGENT, true);
        expect(t, "jvp of vjp against central differences", mixed, (up - down) / (2 * h), 1e-6 * (fabs(mixed) + 1));
    }
    if (t->split) {
        ir_fn *apart = ad_vjp(t->fn, &split, "split", c);
        if (good(t, apart != NULL, "split vjp", &diags)) {
            ir_module *m = ir_module_new();
            ir_fn *simple = ir_fn_clone(m, apart, "split");
            simplified(m, IR_STAGE_AD, &diags);
            if (good(t, ad_check_split(simple, t->fn, false, c), "split vjp", &diags)) {
                for (uint32_t i = 0; i < t->n; i++) /* arrays stand as after the forward launch */
                    if (forward[i] && t->p[i].buffer)
                        memcpy(t->p[i].start[0], forward[i], 8 * t->p[i].elements);
                check_plans(t, apart, forward_mode, "split vjp", forward);
            }
            ir_module_free(m);
        }
    }
    for (uint32_t i = 0; i < t->n; i++)
        mem_free(forward[i]);
    diag_free(&diags);
}

/* -- out of memory ------------------------------------------------------------------------------------------ */
static jmp_buf escape;

static void
give_up(void *user, size_t bytes)
{
    (void)user;
    (void)bytes;
    longjmp(escape, 1);
}

/* Everything from text to tape with the n-th allocation failing: the sanitizers see what is lost. */
static bool
survives(const testcase *t, long n)
{
    static ir_module *m; /* outlives the jump */
    static diag_list diags;
    static const ad_plan_options blocked = {.block = 3};
    m = NULL;
    mem_set_handler(give_up, NULL);
    bool whole = false;
    if (setjmp(escape) == 0) {
        ad_options combined = {.combined = true};
        m = ir_module_new();
        ir_fn *fn = ir_fn_clone(m, t->fn, "k");
        mem_fail_after(n);
        pass_context c;
        passes_begin(&c, &diags);
        ir_fn *vjp = ad_vjp(fn, &combined, "vjp", &c);
        if (vjp)
            ad_jvp(vjp, NULL, "hvp", &c);
        pass_context_finish(&c);
        passes_asked.plan = blocked;
        bare_pass(m, ad_plan);
        bare_pass(m, ad_blocks);
        bare_pass(m, ad_plan);
        passes_asked.lanes = lanes;
        if (lanes)
            bare_pass(m, lower_lanes);
        bare_pass(m, lower_tape);
        whole = true;
    }
    mem_fail_after(0);
    mem_set_handler(NULL, NULL);
    ir_module_free(m);
    diag_free(&diags);
    return whole;
}

static void
check_out_of_memory(const testcase *t)
{
    long n = 1;
    while (!survives(t, n))
        n += 1 + n / 40;
    checks++;
}

int
main(int argc, char **argv)
{
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--lanes") == 0) {
        lanes = (unsigned)atoi(argv[2]);
        first = 3;
    }
    for (int i = first; i < argc; i++) {
        testcase t;
        if (!read_case(&t, argv[i]))
            continue;
        check_out_of_memory(&t);
        pass_context c;
        passes_begin(&c, NULL);
        check_case(&t, &c);
        pass_context_finish(&c);
        for (uint32_t k = 0; k < t.n; k++) {
            for (int plane = 0; plane < PLANES; plane++) {
                mem_free(t.p[k].start[plane]);
                mem_free(t.p[k].now[plane]);
            }
            mem_free(t.p[k].ints);
        }
        ir_module_free(t.m);
    }
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
