/* Copies between the host and arrays of any device. SPDX-License-Identifier: Apache-2.0 */
#include "device/memory.h"

static size_t
bytes_of(const rt_layout *l)
{
    return (size_t)rt_layout_count(l) * l->size;
}

/* What elements with gaps span, on the host. */
typedef struct span {
    int64_t lo;
    size_t bytes;
    char *copy;
} span;

static rg_status
span_take(span *s, rt_place place, const rt_layout *l, const void *data, str *error)
{
    int64_t hi;
    rt_layout_span(l, &s->lo, &hi);
    s->bytes = (size_t)(hi - s->lo);
    s->copy = arena_raw(mem_scratch(), s->bytes);
    return place.table->memory->read(place.queue, s->copy, (const char *)data + s->lo, s->bytes, error);
}

static rg_status
span_put(const span *s, rt_place place, void *data, str *error)
{
    return place.table->memory->write(place.queue, (char *)data + s->lo, s->copy, s->bytes, error);
}

rg_status
rt_memory_read(rt_place place, const rt_layout *l, const void *data, void *dense, str *error)
{
    if (bytes_of(l) == 0)
        return RG_OK;
    if (!place.table->memory) {
        rt_layout_read(l, data, dense);
        return RG_OK;
    }
    if (rt_layout_is_dense(l))
        return place.table->memory->read(place.queue, dense, data, bytes_of(l), error);
    span s;
    TRY(span_take(&s, place, l, data, error));
    rt_layout_read(l, s.copy - s.lo, dense);
    return RG_OK;
}

rg_status
rt_memory_write(rt_place place, const rt_layout *l, void *data, const void *dense, str *error)
{
    if (bytes_of(l) == 0)
        return RG_OK;
    if (!place.table->memory) {
        rt_layout_write(l, data, dense);
        return RG_OK;
    }
    if (rt_layout_is_dense(l))
        return place.table->memory->write(place.queue, data, dense, bytes_of(l), error);
    span s;
    TRY(span_take(&s, place, l, data, error));
    rt_layout_write(l, s.copy - s.lo, dense);
    return span_put(&s, place, data, error);
}

rg_status
rt_memory_fill(rt_place place, const rt_layout *l, void *data, const void *element, str *error)
{
    size_t count = (size_t)rt_layout_count(l);
    if (count == 0)
        return RG_OK;
    if (!place.table->memory) {
        rt_layout_fill(l, data, element);
        return RG_OK;
    }
    if (rt_layout_is_dense(l))
        return place.table->memory->fill(place.queue, data, element, l->size, count, error);
    span s;
    TRY(span_take(&s, place, l, data, error));
    rt_layout_fill(l, s.copy - s.lo, element);
    return span_put(&s, place, data, error);
}

rg_status
rt_memory_copy(rt_place place, void *to, const void *from, size_t bytes, str *error)
{
    if (bytes == 0)
        return RG_OK;
    if (place.table->memory)
        return place.table->memory->copy(place.queue, to, from, bytes, error);
    memcpy(to, from, bytes);
    return RG_OK;
}
