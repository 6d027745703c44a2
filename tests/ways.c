/* See ways.h. SPDX-License-Identifier: Apache-2.0 */
#include "ways.h"

#include <stdlib.h>
#include <string.h>

typedef struct way {
    uint32_t threads;
    uint64_t budget;
    const char *blocks, *warps, *order; /* of devices simt and segments; order: of the Metal that is played, too */
} way;

#define PLAYED                                                                                                            \
    6, {{0, 0, "2", "4", "1"}, {0, 0, "2", "4", "77"}, {0, 0, "1", "1", NULL}, {0, 0, "5", "3", "5"},                       \
        {0, 1 << 22, "3", "8", "9"}, {0, 1 << 21, "1", "7", "3"}}

static const struct {
    const char *name;
    uint32_t count;
    way at[WAYS_MOST];
} table[] = {
    {"cpu", 4, {{1, 0, NULL, NULL, NULL}, {2, 0, NULL, NULL, NULL}, {3, 0, NULL, NULL, NULL}, {7, 0, NULL, NULL, NULL}}},
    {"simt", PLAYED},
    {"segments", PLAYED},
    {"cuda", 2, {{0, 1 << 30, NULL, NULL, NULL}, {0, 1 << 26, NULL, NULL, NULL}}},
    {"amd", 2, {{0, 1 << 30, NULL, NULL, NULL}, {0, 1 << 26, NULL, NULL, NULL}}},
    {"vulkan", 2, {{0, 1 << 30, NULL, NULL, NULL}, {0, 1 << 26, NULL, NULL, NULL}}},
    {"metal", 2, {{0, 1 << 28, NULL, NULL, "0"}, {0, 1 << 22, NULL, NULL, "1"}}},
};
enum { DEVICES = sizeof table / sizeof *table };

static size_t
find(const char *name)
{
    size_t i = 0;
    while (i < DEVICES && strcmp(table[i].name, name) != 0)
        i++;
    return i;
}

uint32_t
ways_count(const char *name)
{
    return find(name) < DEVICES ? table[find(name)].count : 1;
}

static void
choose(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* A queue reads what a played GPU is like as it is made. */
rg_status
ways_open(rg_device *device, const char *name, uint32_t number, rg_queue **queue)
{
    size_t i = find(name);
    way w = i < DEVICES ? table[i].at[number] : (way){0};
    rg_queue_desc desc = RG_DESC(rg_queue_desc, .num_threads = w.threads, .tape_budget = w.budget);
    choose("RG_SIMT_BLOCKS", w.blocks);
    choose("RG_SIMT_WARPS", w.warps);
    choose("RG_SIMT_ORDER", w.order);
    choose("RG_FAKE_METAL_ORDER", w.order);
    return rg_queue_create(device, &desc, queue);
}
