/* Pages of tape: a pool with a budget, kept between launches. SPDX-License-Identifier: Apache-2.0
 *
 * Memory comes from the system in slabs of several pages, the first ones small, later ones of the
 * size of a huge page. Each worker chains its pages upwards through `next` and keeps them until the
 * launch ends; a cursor that comes down and goes up again finds them there. */
#include "rt/cpu/launch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SMALL_SLAB = 4 * RT_PAGE, LARGE_SLAB = 32 * RT_PAGE, SMALL_SLABS = 4 };

/* One more slab, in the device's list of pages. The caller holds the lock. */
static bool
add_slab(rt_cpu *cpu)
{
    size_t size = cpu->slab_count < SMALL_SLABS ? SMALL_SLAB : LARGE_SLAB;
    if (cpu->slab_bytes < cpu->budget && size > cpu->budget - cpu->slab_bytes)
        size = (cpu->budget - cpu->slab_bytes) / RT_PAGE * RT_PAGE; /* no more than the budget in all */
    if (size < RT_PAGE)
        size = RT_PAGE;
    if (cpu->slab_count == cpu->slab_cap) {
        size_t cap = cpu->slab_cap ? cpu->slab_cap * 2 : 8;
        void **wider = realloc(cpu->slabs, cap * sizeof *wider);
        if (!wider)
            return false;
        cpu->slabs = wider;
        cpu->slab_cap = cap;
    }
    char *slab = aligned_alloc(size == LARGE_SLAB ? LARGE_SLAB : RT_PAGE, size);
    if (!slab)
        return false;
    cpu->slab_bytes += size;
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

static struct rt_page *
take_page(rt_cpu *cpu, uint64_t *needed, uint64_t *budget)
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
    worker->pages = 0;
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
        cpu->slab_bytes = 0;
        cpu->pages = NULL;
    }
    pthread_mutex_unlock(&cpu->lock);
}

/* The page above `here` (NULL: the first), after which `more` are needed. */
static struct rt_page *
page_above(rt_worker *worker, struct rt_page *here, uint64_t more, uint32_t line)
{
    struct rt_page **link = here ? &here->next : &worker->first_page;
    if (*link)
        return *link;
    rt_report report = {.line = line};
    *link = take_page(worker->launch->cpu, &report.needed, &report.budget);
    if (!*link) {
        report.needed += more * RT_PAGE;
        report.fault = report.budget ? RT_FAULT_BUDGET : RT_FAULT_MEMORY;
        rt_fail(worker, &report);
    }
    worker->pages++;
    return *link;
}

char *
rt_cpu_reserve(rt_worker *worker, char *cursor, int64_t bytes, int32_t frame, uint32_t line)
{
    struct rt_page *page = rt_page_of(cursor);
    int64_t here = page ? RT_PAGE - (int64_t)((uintptr_t)cursor & (RT_PAGE - 1)) - frame : 0;
    int64_t each = RT_PAGE - RT_PAGE_HEADER - frame;
    bytes -= here > 0 ? here : 0;
    for (int64_t n = bytes > 0 ? (bytes - 1) / each + 1 : 0; n > 0; n--)
        page = page_above(worker, page, (uint64_t)n - 1, line);
    return cursor;
}

char *
rt_cpu_page(rt_worker *worker, char *cursor, uint32_t line)
{
    struct rt_page *here = rt_page_of(cursor), *above = page_above(worker, here, 0, line);
    above->below = cursor;
    above->depth = here ? here->depth + 1 : 1;
    worker->turned = UINT32_MAX;
    return (char *)above + RT_PAGE_HEADER;
}

/* Pages above this depth that the worker may use: what it holds, and its share of what nobody holds. */
static int64_t
pages_left(const rt_worker *worker, int64_t depth)
{
    rt_launch *launch = worker->launch;
    pthread_mutex_lock(&launch->cpu->lock);
    int64_t free = (int64_t)(launch->cpu->budget / RT_PAGE) - (int64_t)(launch->cpu->in_use / RT_PAGE);
    pthread_mutex_unlock(&launch->cpu->lock);
    return worker->pages - depth + (free > 0 ? free / launch->running : 0);
}

static bool
is_over(const rt_worker *worker, const char *cursor, const char *mark, int32_t parts, int64_t room)
{
    if (!parts)
        return rt_bytes_between(mark, cursor) > room;
    int64_t below = rt_depth(mark), used = rt_depth(cursor) - below;
    return used > 0 && (used + 1) * RT_PAGE + room > pages_left(worker, below) * RT_PAGE / parts;
}

int32_t
rt_cpu_over(rt_worker *worker, char *cursor, char *mark, int32_t level, int32_t parts, int64_t room)
{
    worker->turned &= ~((uint32_t)1 << level);
    return is_over(worker, cursor, mark, parts, room);
}

char *
rt_cpu_room(rt_worker *worker, char *cursor, char *mark, int32_t parts, int64_t room, uint32_t line)
{
    return is_over(worker, cursor, mark, parts, room) ? NULL : rt_cpu_page(worker, cursor, line);
}

/* where a frame of this size begins that was (or will be) pushed at `cursor`: there, or in the next page */
static char *
frame_at(rt_worker *worker, char *cursor, int64_t size, bool enter)
{
    if (((uintptr_t)cursor & (RT_PAGE - 1)) + (uintptr_t)size < RT_PAGE)
        return cursor;
    const struct rt_page *here = rt_page_of(cursor);
    struct rt_page *above = here ? here->next : worker->first_page;
    if (enter)
        above->below = cursor;
    return (char *)above + RT_PAGE_HEADER;
}

/* A state from one place to another below; a size above RT_FRAME_MAX is that of several frames. */
static void
move_state(rt_worker *worker, char **from, char **to, const int64_t *sizes, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        for (int64_t left = sizes[i], size; left > 0; left -= size) {
            size = left < RT_FRAME_MAX ? left : RT_FRAME_MAX;
            char *frame = frame_at(worker, *from, size, false);
            *from = frame + size;
            if (!to)
                continue;
            char *place = frame_at(worker, *to, size, true);
            memmove(place, frame, (size_t)size);
            *to = place + size;
        }
}

char *
rt_cpu_thin(rt_worker *worker, char *header, char *mark, int64_t most, const int64_t *sizes, int32_t n)
{
    int64_t below = rt_depth(header);
    if (most ? rt_bytes_between(header, mark) <= most
             : rt_depth(mark) - below <= pages_left(worker, below) / 2)
        return mark;
    char *from = header, *to = header;
    for (bool keep = true; from != mark; keep = !keep)
        move_state(worker, &from, keep ? &to : NULL, sizes, n);
    return to;
}
