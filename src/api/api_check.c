/* A kernel checked against itself, from arguments that are given or made up. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "check/check.h"
#include "rt/interp/interp.h"

struct rg_report {
    api_handle handle;
    check_report found;
};

enum { USUAL_STARTS = 3, MOST_STARTS = 1000, MOST_STEPS = 1 << 28, MOST_LIKELY = 1 << 20 };
enum { LONGER = 8, LONGEST = 4096, MOST_BYTES = 1 << 26 }; /* of lengths that are guessed again */

int64_t
api_likely_extent(const rg_kernel *kernel, const api_slot *slots)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (!kernel->params[i].array && !ir_is_float(kernel->params[i].dtype)) {
            int64_t v = (int64_t)slots[i].bits;
            most = v > most && v <= MOST_LIKELY ? v : most;
        }
    return most ? most : API_DEFAULT_INTEGER;
}

/* -- what is not given ------------------------------------------------------------------------- */

/* One start in the making. */
typedef struct making {
    const rg_kernel *kernel;
    const ir_fn *fn;      /* its IR, a copy */
    const rg_args *given; /* NULL: nothing is */
    arena *memory;        /* of all that is made */
    uint64_t seed;
    bool again;     /* not the first start */
    int64_t factor; /* of lengths that nothing fixes */
    bool open;      /* there are such */
    api_slot *slots; /* scalars, those that were made up too */
    check_value *values;
    bool *guessed;   /* by parameter: its length is, in part */
} making;

static bool
is_made_up(const making *m, uint32_t i, bool array)
{
    const rg_param *p = &m->kernel->params[i];
    return p->array == array && !p->result && !(m->given && m->given->slots[i].set);
}

static void
make_up_scalar(making *m, uint32_t i)
{
    rg_dtype dtype = m->kernel->params[i].dtype;
    double v;
    if (ir_is_float(dtype)) {
        check_fill(RG_F64, &v, 1, 0, false, &m->seed);
        m->slots[i].bits = ir_float_bits(dtype, v);
    } else {
        m->slots[i].bits = dtype == RG_BOOL ? !m->again : API_DEFAULT_INTEGER;
    }
}

/* What an array that is not given is as long as; else whether the one that is given is as long as it has to be. */
static rg_status
find_length(making *m, uint32_t i, const int64_t *expected)
{
    const rg_param *p = &m->kernel->params[i];
    check_value *v = &m->values[i];
    const rg_array *array = is_made_up(m, i, true) ? NULL : m->given->slots[i].array;
    v->rank = array ? array->layout.rank : p->rank;
    if (array)
        memcpy(v->shape, array->layout.shape, sizeof(v->shape));
    for (uint32_t k = 0; k < p->rank; k++) {
        if (array && p->flat)
            break;
        TRY(array ? api_check_axis(m->kernel, i, k, expected[k], v->shape[k]) : api_check_extent(m->kernel, i, k, expected[k]));
        if (array)
            continue;
        bool fixed = p->fixed >> k & 1;
        v->shape[k] = fixed ? expected[k] : api_likely_extent(m->kernel, m->slots) * m->factor;
        m->guessed[i] |= !fixed;
    }
    m->open |= m->guessed[i];
    return RG_OK;
}

static rg_status
find_lengths(making *m)
{
    const rg_kernel *k = m->kernel;
    rt_arg *packed = arena_new_n(m->memory, rt_arg, k->nparams);
    int64_t *extents = arena_new_n(m->memory, int64_t, k->nextents);
    for (uint32_t i = 0; i < k->nparams; i++)
        packed[i].bits = m->slots[i].bits;
    (void)interp_shape(m->fn, packed, extents);
    for (uint32_t i = 0; i < k->nparams; extents += k->params[i].rank, i++)
        if (k->params[i].array && !k->params[i].result)
            TRY(find_length(m, i, extents));
    return RG_OK;
}

static rt_layout
value_layout(const making *m, uint32_t i)
{
    rt_layout l = {.rank = m->values[i].rank, .size = ir_bytes(m->kernel->params[i].dtype)};
    memcpy(l.shape, m->values[i].shape, sizeof(l.shape));
    return l;
}

/* What is made up is looked at: a kernel that uses more elements than it may take operations is not worth their memory. */
static rg_status
check_room(const making *m)
{
    int64_t elements = 0;
    for (uint32_t i = 0; i < m->kernel->nparams; i++) {
        rt_layout l = value_layout(m, i);
        if (!rt_layout_dense(&l))
            return api_error(RG_INVALID, "parameter `%s` of kernel `%s` would take more bytes than there are addresses; give the "
                             "scalars that its extents are made of", m->kernel->params[i].name.ptr, m->kernel->fn->name);
        if (is_made_up(m, i, true) && __builtin_add_overflow(elements, rt_layout_count(&l), &elements))
            elements = INT64_MAX;
    }
    if (elements <= MOST_STEPS)
        return RG_OK;
    return api_error(RG_BUDGET, "kernel `%s` would be given arrays of %lld elements, more than the %d operations of the interpreter that "
                     "it may take; give it arguments for which it takes fewer",
                     m->kernel->fn->name, (long long)elements, MOST_STEPS);
}

static rg_status
make_room(making *m, uint32_t i)
{
    rt_layout l = value_layout(m, i);
    str text = {.in = mem_scratch()};
    void *data = arena_alloc(m->memory, (size_t)rt_layout_count(&l) * l.size + 1);
    m->values[i].data = data;
    if (is_made_up(m, i, true))
        return RG_OK;
    const rg_array *array = m->given->slots[i].array;
    return api_error_device(array->device, api_array_elements(array, data, &text), &text, "reading an array failed");
}

/* A pointer's array is one row to the kernel, whatever its shape. Where a guessed length was too short the integers that lead
 * there stay as small as they were: they may be numbers of rows. */
static void
read_extents(const making *m, int64_t (*extents)[RG_MAX_RANK])
{
    for (uint32_t i = 0; i < m->kernel->nparams; i++) {
        const rg_param *p = &m->kernel->params[i];
        if (!p->array || p->result)
            continue;
        rt_layout l = value_layout(m, i);
        memcpy(extents[i], l.shape, sizeof(l.shape));
        if (p->flat)
            extents[i][0] = rt_layout_count(&l);
        for (uint32_t k = 0; k < p->rank && m->guessed[i]; k++)
            extents[i][k] /= p->fixed >> k & 1 ? 1 : m->factor;
    }
}

/* All of them are there before any is filled: integers are to lie inside the arrays that they lead to. */
static void
fill_arrays(making *m)
{
    uint32_t n = m->kernel->nparams;
    int64_t(*extents)[RG_MAX_RANK] = arena_alloc(m->memory, n * sizeof(*extents));
    uint64_t *below = arena_new_n(m->memory, uint64_t, n);
    read_extents(m, extents);
    check_index_limits(m->fn, (const int64_t(*)[RG_MAX_RANK])extents, below);
    for (uint32_t i = 0; i < n; i++) {
        rt_layout l = value_layout(m, i);
        if (is_made_up(m, i, true))
            check_fill(m->kernel->params[i].dtype, (void *)m->values[i].data, (size_t)rt_layout_count(&l),
                       below[i] ? below[i] : API_DEFAULT_INTEGER, m->again, &m->seed);
    }
}

/* Scalars before arrays: shapes follow from them. */
static rg_status
make_start(making *m)
{
    uint32_t n = m->kernel->nparams;
    m->slots = arena_new_n(m->memory, api_slot, n);
    m->values = arena_new_n(m->memory, check_value, n);
    m->guessed = arena_new_n(m->memory, bool, n);
    for (uint32_t i = 0; i < n; i++)
        if (is_made_up(m, i, false))
            make_up_scalar(m, i);
        else if (m->given)
            m->slots[i].bits = m->given->slots[i].bits;
    for (uint32_t i = 0; i < n; i++)
        m->values[i].bits = m->slots[i].bits;
    TRY(find_lengths(m));
    TRY(check_room(m));
    for (uint32_t i = 0; i < n; i++)
        if (m->kernel->params[i].array && !m->kernel->params[i].result)
            TRY(make_room(m, i));
    fill_arrays(m);
    return RG_OK;
}

/* -- all of it --------------------------------------------------------------------------------- */

static void
report_free(void *report)
{
    rg_report *r = report;
    check_report_free(&r->found);
    api_free(r);
}

/* What the arrays of a guessed length would take if that were LONGER times as long. */
static double
longer_bytes(const making *m)
{
    double sum = 0;
    for (uint32_t i = 0; i < m->kernel->nparams; i++) {
        const rg_param *p = &m->kernel->params[i];
        rt_layout l = value_layout(m, i);
        double bytes = m->guessed[i] ? (double)rt_layout_count(&l) * (double)l.size : 0;
        for (uint32_t k = 0; k < p->rank; k++)
            bytes *= p->fixed >> k & 1 ? 1 : LONGER;
        sum += bytes;
    }
    return sum;
}

/* One try with guessed lengths that are how->factor times as long. *longer: the kernel may have left such arrays, and there is room
 * for longer ones. */
static rg_status
check_at(const making *how, const check_options *options, uint32_t n, check_report *report, bool *longer, diag_list *diags)
{
    check_start *at = arena_new_n(how->memory, check_start, n);
    bool open = false, room = true;
    for (uint32_t k = 0; k < n; k++) {
        making m = *how;
        m.seed += 7 * k;
        m.again = k > 0;
        TRY(make_start(&m));
        open |= m.open;
        room &= longer_bytes(&m) <= MOST_BYTES;
        at[k] = (check_start){m.values, k ? "a start with both signs" : NULL};
    }
    rg_status status = check_kernel(how->fn, at, n, options, report, diags);
    *longer = status == RG_ASSERT && open && room && how->factor < LONGEST;
    return status;
}

/* Pointers do not say how long their arrays are. Where longer ones lead to another error, the one before is the kernel's. */
static rg_status
check_lengths(making *how, const check_options *options, uint32_t n, rg_report **report)
{
    bool longer = true, left = false;
    rg_status status = RG_OK;
    str first = {.in = mem_scratch()};
    for (; longer; how->factor *= LONGER) {
        arena_mark mark = arena_here(how->memory);
        diag_list diags = {.text.in = mem_scratch()};
        rg_report *r = api_new(API_REPORT, sizeof(*r));
        mem_owner owns;
        longer = false;
        mem_own(&owns, report_free, r);
        status = check_at(how, options, n, &r->found, &longer, &diags);
        mem_disown(&owns);
        arena_release(how->memory, mark);
        if (status)
            report_free(r);
        else
            *report = r;
        if (status == RG_ASSERT && !left)
            first = diags.text;
        left |= status == RG_ASSERT;
        if (status && diags.text.len)
            api_error_text(status, str_view(&diags.text));
    }
    return status && status != RG_ASSERT && left ? api_error_text(RG_ASSERT, str_view(&first)) : status;
}

static rg_status
check_by_starts(rg_kernel *kernel, const rg_check_desc *d, rg_report **report)
{
    diag_list diags = {.text.in = mem_scratch()};
    const rt_device_table *device = rt_device_find(RG_STR("cpu"));
    uint32_t ordinal = 0;
    if (d->device.len)
        TRY(api_device_find(d->device, &device, &ordinal));
    ir_module *copy = api_kernel_copy(kernel, &diags);
    if (!copy)
        return api_error_text(RG_COMPILE, str_view(&diags.text));
    mem_owner owns_copy, owns_memory;
    mem_own(&owns_copy, ir_module_release, copy);
    arena *memory = arena_new();
    mem_own(&owns_memory, mem_release_arena, memory);
    check_options options = {.seed = d->seed ? d->seed : 1,
                             .contraction = !kernel->module->desc.no_contraction,
                             .apart = kernel->module->desc.compile_process,
                             .samples = d->samples,
                             .step_limit = MOST_STEPS,
                             .device = device,
                             .ordinal = ordinal};
    for (uint32_t i = 0; i < kernel->nparams; i++)
        options.results += kernel->params[i].result;
    making how = {.kernel = kernel, .fn = copy->first, .given = d->args, .memory = memory, .seed = options.seed, .factor = 1};
    rg_status status = check_lengths(&how, &options, d->starts ? d->starts : USUAL_STARTS, report);
    mem_disown(&owns_memory);
    arena_free(memory);
    mem_disown(&owns_copy);
    ir_module_free(copy);
    return status;
}

rg_status
rg_kernel_check(rg_kernel *kernel, const rg_check_desc *desc, rg_report **report)
{
    rg_check_desc d;
    API_OUT(report);
    API_CHECK(kernel, API_KERNEL, "kernel");
    API_READ_DESC(&d, desc, rg_check_desc);
    if (d.args)
        API_CHECK(d.args, API_ARGS, "args");
    if (d.args && d.args->kernel != kernel)
        return api_error(RG_INVALID, "args are those of kernel `%s`, not of `%s`", d.args->kernel->fn->name, kernel->fn->name);
    if (d.starts > MOST_STARTS)
        return api_error(RG_INVALID, "%u starts are too many, at most %d", d.starts, MOST_STARTS);
    API_GUARDED(check_by_starts(kernel, &d, report));
}

/* -- what it found ----------------------------------------------------------------------------- */

rg_status
rg_report_get_info(const rg_report *report, rg_report_info *info)
{
    rg_report_info ours = {0};
    TRY(api_begin_info(info, "rg_report_info"));
    API_CHECK(report, API_REPORT, "report");
    ours.outcome = report->found.failed ? RG_CHECK_FAILED : report->found.not_shown ? RG_CHECK_NOT_SHOWN : RG_CHECK_SHOWN;
    ours.findings = (uint32_t)report->found.findings.n;
    api_write_info(info, &ours, sizeof(ours));
    return RG_OK;
}

rg_status
rg_report_get_finding(const rg_report *report, uint32_t index, rg_finding *finding)
{
    static const rg_outcome outcomes[] = {[CHECK_OK] = RG_CHECK_SHOWN,
                                          [CHECK_LEFT_OUT] = RG_CHECK_LEFT_OUT,
                                          [CHECK_NOT_SHOWN] = RG_CHECK_NOT_SHOWN,
                                          [CHECK_FAILED] = RG_CHECK_FAILED};
    rg_finding ours = {0};
    TRY(api_begin_info(finding, "rg_finding"));
    API_CHECK(report, API_REPORT, "report");
    if (index >= report->found.findings.n)
        return api_error(RG_NOT_FOUND, "the report has %zu findings; there is no number %u", report->found.findings.n, index);
    const check_finding *f = &report->found.findings.at[index];
    ours.outcome = outcomes[f->outcome];
    ours.code = f->code;
    ours.test = rg_str_of(f->test);
    ours.error = f->error;
    ours.tolerance = f->tolerance;
    ours.compared = f->compared;
    ours.unshown = f->unshown;
    ours.where = f->where[0] ? rg_str_of(f->where) : (rg_str){NULL, 0};
    ours.note = rg_str_of(f->note);
    api_write_info(finding, &ours, sizeof(ours));
    return RG_OK;
}

void
rg_report_destroy(rg_report *report)
{
    if (api_retire(report, API_REPORT))
        report_free(report);
}
