/* Arrays on the kernel's tape, and what all workers hold: for time loops that drop frames.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rt/cpu/launch.h"

#include <string.h>

/* An array goes onto the tape in blocks, each a frame of its own. */
enum { BLOCK = RT_FRAME_MAX };

typedef struct walk {
    const rt_arg *array;
    uint32_t size, rank;
    int64_t index[RT_RANK];
    char *at; /* the element that comes next */
} walk;

static int64_t
count_of(const rt_arg *array, uint32_t rank)
{
    int64_t count = 1;
    for (uint32_t k = 0; k < rank; k++)
        count *= array->extent[k];
    return count;
}

static bool
is_dense(const rt_arg *array, uint32_t rank)
{
    int64_t stride = 1;
    for (uint32_t k = rank; k-- > 0; stride *= array->extent[k])
        if (array->stride[k] != stride && array->extent[k] > 1)
            return false;
    return true;
}

static void
step(walk *w)
{
    for (uint32_t k = w->rank; k-- > 0;) {
        w->at += w->array->stride[k] * (int64_t)w->size;
        if (++w->index[k] < w->array->extent[k])
            return;
        w->at -= w->array->stride[k] * w->array->extent[k] * (int64_t)w->size;
        w->index[k] = 0;
    }
}

/* to or from a block; elements one by one only where the array is not dense */
static void
copy(walk *w, char *block, int64_t bytes, bool save, bool dense)
{
    if (dense) {
        memcpy(save ? block : w->at, save ? w->at : block, (size_t)bytes);
        w->at += bytes;
        return;
    }
    for (char *end = block + bytes; block < end; block += w->size, step(w))
        memcpy(save ? block : w->at, save ? w->at : block, w->size);
}

char *
rt_cpu_save(rt_worker *worker, char *cursor, const rt_arg *array, uint32_t size, uint32_t rank, uint32_t line)
{
    walk w = {.array = array, .size = size, .rank = rank, .at = array->plane[0]};
    bool dense = is_dense(array, rank);
    for (int64_t left = count_of(array, rank) * size; left > 0;) {
        int64_t bytes = left < BLOCK ? left : BLOCK;
        if (((uintptr_t)cursor & (RT_PAGE - 1)) + (uintptr_t)bytes >= RT_PAGE)
            cursor = rt_cpu_page(worker, cursor, line);
        copy(&w, cursor, bytes, true, dense);
        cursor += bytes;
        left -= bytes;
    }
    return cursor;
}

/* The blocks come off last to first, each full but the last. */
char *
rt_cpu_restore(rt_worker *worker, char *cursor, const rt_arg *array, uint32_t size, uint32_t rank)
{
    (void)worker;
    int64_t count = count_of(array, rank), all = count * size;
    bool dense = is_dense(array, rank);
    for (int64_t end = all; end > 0;) {
        int64_t bytes = (end - 1) % BLOCK + 1, first = (end - bytes) / size;
        walk w = {.array = array, .size = size, .rank = rank, .at = array->plane[0]};
        if (((uintptr_t)cursor & (RT_PAGE - 1)) == RT_PAGE_HEADER)
            cursor = ((rt_page *)(cursor - RT_PAGE_HEADER))->below;
        cursor -= bytes;
        for (uint32_t k = rank; k-- > 0; first /= array->extent[k]) {
            w.index[k] = first % array->extent[k];
            w.at += w.index[k] * array->stride[k] * (int64_t)size;
        }
        copy(&w, cursor, bytes, false, dense);
        end -= bytes;
    }
    return cursor;
}

/* -- the workers ------------------------------------------------------------------------------------- */
/* behind it on the tape: the cursors of the seats there were */
typedef struct standing {
    uint64_t seats, kept;
} standing;

char *
rt_cpu_tasks(rt_worker *worker, char *cursor, uint32_t line)
{
    const rt_launch *launch = worker->launch;
    uint64_t seats = launch->seats_made, most = (RT_FRAME_MAX - sizeof(standing)) / sizeof(char *);
    standing now = {.seats = seats < most ? seats : most, .kept = launch->kept_count};
    uint64_t bytes = sizeof now + now.seats * sizeof(char *);
    if (((uintptr_t)cursor & (RT_PAGE - 1)) + bytes >= RT_PAGE)
        cursor = rt_cpu_page(worker, cursor, line);
    for (uint64_t i = 0; i < now.seats; i++, cursor += sizeof(char *))
        memcpy(cursor, &launch->seats[i].worker.cursor, sizeof(char *));
    memcpy(cursor, &now, sizeof now);
    return cursor + sizeof now;
}

static char *
stood(const standing *s, const char *tasks, uint64_t seat)
{
    char *cursor = rt_no_page(); /* of a worker that came later */
    if (seat < s->seats)
        memcpy(&cursor, tasks - sizeof *s - (s->seats - seat) * sizeof(char *), sizeof cursor);
    return cursor;
}

int32_t
rt_cpu_over_tasks(rt_worker *worker, char *cursor, char *mark, char *tasks, int32_t parts, int64_t room)
{
    rt_launch *launch = worker->launch;
    standing s;
    memcpy(&s, tasks - sizeof s, sizeof s);
    int64_t below = rt_depth(mark), used = rt_depth(cursor) - below, bytes = rt_bytes_between(mark, cursor);
    for (uint64_t i = 0; i < launch->seats_made; i++) {
        int64_t depth = rt_depth(stood(&s, tasks, i));
        bytes += rt_bytes_between(stood(&s, tasks, i), launch->seats[i].worker.cursor);
        used += rt_depth(launch->seats[i].worker.cursor) - depth;
        below += depth;
    }
    int64_t left = (int64_t)(launch->cpu->budget / RT_PAGE) - below;
    if (parts ? used <= 0 || (used + 1) * RT_PAGE + room <= left * RT_PAGE / parts : bytes <= room)
        return 0;
    for (uint64_t i = 0; i < launch->seats_made; i++)
        launch->seats[i].worker.cursor = stood(&s, tasks, i);
    launch->kept_count = (uint32_t)s.kept;
    return 1;
}
