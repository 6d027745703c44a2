/* ptx_test [--ptxas PATH] [--arch sm_90] [--every N] [--times] [--deterministic] [--keep FOLDER] [--wants TEXT]... FILE.c|FOLDER...
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every kernel of the files in every form becomes PTX: nothing outside is called, nothing is fused, flushed or
 * approximate that the IR did not decide (but for what quotients and roots begin with), arrays are read as global memory,
 * numbers are aligned, outer loops have one way back behind inner ones (ptx_loops.h). With --ptxas every Nth is assembled,
 * which may find it wrong; its registers and spills go to the output with --times, as do milliseconds. --wants: gradients
 * in the files behind it have this text in them. */
#include "codegen/llvm/ll.h"
#include "each_kernel.h"
#include "pipeline/pipeline.h"
#include "ptx_loops.h"

typedef struct setting {
    const char *ptxas, *arch, *keep;
    int every;
    bool times, fast, native, fixed;
    const char *wants[8];
    size_t nwants;
} setting;

typedef struct tally {
    const setting *setting;
    int texts, assembled, failures;
    double longest;
} tally;

static void
fail(tally *t, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    t->failures++;
}

static bool
touches_arrays(ir_op *op, void *user)
{
    (void)user;
    return (op->code != RG_OP_LOAD && op->code != RG_OP_STORE) || op->args[0]->type.kind != IR_BUFFER ||
           op->plane != RG_PRIMAL;
}

static bool
is_strict(ir_op *op, void *user)
{
    (void)user;
    return !op->fast;
}

/* what quotients and roots begin with, which steps of fma follow */
static bool
is_refined(const char *text, const char *at)
{
    static const char *const names[] = {"rcp.approx.ftz.f32 ", "rsqrt.approx.ftz.f32 "};
    while (at > text && at[-1] != '\t')
        at--;
    for (size_t i = 0; i < countof(names); i++)
        if (strncmp(at, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool
has_rough(const char *text, const char *word)
{
    for (const char *at = text; (at = strstr(at, word)); at++)
        if (!is_refined(text, at))
            return true;
    return false;
}

/* Numbers of 8 bytes in a thread's own memory are as far from one another as they are aligned; the assembler does not look. */
static bool
is_aligned(const char *text)
{
    for (const char *at = text; (at = strstr(at, ".local.b64")); at++) {
        size_t line = strcspn(at, "\n"), plus = strcspn(at, "+");
        if (plus < line && strtol(at + plus + 1, NULL, 10) % 8)
            return false;
    }
    return true;
}

static void
check_text(const setting *s, const ir_fn *fn, const char *what, const char *text, tally *t)
{
    static const char *const loose[] = {"\tadd.f32", "\tmul.f32", "\tsub.f32", "\tadd.f64", "\tmul.f64", "\tsub.f64"};
    static const char *const rough[] = {".approx", ".ftz", "div.full"};
    bool strict = ir_walk(fn->body, is_strict, NULL);
    if (strstr(text, ".extern"))
        fail(t, what, "something is not there");
    for (size_t i = 0; i < countof(loose) && strict && !s->native; i++)
        if (strstr(text, loose[i])) /* the assembler may fuse it */
            fail(t, what, loose[i] + 1);
    for (size_t i = 0; i < countof(rough) && !s->fast && !s->native; i++)
        if (has_rough(text, rough[i]))
            fail(t, what, rough[i]);
    if (!ir_walk(fn->body, touches_arrays, NULL) && !strstr(text, "ld.global") && !strstr(text, "st.global"))
        fail(t, what, "arrays are not known to be in global memory");
    if (!is_aligned(text))
        fail(t, what, "a number in local memory is not aligned");
    if (!strstr(text, ".visible .entry kernel("))
        fail(t, what, "no entry");
    str why = {0};
    if (!ptx_loops_are_plain(text, &why))
        fail(t, what, why.ptr);
    str_free(&why);
}

static void
check_wants(const setting *s, const char *what, const char *text, tally *t)
{
    for (size_t i = 0; i < s->nwants; i++)
        if (!strstr(text, s->wants[i])) {
            fail(t, what, "lacks");
            fail(t, what, s->wants[i]);
        }
}

static void
assemble(const setting *s, const char *what, const str *text, tally *t)
{
    char path[] = "/tmp/ptx_test_XXXXXX.ptx";
    str command = {0};
    int file = mkstemps(path, 4);
    if (file < 0 || file_write(path, text->ptr, text->len)) {
        fail(t, what, "cannot be written");
        return;
    }
    str_addf(&command, "%s -O3 -arch=%s %s -o /dev/null %s", s->ptxas, s->arch, path, s->times ? "-v 2>&1 | grep -E 'spill|Used|rror' | head -3" : "");
    fflush(stdout);
    double start = clock_ms();
    if (system(command.ptr))
        fail(t, what, "ptxas refuses it");
    double took = clock_ms() - start;
    if (s->times)
        printf("    ptxas %.0f ms\n", took);
    t->assembled++;
    remove(path);
    str_free(&command);
}

static void
keep(const setting *s, const char *what, const str *text)
{
    str path = {0};
    str_addf(&path, "%s/%s.ptx", s->keep, strrchr(what, '/') ? strrchr(what, '/') + 1 : what);
    for (char *c = path.ptr + strlen(s->keep) + 1; *c; c++)
        if (*c == ' ')
            *c = '.';
    if (file_write(path.ptr, text->ptr, text->len))
        fprintf(stderr, "%s: cannot be written\n", path.ptr);
    str_free(&path);
}

static void
run_form(void *user, const ir_fn *source, rg_form form, const char *path)
{
    tally *t = user;
    const setting *s = t->setting;
    str what = {0}, text = {0};
    diag_list diags = {0};
    ll_gpu_info info;
    ir_fn *fn;
    pipeline_options options = {.form = form, .contraction = true, .stage = IR_STAGE_SLOTS, .target = &target_nvidia};
    str_addf(&what, "%s %s %s", path, source->name, pipeline_form_name(form));
    double start = clock_ms();
    ir_module *m = pipeline_run(source, &options, &diags, &fn);
    double front = clock_ms() - start;
    if (m) {
        ll_options o = {.noalias = true, .cpu = s->arch, .fast_math = s->fast, .native_math = s->native,
                        .deterministic = s->fixed};
        if (ll_emit_ptx(fn, "kernel", &o, &text, &info, &diags)) {
            fail(t, what.ptr, diags.text.ptr);
        } else {
            ll_times took = ll_last_times();
            if (s->times)
                printf("%s: our passes %.0f ms, LLVM %.0f + %.0f + %.0f ms, %zu bytes\n", what.ptr, front, took.build, took.passes,
                       took.code, text.len);
            t->longest = took.build + took.passes + took.code > t->longest ? took.build + took.passes + took.code : t->longest;
            check_text(s, fn, what.ptr, text.ptr, t);
            if (form == RG_VJP)
                check_wants(s, what.ptr, text.ptr, t);
            if (s->keep)
                keep(s, what.ptr, &text);
            if (s->ptxas && t->texts % s->every == 0)
                assemble(s, what.ptr, &text, t);
            ll_gpu_info_free(&info);
        }
        t->texts++;
        ir_module_free(m);
    }
    diag_free(&diags);
    str_free(&text);
    str_free(&what);
}

int
main(int argc, char **argv)
{
    setting s = {.arch = "sm_90", .every = 1};
    tally t = {.setting = &s};
    each_kernel each = {.run = run_form, .user = &t};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(word, "--times") == 0)
            s.times = true;
        else if (strcmp(word, "--fast-math") == 0)
            s.fast = true;
        else if (strcmp(word, "--deterministic") == 0)
            s.fixed = true;
        else if (strcmp(word, "--native-math") == 0)
            s.native = true;
        else if (strcmp(word, "--ptxas") == 0)
            s.ptxas = value, i++;
        else if (strcmp(word, "--arch") == 0)
            s.arch = value, i++;
        else if (strcmp(word, "--keep") == 0)
            s.keep = value, i++;
        else if (strcmp(word, "--every") == 0)
            s.every = atoi(value), i++;
        else if (strcmp(word, "--wants") == 0 && s.nwants < countof(s.wants))
            s.wants[s.nwants++] = value, i++;
        else
            each_kernel_of(&each, word);
    }
    t.failures += each.failures;
    if (!s.ptxas)
        printf("left out: the assembler's word (ptxas is missing)\n");
    printf("%d texts of PTX, %d assembled, %d failures; LLVM took at most %.0f ms\n", t.texts, t.assembled, t.failures, t.longest);
    return t.failures != 0 || !t.texts;
}
