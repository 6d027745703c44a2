/* What the helper of compile_process answers is what this process makes itself: names, IR with its diagnostics, code of each form
 * byte by byte. SPDX-License-Identifier: Apache-2.0
 *
 *   apart_test HELPER FILE.c|FILE.rg... */
#include "base/base.h"
#include "check.h"
#include "compiler/process.h"
#include "device/device.h"
#include "pipeline/pipeline.h"

static double here_ms, apart_ms;                     /* the same work */
static unsigned names_seen, irs, codes, objects, ptxs; /* that both made, and that were compared */

static bool
same(const str *x, const str *y)
{
    return str_eq(str_view(x), str_view(y));
}

static const char *
shown(const str *s)
{
    return s->ptr ? s->ptr : "";
}

static void
check_diags(const diag_list *x, const diag_list *y, const char *what)
{
    CHECK(same(&x->text, &y->text) && x->errors == y->errors && x->kinds == y->kinds, "%s: here\n%s\napart\n%s", what, shown(&x->text),
          shown(&y->text));
}

static void
check_cpu(const ir_fn *fn, const char *what, ll_jit *jit)
{
    str here = {0}, apart = {0};
    diag_list d = {0}, e = {0};
    ll_options o = {.noalias = true};
    double start = clock_ms();
    rg_status status = ll_make(jit, fn, &o, &here, &d);
    double between = clock_ms();
    rg_status other = process_make(fn, &o, what, &apart, &e);
    here_ms += between - start;
    apart_ms += clock_ms() - between;
    check_diags(&d, &e, what);
    CHECK(status == other && same(&here, &apart), "%s: %zu bytes here, %zu apart, statuses %d %d", what, here.len, apart.len, status,
          other);
    codes += !status && here.len;
    str_free(&here), str_free(&apart), diag_free(&d), diag_free(&e);
}

/* Ahead of time, twice in one object. */
static void
check_object(const ir_fn *fn, const char *what)
{
    const ir_fn *fns[] = {fn, fn};
    const char *names[] = {"one", "two"};
    str here = {0}, apart = {0};
    diag_list d = {0}, e = {0};
    ll_options o = {.triple = "x86_64-pc-linux-gnu", .cpu = "x86-64-v3", .features = "", .made = "made_here", .needs = "avx2",
                    .assembly = true};
    rg_status status = ll_emit_object(fns, names, 2, &o, &here, &d), other = process_emit_object(fns, names, 2, &o, what, &apart, &e);
    check_diags(&d, &e, what);
    CHECK(status == other && same(&here, &apart), "%s: here\n%s\napart\n%s", what, shown(&here), shown(&apart));
    objects += !status && here.len;
    str_free(&here), str_free(&apart), diag_free(&d), diag_free(&e);
}

static void
check_target(const char *triple, const char *cpu, const char *features)
{
    diag_list d = {0}, e = {0};
    ll_options o = {.triple = triple, .cpu = cpu, .features = features};
    rg_status here = ll_has_target(&o, &d) ? RG_OK : RG_UNSUPPORTED, apart = process_has_target(&o, "target", &e);
    check_diags(&d, &e, cpu);
    CHECK(here == apart, "%s: %d here, %d apart", cpu, here, apart);
    diag_free(&d), diag_free(&e);
}

static void
check_gpu(const ir_fn *fn, const char *what)
{
    str here = {0}, apart = {0};
    const ir_fn *fns[] = {fn, fn};
    const char *names[] = {"kernel", "again"};
    ll_gpu_info infos[2], others[2];
    diag_list d = {0}, e = {0};
    ll_options o = {.noalias = true, .cpu = "sm_90", .triple = "nvptx64-nvidia-cuda"};
    rg_status status = ll_emit_ptx_entries(fns, names, 2, &o, &here, infos, &d);
    rg_status other = process_emit_ptx_entries(fns, names, 2, &o, what, &apart, others, &e);
    str one = {0}, two = {0};
    for (int i = 0; i < 2; i++) {
        ll_gpu_info_write(&one, &infos[i]);
        ll_gpu_info_write(&two, &others[i]);
    }
    check_diags(&d, &e, what);
    CHECK(status == other && same(&here, &apart) && same(&one, &two), "%s: %zu bytes here, %zu apart, statuses %d %d", what, here.len,
          apart.len, status, other);
    ptxs += !status && here.len;
    ll_gpu_info_free(&infos[0]), ll_gpu_info_free(&others[0]);
    str_free(&here), str_free(&apart), str_free(&one), str_free(&two), diag_free(&d), diag_free(&e);
}

static void
check_form(const ir_fn *source, rg_form form, const target *t, const char *path, ll_jit *jit)
{
    str what = {0};
    diag_list diags = {0};
    ir_fn *fn;
    pipeline_options options = {.form = form, .contraction = true, .stage = IR_STAGE_SLOTS, .target = t};
    str_addf(&what, "%s %s %s %s", path, source->name, pipeline_form_name(form), t->name);
    ir_module *m = pipeline_run(source, &options, &diags, &fn);
    if (m)
        ir_renumber(fn); /* symbols of tables have numbers of values */
    if (m && t->warp)
        check_gpu(fn, what.ptr);
    else if (m && t == target_host())
        check_cpu(fn, what.ptr, jit);
    if (m && t->vector == 32)
        check_object(fn, what.ptr);
    ir_module_free(m);
    str_free(&what), diag_free(&diags);
}

static void
check_code(ir_module *m, const char *kernel, const char *path, ll_jit *jit)
{
    diag_list diags = {0};
    pipeline_options options = {.contraction = true};
    ir_module *source = pipeline_source(ir_fn_find(m, rg_str_of(kernel)), &options, &diags);
    for (int form = 0; source && form < RG_FORM_COUNT; form++) {
        check_form(source->first, (rg_form)form, target_host(), path, jit);
        check_form(source->first, (rg_form)form, &target_nvidia, path, jit);
        if (form == RG_VJP && target_host()->vector != 32)
            check_form(source->first, (rg_form)form, target_cpu(32), path, jit);
    }
    ir_module_free(source);
    diag_free(&diags);
}

static void
check_kernel(const front_c_source *all, const char *kernel, ll_jit *jit)
{
    front_c_source c = *all;
    diag_list d = {0}, e = {0};
    seen_list seen, other_seen;
    str here = {0}, apart = {0};
    ir_module *other = NULL;
    bool unknown = false, other_unknown = false;
    seen_begin(&seen), seen_begin(&other_seen);
    c.kernel = kernel;
    c.seen = &seen, c.unknown = &unknown;
    ir_module *m = front_c_compile(&c, &d);
    c.seen = &other_seen, c.unknown = &other_unknown;
    rg_status status = process_compile_c(&c, &other, &e);
    check_diags(&d, &e, kernel);
    CHECK(unknown == other_unknown && !m == !other && (m != NULL) == (status == RG_OK), "%s: status %d", kernel, status);
    if (m && other) {
        ir_print_exact(&here, m), ir_print_exact(&apart, other);
        seen_write(&seen, &here), seen_write(&other_seen, &apart);
        CHECK(same(&here, &apart) && seen.open == other_seen.open, "%s: here\n%s\napart\n%s", kernel, here.ptr, apart.ptr);
        for (size_t i = 1; i < other->files.n; i++)
            CHECK(!m->files.at[i].text == !other->files.at[i].text, "%s: the text of %s", kernel, other->files.at[i].path);
        irs++;
        check_code(m, kernel, c.path, jit);
    }
    ir_module_free(m), ir_module_free(other);
    str_free(&here), str_free(&apart), diag_free(&d), diag_free(&e);
}

static void
check_file(const char *path, ll_jit *jit)
{
    diag_list d = {0}, e = {0};
    front_c_names names = {0}, others = {0};
    str text = {0};
    CHECK(!file_read(path, &text), "%s cannot be read", path);
    front_c_source c = {.path = path, .text = str_view(&text)};
    rg_status status = front_c_list(&c, &names, &d) ? RG_OK : RG_COMPILE, other = process_list_c(&c, &others, &e);
    check_diags(&d, &e, path);
    CHECK(status == other && names.count == others.count && names.statics == others.statics, "%s: %u and %u names", path, names.count,
          others.count);
    for (uint32_t i = 0; i < names.count && names.count == others.count; i++) {
        CHECK(strcmp(names.names[i], others.names[i]) == 0, "%s: %s is not %s", path, names.names[i], others.names[i]);
        names_seen++;
        check_kernel(&c, names.names[i], jit);
    }
    check_kernel(&c, "no_such_kernel", jit);
    str_free(&text), diag_free(&d), diag_free(&e);
}

int
main(int argc, char **argv)
{
    diag_list diags = {0};
    ll_jit *jit;
    setenv("RG_COMPILE_PROCESS", argv[1], 1);
    if (ll_jit_create(&jit, &diags)) {
        CHECK(false, "%s", shown(&diags.text));
        return check_done();
    }
    check_target("x86_64-pc-linux-gnu", "x86-64-v3", "");
    check_target("x86_64-pc-linux-gnu", "x86-64-v3", "+warp_drive");
    check_target("z80-unknown", "nobody", "");
    for (int i = 2; i < argc; i++)
        check_file(argv[i], jit);
    ll_jit_destroy(jit);
    bool with_ptx = rt_device_find(RG_STR("cuda")) != NULL;
    CHECK(names_seen && irs && codes && objects && (ptxs || !with_ptx), "something was not compared");
    printf("compared: %u names, %u IR, %u codes, %u objects, %u PTX\n", names_seen, irs, codes, objects, ptxs);
    printf("code for this machine: %.0f ms here, %.0f ms apart (%.2f times)\n", here_ms, apart_ms, apart_ms / here_ms);
    return check_done();
}
