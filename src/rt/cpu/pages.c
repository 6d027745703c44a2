/* Pages of tape: a pool with a budget, kept between launches. SPDX-License-Identifier: Apache-2.0
 *
 * Memory comes from the system in slabs of several pages, the first ones small, later ones of the
 * size of a huge page. Each worker chains its pages upwards through `next` and keeps them until the
 * launch ends; a cursor that comes down and goes up again finds them there. */
#include "rt/cpu/launch.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { SMALL_SLAB = 4 * RT_PAGE, LARGE_SLAB = 32 * RT_PAGE, SMALL_SLABS = 4 };

/* One more slab, in the device's list of pages. The caller holds the lock. */
static bool
add_slab(rt_cpu *cpu)
{
    size_t size = cpu->slab_count < SMALL_SLABS ? SMALL_SLAB : LARGE_SLAB;
    if (cpu->slab_count == cpu->slab_cap) {
        size_t cap = cpu->slab_cap ? cpu->slab_cap * 2 : 8;
        void **wider = realloc(cpu->slabs, cap * sizeof *wider);
        if (!wider)
            return false;
        cpu->slabs = wider;
        cpu->slab_cap = cap;
    }
    char *slab = aligned_alloc(size, size);
    if (!slab)
        return false;
#ifdef MADV_HUGEPAGE
    if (size == LARGE_SLAB)
        (void)madvise(slab, size, MADV_HUGEPAGE); /* a wish: nothing depends on it */
#endif
    cpu->slabs[cpu->slab_count++] = slab;
    for (size_t at = size; at; at -= RT_PAGE) {
        struct rt_page *page = (struct rt_page *)(slab + at - RT_PAGE);
        page->next = cpu->pages;
        cpu->pages = page;
    }
    return true;
}

struct rt_page *
rt_page_take(rt_cpu *cpu, uint64_t *needed, uint64_t *budget)
{
    pthread_mutex_lock(&cpu->lock);
    struct rt_page *page = NULL;
    *needed = cpu->in_use + RT_PAGE;
    *budget = cpu->budget;
    if (*needed <= cpu->budget) {
        if (cpu->pages || add_slab(cpu)) {
            page = cpu->pages;
            cpu->pages = page->next;
            cpu->in_use += RT_PAGE;
            page->below = NULL;
            page->next = NULL;
        } else {
            *budget = 0; /* the machine, not the budget, has no more */
        }
    }
    pthread_mutex_unlock(&cpu->lock);
    return page;
}

void
rt_pages_give(rt_cpu *cpu, rt_worker *worker)
{
    if (!worker->first_page)
        return;
    pthread_mutex_lock(&cpu->lock);
    for (struct rt_page *page = worker->first_page, *next; page; page = next) {
        next = page->next;
        page->next = cpu->pages;
        cpu->pages = page;
        cpu->in_use -= RT_PAGE;
    }
    pthread_mutex_unlock(&cpu->lock);
    worker->first_page = NULL;
}

/* Where workers still hold pages, nothing is given back: slabs go as a whole. */
void
rt_pages_release(rt_cpu *cpu)
{
    pthread_mutex_lock(&cpu->lock);
    if (!cpu->in_use) {
        for (size_t i = 0; i < cpu->slab_count; i++)
            free(cpu->slabs[i]);
        free(cpu->slabs);
        cpu->slabs = NULL;
        cpu->slab_count = cpu->slab_cap = 0;
        cpu->pages = NULL;
    }
    pthread_mutex_unlock(&cpu->lock);
}

char *
rt_cpu_page(rt_worker *worker, char *cursor, uint32_t line)
{
    struct rt_page *here = NULL, *above = worker->first_page;
    if (cursor != rt_no_page()) {
        here = (struct rt_page *)((uintptr_t)cursor & ~(uintptr_t)(RT_PAGE - 1));
        above = here->next;
    }
    if (!above) {
        rt_report report = {.line = line};
        above = rt_page_take(worker->launch->cpu, &report.needed, &report.budget);
        if (!above) {
            report.fault = report.budget ? RT_FAULT_BUDGET : RT_FAULT_MEMORY;
            rt_fail(worker, &report);
        }
        if (here)
            here->next = above;
        else
            worker->first_page = above;
    }
    above->below = cursor;
    return (char *)above + RT_PAGE_HEADER;
}
