/* Values of the interpreter: moving, sharing, local arrays, traces.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rt/interp/machine.h"

static void
trace_free(interp_machine *m, interp_trace *t, const uint8_t *flags)
{
    const interp_saved *saved = t->saved;
    for (uint64_t row = 0; row < t->rows; row++)
        for (uint32_t k = 0; k < saved->n; k++)
            interp_drop(m, flags[saved->ids[k]], t->words[row * saved->n + k]);
    if (t->unwound < t->rows)
        interp_hold(m, -(int64_t)(t->rows - t->unwound) * saved->bytes);
    free(t->words);
    free(t);
}

void
interp_drop(interp_machine *m, uint8_t flags, interp_word word)
{
    if (flags & INTERP_ARRAY) {
        if (word.array && --word.array->refs == 0)
            free(word.array);
    } else if ((flags & INTERP_TRACE) && word.trace && --word.trace->refs == 0)
        trace_free(m, word.trace, word.trace->saved->flags);
}

void
interp_set(interp_frame *f, const ir_value *v, interp_word word)
{
    interp_word old = f->words[v->id];
    f->words[v->id] = word;
    if (f->flags[v->id] & INTERP_COUNTED)
        interp_drop(f->machine, f->flags[v->id], old);
}

interp_word
interp_share(interp_frame *f, const ir_value *v)
{
    interp_word word = f->words[v->id];
    uint8_t flags = f->flags[v->id];
    if ((flags & INTERP_ARRAY) && word.array)
        word.array->refs++;
    if ((flags & INTERP_TRACE) && word.trace)
        word.trace->refs++;
    return word;
}

interp_word
interp_take(interp_frame *f, const ir_value *v)
{
    if (!(f->flags[v->id] & INTERP_MOVES))
        return interp_share(f, v);
    interp_word word = f->words[v->id];
    f->words[v->id].bits = 0;
    return word;
}

void
interp_transfer(interp_frame *f, ir_value *const *from, ir_value *const *to, uint32_t n)
{
    interp_word *taken = f->machine->scratch;
    for (uint32_t k = 0; k < n; k++)
        taken[k] = interp_take(f, from[k]);
    for (uint32_t k = 0; k < n; k++)
        interp_set(f, to[k], taken[k]);
}

interp_array *
interp_array_new(uint32_t length)
{
    interp_array *a = calloc(1, sizeof *a + sizeof(uint64_t) * (size_t)length);
    if (a) {
        a->refs = 1;
        a->length = length;
    }
    return a;
}

interp_array *
interp_array_own(interp_array *a)
{
    if (a->refs == 1)
        return a;
    interp_array *own = interp_array_new(a->length);
    if (own) {
        memcpy(own->at, a->at, sizeof(uint64_t) * a->length);
        a->refs--;
    }
    return own;
}

void
interp_hold(interp_machine *m, int64_t bytes)
{
    m->held += bytes;
    if (m->held > m->most_held)
        m->most_held = m->held;
}

interp_trace *
interp_trace_new(const interp_frame *f, const ir_value *trace)
{
    interp_trace *t = calloc(1, sizeof *t);
    if (t) {
        t->refs = 1;
        t->saved = f->program->saved[trace->id];
    }
    return t;
}

static bool
trace_grow(interp_trace *t)
{
    uint64_t capacity = t->capacity ? t->capacity * 2 : 8;
    size_t row = sizeof(interp_word) * (t->saved->n ? t->saved->n : 1);
    interp_word *words = realloc(t->words, capacity * row);
    if (!words)
        return false;
    t->words = words;
    t->capacity = capacity;
    return true;
}

bool
interp_trace_add(interp_frame *f, interp_trace *t)
{
    if (t->rows == t->capacity && !trace_grow(t))
        return false;
    interp_word *row = t->words + t->rows++ * t->saved->n;
    for (uint32_t k = 0; k < t->saved->n; k++) {
        uint32_t id = t->saved->ids[k];
        row[k] = f->words[id];
        if ((f->flags[id] & INTERP_ARRAY) && row[k].array)
            row[k].array->refs++;
        if ((f->flags[id] & INTERP_TRACE) && row[k].trace)
            row[k].trace->refs++;
    }
    interp_hold(f->machine, t->saved->bytes);
    return true;
}

/* Replaces the word of value `id` by a share of `word`. */
static void
restore_word(interp_frame *f, uint32_t id, interp_word word)
{
    uint8_t flags = f->flags[id];
    if ((flags & INTERP_ARRAY) && word.array)
        word.array->refs++;
    if ((flags & INTERP_TRACE) && word.trace)
        word.trace->refs++;
    interp_word old = f->words[id];
    f->words[id] = word;
    interp_drop(f->machine, flags, old);
}

void
interp_trace_restore(interp_frame *f, interp_trace *t, uint64_t row)
{
    for (uint32_t k = 0; k < t->saved->n; k++)
        restore_word(f, t->saved->ids[k], t->words[row * t->saved->n + k]);
    if (t->unwound < t->rows) {
        t->unwound++;
        interp_hold(f->machine, -t->saved->bytes);
    }
}

interp_word *
interp_trace_set_aside(interp_frame *f, const interp_trace *t)
{
    interp_word *aside = malloc(sizeof(interp_word) * (t->saved->n + 1));
    for (uint32_t k = 0; aside && k < t->saved->n; k++) {
        uint32_t id = t->saved->ids[k];
        aside[k] = f->words[id];
        if (f->flags[id] & INTERP_COUNTED)
            f->words[id].bits = 0;
    }
    return aside;
}

void
interp_trace_put_back(interp_frame *f, const interp_trace *t, interp_word *aside)
{
    for (uint32_t k = 0; k < t->saved->n; k++) {
        uint32_t id = t->saved->ids[k];
        interp_drop(f->machine, f->flags[id], f->words[id]);
        f->words[id] = aside[k];
    }
    free(aside);
}
