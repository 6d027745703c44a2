/* Pages of tape: a pool with a budget, kept between launches. SPDX-License-Identifier: Apache-2.0
 *
 * Each worker chains its pages upwards through `next` and keeps them until the launch ends; a cursor
 * that comes down and goes up again finds them there. */
#include "rt/cpu/launch.h"

#include <stdlib.h>

struct rt_page *
rt_page_take(rt_cpu *cpu, uint64_t *needed, uint64_t *budget)
{
    pthread_mutex_lock(&cpu->lock);
    struct rt_page *page = NULL;
    bool fits = cpu->in_use + RT_PAGE <= cpu->budget;
    *needed = cpu->in_use + RT_PAGE;
    *budget = cpu->budget;
    if (fits) {
        page = cpu->pages;
        if (page)
            cpu->pages = page->next;
        cpu->in_use += RT_PAGE;
    }
    pthread_mutex_unlock(&cpu->lock);
    if (!fits)
        return NULL;
    if (!page)
        page = aligned_alloc(RT_PAGE, RT_PAGE);
    if (!page) {
        *budget = 0; /* the machine, not the budget, has no more */
        pthread_mutex_lock(&cpu->lock);
        cpu->in_use -= RT_PAGE;
        pthread_mutex_unlock(&cpu->lock);
        return NULL;
    }
    page->below = NULL;
    page->next = NULL;
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

void
rt_pages_release(rt_cpu *cpu)
{
    pthread_mutex_lock(&cpu->lock);
    struct rt_page *page = cpu->pages;
    cpu->pages = NULL;
    pthread_mutex_unlock(&cpu->lock);
    while (page) {
        struct rt_page *next = page->next;
        free(page);
        page = next;
    }
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
