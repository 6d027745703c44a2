/* Strided layouts against their definition: overlap, copies and filling, on random small arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/layout.h"

enum { MEMORY = 4096, TRIALS = 40000 };

static uint64_t seed = 1;

static int64_t
pick(int64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)below);
}

/* A layout whose elements lie within [-MEMORY/4, MEMORY/4) bytes of its first. */
static rt_layout
random_layout(void)
{
    rt_layout l = {.rank = (uint32_t)pick(4), .size = 1u << pick(4)};
    int64_t room = MEMORY / 4;
    for (uint32_t k = 0; k < l.rank; k++) {
        l.shape[k] = pick(12) ? 1 + pick(5) : 0;
        int64_t most = room / (4 * (int64_t)l.size * (l.rank + 1));
        l.stride[k] = pick(3) ? pick(most < 12 ? most + 1 : 12) : pick(most + 1);
        if (!pick(4))
            l.stride[k] = -l.stride[k];
    }
    return l;
}

typedef void element_fn(char *element, int64_t number, void *user);

static void
each_element(const rt_layout *l, char *data, element_fn *fn, void *user)
{
    int64_t count = rt_layout_count(l);
    for (int64_t n = 0; n < count; n++) {
        int64_t rest = n, offset = 0;
        for (uint32_t k = l->rank; k-- > 0;) {
            offset += rest % l->shape[k] * l->stride[k];
            rest /= l->shape[k];
        }
        fn(data + offset * (int64_t)l->size, n, user);
    }
}

typedef struct marks {
    const char *memory;
    uint32_t size;
    bool touched[MEMORY], both;
} marks;

static void
mark(char *element, int64_t number, void *user)
{
    marks *m = user;
    for (uint32_t b = 0; b < m->size; b++)
        m->touched[element + b - m->memory] = true;
}

static void
look(char *element, int64_t number, void *user)
{
    marks *m = user;
    for (uint32_t b = 0; b < m->size; b++)
        m->both = m->both || m->touched[element + b - m->memory];
}

/* false: the answer is wrong */
static bool
try_overlap(char *memory)
{
    rt_layout a = random_layout(), b = random_layout();
    char *at = memory + MEMORY / 2 + pick(64), *bt = memory + MEMORY / 2 + pick(64);
    marks m = {.memory = memory, .size = a.size};
    each_element(&a, at, mark, &m);
    m.size = b.size;
    each_element(&b, bt, look, &m);
    return rt_layout_overlap(&a, at, &b, bt) == m.both;
}

typedef struct visits {
    const char *memory;
    uint8_t times[MEMORY];
    bool twice;
} visits;

static void
visit(char *element, int64_t number, void *user)
{
    visits *v = user;
    v->twice |= v->times[element - v->memory]++ > 0;
}

static bool
try_apart(char *memory)
{
    rt_layout l = random_layout();
    visits v = {.memory = memory};
    each_element(&l, memory + MEMORY / 2, visit, &v);
    return rt_layout_is_apart(&l) == !v.twice;
}

typedef struct copy {
    const char *dense;
    uint32_t size;
    bool same;
} copy;

static void
compare(char *element, int64_t number, void *user)
{
    copy *c = user;
    c->same = c->same && memcmp(element, c->dense + number * c->size, c->size) == 0;
}

static bool
try_copies(char *memory)
{
    rt_layout l = random_layout();
    for (uint32_t k = 0; k < l.rank; k++) /* elements of their own: writing them back is defined */
        l.stride[k] = k == 0 ? 60 : k == 1 ? 11 : 2;
    l.size = l.size > 4 ? 1 : l.size;
    char dense[5 * 5 * 5 * 8], again[sizeof(dense)], *at = memory + MEMORY / 4;
    for (int i = 0; i < MEMORY; i++)
        memory[i] = (char)pick(256);
    copy c = {dense, l.size, true};
    rt_layout_read(&l, at, dense);
    each_element(&l, at, compare, &c);
    size_t bytes = (size_t)rt_layout_count(&l) * l.size;
    for (size_t i = 0; i < bytes; i++)
        dense[i] = (char)~dense[i];
    rt_layout_write(&l, at, dense);
    each_element(&l, at, compare, &c);
    rt_layout_fill(&l, at, "\1\2\3\4");
    rt_layout_read(&l, at, again);
    for (size_t i = 0; i < bytes; i++)
        c.same = c.same && again[i] == (char)(1 + i % l.size);
    return c.same;
}

int
main(void)
{
    static char memory[MEMORY];
    unsigned failed = 0;
    for (int i = 0; i < TRIALS; i++)
        failed += !try_overlap(memory) + !try_apart(memory);
    for (int i = 0; i < TRIALS / 10; i++)
        failed += !try_copies(memory);
    if (failed)
        printf("%u answers are wrong\n", failed);
    return failed != 0;
}
