/* What a launch did wrong, in words. SPDX-License-Identifier: Apache-2.0 */
#include "device/explain.h"

rg_status
rt_explain(const rt_report *report, const char *own, str *error)
{
    /* without a name the line is one of the kernel's own file */
    const char *file = report->file ? report->file : own;
    if (report->fault && file && report->line)
        str_addf(error, "%s:%u: ", file, report->line);
    else if (report->fault && report->line)
        str_addf(error, "line %u: ", report->line);
    switch (report->fault) {
    case RT_OK:
        return RG_OK;
    case RT_FAULT_ASSERT:
        str_addf(error, "assertion failed: %s", report->text ? report->text : "");
        return RG_ASSERT;
    case RT_FAULT_SUBSCRIPT:
        str_addf(error, "index %lld leaves %s, extent %lld", (long long)report->needed, report->text ? report->text : "an array",
                 (long long)report->budget);
        return RG_ASSERT;
    case RT_FAULT_BUDGET:
        str_addf(error, "the tape needs %llu bytes by now; the budget is %llu bytes",
                 (unsigned long long)report->needed, (unsigned long long)report->budget);
        return RG_BUDGET;
    case RT_FAULT_MEMORY:
        str_addz(error, "out of memory");
        if (report->needed)
            str_addf(error, ": %llu bytes more are needed", (unsigned long long)report->needed);
        return RG_OUT_OF_MEMORY;
    case RT_FAULT_CANCELLED:
        str_addz(error, "the launch was cancelled");
        return RG_CANCELLED;
    }
    str_addf(error, "fault %d", (int)report->fault);
    return RG_DEVICE;
}

rg_status
rt_explain_gpu(const rt_gpu_report *from, const ll_place *place, const char *label, const char *file, str *error)
{
    rt_report report = {.fault = (rt_fault)from->fault, .needed = from->needed, .budget = from->budget};
    if (place) {
        report.text = place->text;
        report.file = place->file;
        report.line = place->line;
    }
    if (label)
        str_addf(error, "%s: ", label);
    return rt_explain(&report, file, error);
}

void
rt_explain_lost(const rt_sink *sink, uint64_t lost)
{
    const uint8_t dtype = RG_U64;
    if (lost)
        rt_print(sink, "(%llu more prints did not fit the GPU's buffer)\n", &lost, &dtype, 1);
}

void
rt_explain_prints(const rt_sink *sink, rt_gpu_prints *prints, rt_place_finder *find, void *user)
{
    uint64_t used = !prints ? 0 : prints->used < prints->room ? prints->used : prints->room;
    for (uint64_t at = 0; at < used && prints->cells[at];) {
        uint64_t head = prints->cells[at++];
        uint32_t n = head >> 32 & 0xffff;
        const ll_place *place = find(user, (uint32_t)(head >> 48), (uint32_t)head - 1);
        if (n > used - at)
            break;
        if (place && place->text)
            rt_print(sink, place->text, prints->cells + at, (const uint8_t *)place->dtypes, n);
        at += n;
    }
    if (prints)
        rt_explain_lost(sink, prints->lost);
    if (used) {
        memset(prints->cells, 0, used * sizeof(prints->cells[0]));
        prints->used = prints->lost = 0;
    }
}
