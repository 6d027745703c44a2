/* What the threads of a parallel loop add to adjoints. SPDX-License-Identifier: Apache-2.0
 *
 * Sums that many threads add to are formed in f64 and rounded once, when the loop ends or somebody looks
 * at the element; and two threads that add to one element must do so atomically. What a group of threads adds
 * together may have been any of these. */
#include "rt/interp/machine.h"

typedef struct interp_cell {
    double sum;      /* not yet in the element */
    uint64_t first, last; /* threads: one of these has added */
    bool plain;      /* without atomics */
    uint8_t dtype;
} interp_cell;

static void
flush(void *at, interp_cell *cell)
{
    rg_dtype d = (rg_dtype)cell->dtype;
    if (cell->sum != 0) {
        double old = ir_bits_float(d, interp_element_read(d, at));
        interp_element_write(d, at, ir_float_bits(d, old + cell->sum));
    }
    cell->sum = 0;
}

void
interp_cells_flush(interp_machine *m)
{
    for (size_t i = 0; i < m->cells.cap; i++)
        if (m->cells.values[i])
            flush((void *)(uintptr_t)m->cells.keys[i], m->cells.values[i]);
    map_free(&m->cells);
    if (m->cell_arena) {
        arena_free(m->cell_arena);
        m->cell_arena = NULL;
    }
}

void
interp_cell_settle(interp_machine *m, void *at)
{
    interp_cell *cell = at && m->cells.n ? map_get(&m->cells, map_ptr(at)) : NULL;
    if (cell)
        flush(at, cell);
}

/* the thread at work, or all of a group */
static void
threads(const interp_machine *m, uint64_t *first, uint64_t *last)
{
    bool one = m->lane < m->group;
    *first = m->thread + (one ? m->lane : 0);
    *last = one ? *first : m->thread + m->group - 1;
}

static interp_cell *
cell_of(interp_machine *m, const ir_op *op, rg_dtype d, void *at)
{
    interp_cell *cell = map_get(&m->cells, map_ptr(at));
    if (cell)
        return cell;
    if (!m->cell_arena)
        m->cell_arena = arena_new();
    cell = arena_one(m->cell_arena, interp_cell);
    *cell = (interp_cell){.plain = !op->atomic, .dtype = (uint8_t)d};
    threads(m, &cell->first, &cell->last);
    map_set(&m->cells, map_ptr(at), cell);
    return cell;
}

interp_flow
interp_cell_add(interp_frame *f, const ir_op *op, rg_dtype d, void *at, double value, bool *added)
{
    interp_machine *m = f->machine;
    *added = false;
    if (!m->parallel || !at || !(op->plane & RG_ADJOINT) || op->rmw != RG_RMW_ADD || op->nresults)
        return FLOW_NEXT;
    interp_cell *cell = cell_of(m, op, d, at);
    uint64_t first, last;
    threads(m, &first, &last);
    bool others = first > cell->last || last < cell->first;
    if (others && (cell->plain || !op->atomic))
        return interp_fault(f, op, RT_FAULT_ASSERT,
                            "threads %llu and %llu add to one element of the adjoint of `%s`, and not "
                            "atomically",
                            (unsigned long long)cell->first, (unsigned long long)first,
                            op->args[0]->name ? op->args[0]->name : "?");
    if (!others) {
        cell->first = first > cell->first ? first : cell->first;
        cell->last = last < cell->last ? last : cell->last;
    }
    cell->plain |= !op->atomic;
    *added = op->atomic && d != RG_F64;
    if (*added)
        cell->sum += value;
    else
        flush(at, cell);
    return FLOW_NEXT;
}
