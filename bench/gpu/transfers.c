/* Copies between host and device, beside the driver's own. SPDX-License-Identifier: Apache-2.0
 *
 * Times are the host's, from the call until the data is there. */
#include "machine.h"
#include "parts.h"
#include "../../tests/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 4096, MANY = 1000, SIZES = 3 };

typedef struct copies {
    rg_queue *queue;
    rg_array *array;
    void *device; /* the array's memory */
    char *pageable, *pinned;
    size_t bytes;
    unsigned repeat;
} copies;

typedef bool copy(copies *c, void *host);

static bool
ours_up(copies *c, void *host)
{
    return run_fine(rg_array_write(c->queue, c->array, RG_PRIMAL, host, c->bytes), "write") && run_fine(rg_queue_sync(c->queue), "write");
}

static bool
ours_down(copies *c, void *host)
{
    return run_fine(rg_array_read(c->queue, c->array, RG_PRIMAL, host, c->bytes), "read");
}

static bool
driver_up(copies *c, void *host)
{
    return machine_copy(c->device, host, c->bytes, true);
}

static bool
driver_down(copies *c, void *host)
{
    return machine_copy(host, c->device, c->bytes, false);
}

static bool
map(copies *c, void *host)
{
    void *data;
    (void)host;
    return run_fine(rg_array_map(c->queue, c->array, RG_PRIMAL, true, &data), "map");
}

static bool
unmap(copies *c, void *host)
{
    (void)host;
    rg_array_unmap(c->array, RG_PRIMAL);
    return run_fine(rg_queue_sync(c->queue), "unmap");
}

/* Milliseconds of one; below 0: it failed. */
static double
time_of(copies *c, copy *what, void *host)
{
    double started = machine_now();
    return what(c, host) ? machine_now() - started : -1.0;
}

/* Of a copy: " GB/s |", the median. */
static bool
show(copies *c, copy *what, void *host)
{
    double *times = malloc((c->repeat + 1) * sizeof *times);
    bool good = what(c, host);
    for (unsigned k = 0; good && k < c->repeat; k++) {
        times[k] = time_of(c, what, host);
        good = times[k] >= 0.0;
    }
    if (good)
        printf(" %8.2f |", 1e-6 * (double)c->bytes / median_of(times, c->repeat));
    free(times);
    return good;
}

static bool
show_driver(copies *c, bool up)
{
    copy *what = up ? driver_up : driver_down;
    if (machine_is_gpu())
        return show(c, what, c->pageable) && show(c, what, c->pinned);
    printf("        - |        - |");
    return true;
}

/* The first map makes its copy on the host, later ones find that of the last. */
static bool
show_map(copies *c)
{
    double *times = malloc((c->repeat + 1) * sizeof *times), *back = malloc((c->repeat + 1) * sizeof *back);
    bool good = true;
    double first = time_of(c, map, NULL);
    good = first >= 0.0 && unmap(c, NULL);
    for (unsigned k = 0; good && k < c->repeat; k++) {
        times[k] = time_of(c, map, NULL);
        back[k] = times[k] >= 0.0 ? time_of(c, unmap, NULL) : -1.0;
        good = back[k] >= 0.0;
    }
    if (good)
        printf(" %8.2f | %8.2f | %8.2f |\n", 1e-6 * (double)c->bytes / first,
               1e-6 * (double)c->bytes / median_of(times, c->repeat), 1e-6 * (double)c->bytes / median_of(back, c->repeat));
    free(times);
    free(back);
    return good;
}

static bool
open_copies(copies *c, rg_queue *queue, size_t bytes, unsigned repeat)
{
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {(int64_t)(bytes / 4)});
    rg_array_info info = RG_INIT(rg_array_info);
    *c = (copies){.queue = queue, .bytes = bytes, .repeat = repeat};
    if (!run_fine(rg_array_create(queue, &desc, &c->array), "array") || !run_fine(rg_array_get_info(c->array, &info), "array"))
        return false;
    c->device = info.data[RG_PRIMAL];
    c->pageable = malloc(bytes);
    c->pinned = machine_pin(bytes);
    if (!c->pageable || !c->pinned)
        return false;
    for (size_t i = 0; i < bytes; i++)
        c->pageable[i] = c->pinned[i] = (char)(i * 37 >> 3);
    return true;
}

static void
close_copies(copies *c)
{
    rg_array_destroy(c->array);
    free(c->pageable);
    machine_unpin(c->pinned);
}

/* What went up comes down, whichever way. */
static bool
is_right(copies *c)
{
    bool good = ours_up(c, c->pinned);
    memset(c->pageable, 0, c->bytes);
    good = good && ours_down(c, c->pageable) && memcmp(c->pageable, c->pinned, c->bytes) == 0;
    good = good && ours_up(c, c->pageable);
    memset(c->pinned, 0, c->bytes);
    return good && ours_down(c, c->pinned) && memcmp(c->pageable, c->pinned, c->bytes) == 0;
}

static bool
row(const settings *s, rg_queue *queue, size_t bytes)
{
    copies c;
    bool good = open_copies(&c, queue, bytes, s->repeat);
    if (good) {
        printf("| %8.2f |", 1e-6 * (double)bytes);
        good = show(&c, ours_up, c.pageable) && show(&c, ours_up, c.pinned) && show_driver(&c, true) &&
               show(&c, ours_down, c.pageable) && show(&c, ours_down, c.pinned) && show_driver(&c, false) && show_map(&c) &&
               is_right(&c);
    }
    fflush(stdout);
    close_copies(&c);
    return good;
}

/* Microseconds of each of many small ones. */
static bool
small(rg_queue *queue)
{
    copies c;
    double up = 0.0, down = 0.0, bare = 0.0;
    bool good = open_copies(&c, queue, SMALL, 1) && ours_up(&c, c.pageable);
    double started = machine_now();
    for (unsigned k = 0; good && k < MANY; k++)
        good = run_fine(rg_array_write(queue, c.array, RG_PRIMAL, c.pageable, SMALL), "write");
    good = good && run_fine(rg_queue_sync(queue), "write");
    up = 1e3 * (machine_now() - started) / MANY;
    started = machine_now();
    for (unsigned k = 0; good && k < MANY; k++)
        good = ours_down(&c, c.pageable);
    down = 1e3 * (machine_now() - started) / MANY;
    started = machine_now();
    for (unsigned k = 0; good && k < MANY && machine_is_gpu(); k++)
        good = driver_down(&c, c.pinned);
    bare = 1e3 * (machine_now() - started) / MANY;
    if (good)
        printf("%d bytes: %.2f us up, %.2f us down; down by the driver, pinned: %.2f us\n", SMALL, up, down, bare);
    close_copies(&c);
    return good;
}

bool
part_transfers(const settings *s)
{
    static const double megabytes[SIZES] = {1.0, 32.0, 512.0};
    run_desc desc = run_describe(MATH_OWN, 0);
    rg_queue *queue = NULL;
    if (!run_fine(queue_open(s->device, &desc.queue, &queue), "queue"))
        return false;
    printf("\ncopies, GB/s by the host's clock; to and from memory of the caller's that is pageable, pinned\n"
           "|          | up       |          | driver's |          | down     |          | driver's |          | map      |"
           "          |          |\n"
           "|       MB | pageable |   pinned | pageable |   pinned | pageable |   pinned | pageable |   pinned |    first |"
           "    again | unmapped |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    bool good = true;
    for (unsigned k = 0; good && k < SIZES; k++) {
        size_t bytes = (size_t)(megabytes[k] * s->scale * 1e6) / 4096 * 4096;
        good = row(s, queue, bytes ? bytes : 4096);
    }
    good = good && small(queue);
    rg_queue_destroy(queue);
    return good;
}
