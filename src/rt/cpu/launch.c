/* Devices and launches: workers, memory that lives for a launch, faults.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A fault leaves the chunk that met it by longjmp to the place that started the chunk (compiled
 * code holds nothing that would have to be released), is noted in the launch, and once all threads
 * have come together the kernel itself is left the same way. */
#include "rt/cpu/launch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/cpu/pool.h"
#include "rt/fpenv.h"

uint64_t
rt_default_budget(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes / 4 : (uint64_t)1 << 30;
}

rt_cpu *
rt_cpu_create(uint32_t num_threads, uint64_t tape_budget)
{
    rt_cpu *cpu = aligned_alloc(_Alignof(rt_cpu), sizeof *cpu);
    if (!cpu)
        return NULL;
    memset(cpu, 0, sizeof *cpu);
    pthread_mutex_init(&cpu->lock, NULL);
    pthread_mutex_init(&cpu->printing, NULL);
    cpu->num_threads = num_threads;
    cpu->budget = tape_budget ? tape_budget : rt_default_budget();
    return cpu;
}

static void
free_worker(rt_worker *worker)
{
    free(worker->scratch);
}

static void
free_launch(rt_launch *launch)
{
    free_worker(&launch->kernel.worker);
    for (uint32_t i = 0; i < launch->seats_made; i++)
        free_worker(&launch->seats[i].worker);
    free(launch->seats);
    free(launch->kept);
    free(launch->privates);
    pthread_mutex_destroy(&launch->lock);
    free(launch);
}

void
rt_cpu_trim(rt_cpu *cpu)
{
    pthread_mutex_lock(&cpu->lock);
    rt_launch *launch = cpu->spare;
    cpu->spare = NULL;
    pthread_mutex_unlock(&cpu->lock);
    while (launch) {
        rt_launch *next = launch->next;
        free_launch(launch);
        launch = next;
    }
    rt_pages_release(cpu);
}

void
rt_cpu_destroy(rt_cpu *cpu)
{
    if (!cpu)
        return;
    rt_cpu_trim(cpu);
    pthread_mutex_destroy(&cpu->lock);
    pthread_mutex_destroy(&cpu->printing);
    free(cpu);
}

void
rt_cpu_set_threads(rt_cpu *cpu, uint32_t num_threads)
{
    pthread_mutex_lock(&cpu->lock);
    cpu->num_threads = num_threads;
    pthread_mutex_unlock(&cpu->lock);
}

void
rt_cpu_set_budget(rt_cpu *cpu, uint64_t tape_budget)
{
    pthread_mutex_lock(&cpu->lock);
    cpu->budget = tape_budget ? tape_budget : rt_default_budget();
    pthread_mutex_unlock(&cpu->lock);
}

void
rt_cpu_set_sink(rt_cpu *cpu, rt_sink sink)
{
    cpu->sink = sink;
}

static uint32_t
threads_now(uint32_t wanted)
{
    uint32_t threads = wanted ? wanted : rt_pool_default();
    return threads < RT_MAX_THREADS ? threads : RT_MAX_THREADS;
}

uint32_t
rt_cpu_threads(rt_cpu *cpu)
{
    pthread_mutex_lock(&cpu->lock);
    uint32_t wanted = cpu->num_threads;
    pthread_mutex_unlock(&cpu->lock);
    return threads_now(wanted);
}

static rt_cpu *the_default;
static pthread_once_t default_once = PTHREAD_ONCE_INIT;

static void
make_default(void)
{
    the_default = rt_cpu_create(0, 0);
}

rt_cpu *
rt_cpu_default(void)
{
    pthread_once(&default_once, make_default);
    return the_default;
}

/* -- launches ---------------------------------------------------------------------------------- */

static void
reset_worker(rt_worker *worker, rt_launch *launch, int32_t index)
{
    worker->cursor = rt_no_page();
    worker->atomic = 0;
    worker->turned = 0;
    worker->pages = 0;
    worker->index = index;
    worker->launch = launch;
    worker->stop = (const volatile uint32_t *)&launch->cpu->stop.word;
    worker->first_page = NULL;
    worker->escape = NULL;
}

/* at least `count` workers; those there keep what they hold */
bool
rt_launch_seats(rt_launch *launch, uint32_t count)
{
    if (count <= launch->seats_made)
        return true;
    rt_seat *seats = aligned_alloc(128, sizeof(rt_seat) * count);
    if (!seats)
        return false;
    if (launch->seats_made)
        memcpy(seats, launch->seats, sizeof(rt_seat) * launch->seats_made);
    free(launch->seats);
    launch->seats = seats;
    for (uint32_t i = launch->seats_made; i < count; i++) {
        memset(&seats[i], 0, sizeof seats[i]);
        reset_worker(&seats[i].worker, launch, 0);
        seats[i].worker.seat = (int32_t)i;
    }
    launch->seats_made = count;
    return true;
}

static rt_launch *
new_launch(rt_cpu *cpu)
{
    rt_launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return NULL;
    launch->cpu = cpu;
    pthread_mutex_init(&launch->lock, NULL);
    reset_worker(&launch->kernel.worker, launch, -1);
    if (rt_launch_seats(launch, 1))
        return launch;
    free_launch(launch);
    return NULL;
}

static rt_launch *
take_launch(rt_cpu *cpu)
{
    pthread_mutex_lock(&cpu->lock);
    rt_launch *launch = cpu->spare;
    if (launch)
        cpu->spare = launch->next;
    uint32_t threads = cpu->num_threads;
    rt_stop_begin(&cpu->stop);
    pthread_mutex_unlock(&cpu->lock);
    if (!launch && !(launch = new_launch(cpu))) {
        rt_stop_end(&cpu->stop);
        return NULL;
    }
    launch->threads = threads_now(threads);
    launch->running = 1;
    return launch;
}

static void
give_launch(rt_cpu *cpu, rt_launch *launch)
{
    rt_pages_give(cpu, &launch->kernel.worker);
    launch->kernel.worker.cursor = rt_no_page();
    for (uint32_t i = 0; i < launch->seats_made; i++) {
        rt_worker *worker = &launch->seats[i].worker;
        rt_pages_give(cpu, worker);
        worker->cursor = rt_no_page();
    }
    while (launch->temps) {
        rt_temp *temp = launch->temps;
        launch->temps = temp->next;
        free(temp);
    }
    launch->kept_count = 0;
    pthread_mutex_lock(&cpu->lock);
    launch->next = cpu->spare;
    cpu->spare = launch;
    rt_stop_end(&cpu->stop);
    pthread_mutex_unlock(&cpu->lock);
}

/* apart, so that nothing of the caller lives across the setjmp */
static __attribute__((noinline)) bool
run_kernel(rt_launch *launch, rt_kernel_fn *kernel, const rt_arg *args)
{
    jmp_buf escape;
    launch->kernel.worker.escape = &escape;
    if (_setjmp(escape))
        return false;
    kernel(args, launch);
    return true;
}

rt_fault
rt_cpu_launch(rt_cpu *cpu, rt_kernel_fn *kernel, const rt_arg *args, rt_report *report)
{
    rt_report result = {0};
    rt_fpenv callers = rt_fpenv_enter();
    rt_launch *launch = take_launch(cpu);
    if (!launch) {
        result.fault = RT_FAULT_MEMORY;
    } else {
        if (!run_kernel(launch, kernel, args)) {
            result = launch->report;
            memset(&launch->report, 0, sizeof launch->report);
            atomic_store(&launch->failed, 0);
            rt_private_reset(launch);
        }
        give_launch(cpu, launch);
    }
    rt_fpenv_leave(callers);
    if (report)
        *report = result;
    return result.fault;
}

void
rt_cpu_cancel(rt_cpu *cpu)
{
    rt_stop_all(&cpu->stop);
}

/* -- called by compiled code ------------------------------------------------------------------- */

/* Of several faults that of the first chunk is reported, as one thread alone would meet it. */
_Noreturn void
rt_fail(rt_worker *worker, const rt_report *report)
{
    rt_launch *launch = worker->launch;
    pthread_mutex_lock(&launch->lock);
    if (launch->report.fault == RT_OK || worker->index < launch->fault_chunk) {
        launch->report = *report;
        launch->fault_chunk = worker->index;
    }
    pthread_mutex_unlock(&launch->lock);
    atomic_store(&launch->failed, 1);
    longjmp(*worker->escape, 1);
}

rt_worker *
rt_cpu_kernel_worker(rt_launch *launch)
{
    return &launch->kernel.worker;
}

void
rt_cpu_assert(rt_worker *worker, const char *text, const char *file, uint32_t line)
{
    rt_report report = {.fault = RT_FAULT_ASSERT, .text = text, .file = file, .line = line};
    rt_fail(worker, &report);
}

void
rt_cpu_cancelled(rt_worker *worker, const char *file, uint32_t line)
{
    rt_report report = {.fault = RT_FAULT_CANCELLED, .file = file, .line = line};
    rt_fail(worker, &report);
}

void
rt_cpu_subscript(rt_worker *worker, const char *text, const char *file, uint32_t line, int64_t index, int64_t extent)
{
    rt_report report = {.fault = RT_FAULT_SUBSCRIPT,
                        .text = text,
                        .file = file,
                        .line = line,
                        .needed = (uint64_t)index,
                        .budget = (uint64_t)extent};
    rt_fail(worker, &report);
}

void *
rt_cpu_temp(rt_launch *launch, int64_t bytes)
{
    size_t size = bytes > 0 ? (size_t)bytes : 0;
    rt_temp *temp = NULL;
    if (size < SIZE_MAX / 2)
        temp = aligned_alloc(64, (sizeof(rt_temp) + size + 63) & ~(size_t)63);
    if (!temp) {
        rt_report report = {.fault = RT_FAULT_MEMORY, .needed = size};
        rt_fail(&launch->kernel.worker, &report);
    }
    _Static_assert(sizeof(rt_temp) == 64, "what follows the header is aligned as the header is");
    memset(temp, 0, sizeof(rt_temp) + size);
    temp->next = launch->temps;
    temp->size = size;
    launch->temps = temp;
    return temp + 1;
}

void *
rt_cpu_partials(rt_launch *launch, int64_t bytes, void *here)
{
    return bytes <= RT_PARTIALS_HERE ? here : rt_cpu_temp(launch, bytes);
}

void *
rt_cpu_temp_again(rt_launch *launch, int64_t bytes, void *last)
{
    if (!last || bytes < 0 || (size_t)bytes > ((rt_temp *)last - 1)->size)
        return rt_cpu_temp(launch, bytes);
    return memset(last, 0, (size_t)bytes);
}

void *
rt_cpu_scratch(rt_worker *worker, int64_t bytes)
{
    size_t size = ((size_t)bytes + 63) & ~(size_t)63;
    if (size > worker->scratch_size) {
        free(worker->scratch);
        worker->scratch_size = 0;
        worker->scratch = aligned_alloc(64, size);
        if (!worker->scratch) {
            rt_report report = {.fault = RT_FAULT_MEMORY, .needed = size};
            rt_fail(worker, &report);
        }
        worker->scratch_size = size;
    }
    return worker->scratch;
}
