/* compiler.def's calls, made in a helper program. SPDX-License-Identifier: Apache-2.0 */
#include "compiler/process.h"

#include "compiler/helper.h"
#include "compiler/wire.h"

static str
request_of(wire_call call)
{
    str request = {.in = mem_scratch()};
    bytes_put_u32(&request, call);
    wire_put_process(&request);
    return request;
}

static rg_status
damaged_answer(const char *label, diag_list *diags)
{
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s: what the compiler's process answers cannot be read", label);
    return RG_DEVICE;
}

/* The answer behind the call's status, which is returned, and its diagnostics; it has to be read to its end where that is RG_OK. */
static rg_status
ask(const str *request, const char *label, bytes_reader *r, diag_list *diags)
{
    str answer = {.in = mem_scratch()};
    TRY(helper_ask(str_view(request), label, &answer, diags));
    *r = bytes_of(str_view(&answer));
    uint32_t status = bytes_u32(r);
    wire_get_diags(r, diags);
    return r->damaged ? damaged_answer(label, diags) : (rg_status)status;
}

#if RG_HAVE_LLVM
static rg_status
ask_for_code(wire_call call, const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options,
             const char *label, bytes_reader *r, rg_str *code, diag_list *diags)
{
    str request = request_of(call);
    wire_put_fns(&request, fns, names, n);
    wire_put_options(&request, fns[0], options);
    TRY(ask(&request, label, r, diags));
    *code = bytes_str(r);
    return RG_OK;
}

static rg_status
ask_for_bytes(wire_call call, const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options,
              const char *label, str *out, diag_list *diags)
{
    bytes_reader r;
    rg_str code;
    TRY(ask_for_code(call, fns, names, n, options, label, &r, &code, diags));
    if (!bytes_done(&r))
        return damaged_answer(label, diags);
    str_add(out, code);
    return RG_OK;
}

rg_status
process_make(const ir_fn *fn, const ll_options *options, const char *label, str *bytes, diag_list *diags)
{
    const char *name = ll_entry_name;
    return ask_for_bytes(WIRE_MAKE, &fn, &name, 1, options, label, bytes, diags);
}

rg_status
process_emit_object(const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options, const char *label,
                    str *out, diag_list *diags)
{
    return ask_for_bytes(WIRE_OBJECT, fns, names, n, options, label, out, diags);
}

/* Places are those of the first. */
static rg_status
ask_for_entries(wire_call call, const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options,
                const char *label, str *code, ll_gpu_info *infos, diag_list *diags)
{
    bytes_reader r;
    rg_str text;
    memset(infos, 0, n * sizeof *infos);
    TRY(ask_for_code(call, fns, names, n, options, label, &r, &text, diags));
    for (uint32_t i = n; i > 0; i--) {
        ll_gpu_info_free(&infos[0]);
        ll_gpu_info_read(&r, &infos[0]);
        if (i == 1)
            break;
        infos[i - 1] = infos[0];
        infos[i - 1].texts = NULL;
        memset(&infos[i - 1].places, 0, sizeof infos->places);
    }
    if (bytes_done(&r)) {
        str_add(code, text);
        return RG_OK;
    }
    ll_gpu_info_free(&infos[0]);
    return damaged_answer(label, diags);
}

rg_status
process_emit_ptx_entries(const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options, const char *label,
                         str *ptx, ll_gpu_info *infos, diag_list *diags)
{
    return ask_for_entries(WIRE_PTX, fns, names, n, options, label, ptx, infos, diags);
}

rg_status
process_emit_hsaco_entries(const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options, const char *label,
                           str *hsaco, ll_gpu_info *infos, diag_list *diags)
{
    return ask_for_entries(WIRE_HSACO, fns, names, n, options, label, hsaco, infos, diags);
}

rg_status
process_has_target(const ll_options *options, const char *label, diag_list *diags)
{
    bytes_reader r;
    str request = request_of(WIRE_TARGET);
    wire_put_options(&request, NULL, options);
    TRY(ask(&request, label, &r, diags));
    return bytes_done(&r) ? RG_OK : damaged_answer(label, diags);
}
#endif

#if RG_HAVE_CLANG
static const char *
label_of(const front_c_source *s)
{
    str label = {.in = mem_scratch()};
    str_addf(&label, s->kernel ? "%s, kernel `%s`" : "%s", s->path, s->kernel);
    return label.ptr;
}

rg_status
process_compile_c(const front_c_source *source, ir_module **out, diag_list *diags)
{
    bytes_reader r;
    seen_list seen;
    const char *label = label_of(source);
    str request = request_of(WIRE_C);
    *out = NULL;
    wire_put_source(&request, source);
    rg_status status = ask(&request, label, &r, diags);
    if (status && status != RG_COMPILE)
        return status;
    if (bytes_u32(&r) && source->unknown)
        *source->unknown = true;
    if (status)
        return status;
    if (!wire_get_seen(&r, &seen))
        return damaged_answer(label, diags);
    ir_module *m = wire_get_module(&r, source->path, diags);
    if (!m || !bytes_done(&r)) {
        ir_module_free(m);
        return damaged_answer(label, diags);
    }
    if (source->seen)
        *source->seen = seen;
    *out = m;
    return RG_OK;
}

rg_status
process_list_c(const front_c_source *source, front_c_names *names, diag_list *diags)
{
    bytes_reader r;
    seen_list seen;
    const char *label = label_of(source);
    str request = request_of(WIRE_NAMES);
    wire_put_source(&request, source);
    TRY(ask(&request, label, &r, diags));
    if (!wire_get_seen(&r, &seen))
        return damaged_answer(label, diags);
    wire_get_names(&r, names);
    if (!bytes_done(&r))
        return damaged_answer(label, diags);
    if (source->seen)
        *source->seen = seen;
    return RG_OK;
}
#endif
