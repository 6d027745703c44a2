/* The host part of device "vulkan" on a driver that is there, with code made by hand: memory, order, kernel-level control, faults,
 * prints, cancelling. Exit code 77: no driver is usable. SPDX-License-Identifier: Apache-2.0
 *
 *   vulkan_test [COUNT]     so many random launches (40) */
#include "check.h"
#include "device/device.h"
#include "rt/vulkan/launch.h"
#include "spirv_by_hand.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static rt_device *device;
static const rt_device_table *table;

enum { ELEMENTS = RT_VULKAN_GROUPS * RT_WARP, CELLS = 64, SKIPPED = 77 }; /* a task takes an element for each invocation */

static str said; /* by prints, and by errors */

static void
hear(void *user, const char *text, size_t n)
{
    (void)user;
    str_add(&said, (rg_str){text, n});
}

static const char *
text_of(const str *s)
{
    return s->ptr ? s->ptr : "";
}

static rt_queue *
open_queue(uint64_t budget)
{
    rt_queue *q = NULL;
    str error = {.in = mem_scratch()};
    rg_status status = table->open_queue(device, &(rt_queue_desc){.tape_budget = budget, .sink = {hear, NULL}}, &q, &error);
    CHECK(!status, "%s", text_of(&error));
    return q;
}

static rg_status
give_code(void *user, unsigned wanted, str *code, bool *kept, diag_list *diags)
{
    (void)wanted, (void)diags;
    *kept = false;
    str_add(code, *(const rg_str *)user);
    return RG_OK;
}

static rt_program *
compile(const spirv_code *code, const char *label)
{
    rt_program *p = NULL;
    str bytes = {.in = mem_scratch()};
    diag_list diags = {.text.in = mem_scratch()};
    hand_write(code, &bytes);
    rg_str view = str_view(&bytes);
    rt_program_desc desc = {.code = give_code, .user = &view, .nparams = 1, .label = label, .file = "hand.c"};
    rg_status status = table->compile(device, &desc, &p, &diags);
    CHECK(!status, "%s", text_of(&diags.text));
    return p;
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

static bool
ok(rg_status status, const str *error)
{
    CHECK(!status, "%s", text_of(error));
    return !status;
}

static void
check_memory(void)
{
    enum { N = 9000001 };
    rt_queue *q = open_queue(0), *other = open_queue(0);
    str error = {.in = mem_scratch()};
    void *a = NULL, *b = NULL;
    uint8_t *host = malloc(N), *back = malloc(N);
    for (size_t i = 0; i < N; i++)
        host[i] = (uint8_t)(i * 7 + i / 251);
    if (!ok(table->memory->allocate(q, N, &a, &error), &error) || !ok(table->memory->allocate(q, N, &b, &error), &error))
        return;
    ok(table->memory->read(q, back, a, N, &error), &error);
    size_t zeros = 0;
    while (zeros < N && !back[zeros])
        zeros++;
    CHECK(zeros == N, "memory is not zeroed at %zu", zeros);
    ok(table->memory->write(q, a, host, N, &error), &error);
    ok(table->memory->copy(q, (char *)b + 3, (char *)a + 1, N - 4, &error), &error);
    ok(table->streams->wait(other, q, &error), &error);
    ok(table->memory->read(other, back, (char *)b + 3, N - 4, &error), &error);
    CHECK(memcmp(back, host + 1, N - 4) == 0);
    /* each size of an element, at places that words do and do not fit */
    for (uint32_t size = 1; size <= 8; size *= 2)
        for (size_t from = 0; from < 16; from += size) {
            uint64_t element = 0x0123456789abcdefu;
            size_t count = 100003 / size;
            ok(table->memory->fill(q, (char *)a + from, &element, size, count, &error), &error);
            ok(table->memory->read(q, back, a, from + count * size + 1, &error), &error);
            for (size_t i = 0; i < count; i++)
                if (memcmp(back + from + i * size, &element, size) != 0) {
                    CHECK(false, "element %zu of %u bytes from %zu", i, size, from);
                    break;
                }
        }
    CHECK(table->memory->reaches(device, (char *)a + N) && !table->memory->reaches(device, host));
    CHECK(table->memory->write(q, host, host, 4, &error) == RG_DEVICE && strstr(text_of(&error), "not in the memory"), "%s",
          text_of(&error));
    void *none = NULL;
    error.len = 0;
    CHECK(table->memory->allocate(q, (size_t)1 << 46, &none, &error) == RG_OUT_OF_MEMORY && strstr(text_of(&error), "70368744177"), "%s",
          text_of(&error));
    table->memory->release(device, a, N);
    table->memory->release(device, b, N);
    free(host);
    free(back);
    table->close_queue(other);
    table->close_queue(q);
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

/* A kernel-level program, and what it does. */
typedef struct program {
    arena *in;
    vec(hand_entry) entries;
    spirv_code code;
    uint64_t state;
    uint32_t cells; /* used */
} program;

static uint32_t
draw(program *g, uint32_t below)
{
    g->state = g->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(g->state >> 33) % below;
}

static uint32_t
step(program *g, segments_kind kind, hand_entry e, uint32_t place)
{
    segments_step s = {.kind = kind, .place = place * 4};
    if (kind == SEGMENTS_RUN || kind == SEGMENTS_TASK) {
        s.entry = (uint32_t)g->entries.n;
        vec_push(&g->entries, e);
    }
    vec_push(&g->code.info.steps, s);
    return (uint32_t)g->code.info.steps.n - 1;
}
#define RUN(...) step(g, SEGMENTS_RUN, (hand_entry){__VA_ARGS__}, 0)
#define MARK(kind, place) step(g, kind, (hand_entry){0}, place)

static void
add_place(program *g, const char *text, uint32_t line, const char *dtypes, uint32_t values)
{
    vec_push(&g->code.info.places, ((ll_place){text, NULL, dtypes, line, values}));
}

static void block(program *g, unsigned depth);

static void
mix(program *g)
{
    step(g, SEGMENTS_TASK, (hand_entry){HAND_MIX, 0, draw(g, g->cells), draw(g, 1000)}, 0);
}

/* Bounds of inner loops are often counters of outer ones. */
static void
loop(program *g, unsigned depth)
{
    uint32_t count = g->cells++, bound = g->cells++, ends = g->cells++;
    RUN(HAND_SET, count, 0, 0);
    if (count > 2 && draw(g, 2))
        bound = draw(g, count);
    else
        RUN(HAND_SET, bound, 0, draw(g, 7) ? draw(g, 6) : 30);
    if (!g->code.info.places.n) /* loops have one */
        add_place(g, NULL, 3, NULL, 0);
    uint32_t begin = MARK(SEGMENTS_LOOP, 0);
    RUN(HAND_REACH, ends, count, bound);
    uint32_t exit = MARK(SEGMENTS_EXIT_IF, ends);
    RUN(HAND_ADD, count, 0, 1);
    block(g, depth - 1);
    uint32_t end = MARK(SEGMENTS_END, 0);
    g->code.info.steps.at[begin].to = g->code.info.steps.at[exit].to = end;
    g->code.info.steps.at[end].to = begin;
}

static void
branch(program *g, unsigned depth)
{
    uint32_t odd = g->cells++;
    RUN(HAND_ODD, odd, draw(g, odd), 0);
    uint32_t begin = MARK(SEGMENTS_IF, odd), other = 0;
    block(g, depth - 1);
    if (draw(g, 2)) {
        other = MARK(SEGMENTS_ELSE, 0);
        block(g, depth - 1);
    }
    uint32_t end = MARK(SEGMENTS_END, 0);
    g->code.info.steps.at[begin].to = other ? other : end;
    if (other)
        g->code.info.steps.at[other].to = end;
    g->code.info.steps.at[end].to = end;
}

static void
block(program *g, unsigned depth)
{
    for (uint32_t n = 1 + draw(g, 3); n > 0; n--) {
        uint32_t kind = depth && g->cells < CELLS - 3 ? draw(g, 4) : 0;
        if (kind == 1)
            loop(g, depth);
        else if (kind == 2)
            branch(g, depth);
        else
            mix(g);
    }
}

static void
begin(program *g, uint64_t seed)
{
    arena *in = mem_scratch();
    *g = (program){.in = in, .entries.in = in, .code.info.steps.in = in, .code.info.places.in = in, .state = seed, .cells = 1};
    g->code.info.record = CELLS * 4;
}

static void
finish(program *g)
{
    hand_make(g->entries.at, (uint32_t)g->entries.n, g->in, &g->code);
}

/* What element 0 is in the end, said by the steps alone. */
static uint32_t
interpret(const program *g, uint32_t y)
{
    uint32_t cells[CELLS] = {0};
    const segments_step *steps = g->code.info.steps.at;
    for (size_t at = 0; at < g->code.info.steps.n;) {
        const segments_step *s = &steps[at];
        const hand_entry *e = &g->entries.at[s->entry];
        bool holds = s->kind > SEGMENTS_TASK && cells[s->place / 4];
        switch ((segments_kind)s->kind) {
        case SEGMENTS_RUN:
        case SEGMENTS_TASK:
            if (e->code == HAND_MIX)
                y = y * 3 + cells[e->b] + e->c;
            else
                cells[e->a] = e->code == HAND_SET ? e->c : e->code == HAND_ADD ? cells[e->a] + e->c : e->code == HAND_ODD ? cells[e->b] & 1
                                                                                                             : cells[e->b] >= cells[e->c];
            at++;
            break;
        case SEGMENTS_LOOP:
            at++;
            break;
        case SEGMENTS_EXIT_IF:
            at = holds ? s->to + 1 : at + 1;
            break;
        case SEGMENTS_IF:
            at = holds ? at + 1 : s->to + 1;
            break;
        case SEGMENTS_ELSE:
            at = s->to + 1;
            break;
        case SEGMENTS_END:
            at = s->to < at ? s->to : at + 1;
            break;
        case SEGMENTS_AGAIN:
            return 0;
        }
    }
    return y;
}

static rg_status
launch(rt_queue *q, rt_program *p, void *y, str *error)
{
    rt_arg arg = {.plane = {y}, .extent = {ELEMENTS}, .stride = {1}};
    return table->launch(q, p, &arg, error);
}

/* Each program several times: the second launch expects what the first one has seen. */
static void
check_steps(unsigned count)
{
    rt_queue *q = open_queue(0);
    str error = {.in = mem_scratch()};
    void *y = NULL;
    if (!ok(table->memory->allocate(q, ELEMENTS * 4, &y, &error), &error))
        return;
    uint32_t value = 0, found[RT_WARP], controls = 0;
    for (unsigned k = 0; k < count; k++) {
        program g;
        begin(&g, k);
        while (g.entries.n < 4)
            block(&g, 3);
        finish(&g);
        controls += g.code.info.steps.n > g.entries.n;
        rt_program *p = compile(&g.code, "kernel `hand`");
        for (int again = 0; again < 3 && p; again++) {
            ok(launch(q, p, y, &error), &error);
            value = interpret(&g, value);
        }
        ok(table->memory->read(q, found, y, sizeof found, &error), &error);
        for (int i = 0; i < RT_WARP; i++)
            if (found[i] != value) {
                CHECK(false, "program %u, lane %d: %u, not %u", k, i, found[i], value);
                break;
            }
        if (p)
            table->release(p);
    }
    CHECK(count < 20 || controls > count / 3, "only %u programs have loops or ifs", controls);
    table->memory->release(device, y, ELEMENTS * 4);
    table->close_queue(q);
}

/* Many launches without waiting: more than there are command buffers and slots, in the order of the queue. */
static void
check_order(void)
{
    enum { LAUNCHES = 200 };
    rt_queue *q = open_queue(0), *other = open_queue(0);
    str error = {.in = mem_scratch()};
    void *y = NULL;
    uint32_t value = 0, found;
    program g;
    begin(&g, 0);
    mix(&g);
    finish(&g);
    rt_program *p = compile(&g.code, "kernel `hand`");
    if (!p || !ok(table->memory->allocate(q, ELEMENTS * 4, &y, &error), &error))
        return;
    for (int i = 0; i < LAUNCHES; i++) {
        rt_queue *here = i / 10 % 2 ? other : q, *before = here == q ? other : q;
        if (i % 10 == 0)
            ok(table->streams->wait(here, before, &error), &error);
        ok(launch(here, p, y, &error), &error);
        value = interpret(&g, value);
    }
    ok(table->memory->read(other, &found, y, sizeof found, &error), &error);
    CHECK(found == value, "%u, not %u", found, value);
    table->release(p);
    table->memory->release(device, y, ELEMENTS * 4);
    table->close_queue(q);
    table->close_queue(other);
}

/* -- faults, prints ------------------------------------------------------------------------------------------------ */

static void
check_faults(void)
{
    rt_queue *q = open_queue(0);
    str error = {.in = mem_scratch()};
    static const char u32[] = {RG_U32};
    void *y = NULL;
    program gs, *g = &gs;
    begin(g, 0);
    add_place(g, "x > 0", 7, NULL, 0);
    add_place(g, "cell %u\n", 9, u32, 1);
    g->code.info.prints = true;
    RUN(HAND_SET, 3, 0, 42);
    RUN(HAND_PRINT, 1, 3, 0);
    RUN(HAND_FAIL, 0, 0, 0);
    step(g, SEGMENTS_TASK, (hand_entry){HAND_MIX, 0, 3, 0}, 0);
    RUN(HAND_PRINT, 1, 3, 0);
    finish(g);
    rt_program *p = compile(&g->code, "kernel `hand`");
    if (!p || !ok(table->memory->allocate(q, ELEMENTS * 4, &y, &error), &error))
        return;
    said.len = 0;
    uint32_t found = 1;
    ok(launch(q, p, y, &error), &error);
    rg_status status = table->streams->sync(q, &error);
    CHECK(status == RG_ASSERT && strcmp(text_of(&error), "kernel `hand`: hand.c:7: assertion failed: x > 0") == 0, "%s", text_of(&error));
    CHECK(said.ptr && strcmp(said.ptr, "cell 42\n") == 0, "%s", text_of(&said));
    error.len = 0;
    ok(table->memory->read(q, &found, y, sizeof found, &error), &error);
    CHECK(found == 0);
    /* what nobody waits for the next launch tells, or the release of the program */
    ok(launch(q, p, y, &error), &error);
    table->streams->settle(device);
    CHECK(launch(q, p, y, &error) == RG_ASSERT);
    error.len = 0;
    ok(launch(q, p, y, &error), &error);
    table->release(p);
    CHECK(table->streams->sync(q, &error) == RG_ASSERT && strstr(text_of(&error), "hand.c:7"), "%s", text_of(&error));
    table->memory->release(device, y, ELEMENTS * 4);
    table->close_queue(q);
}

/* Tape and arrays together are no more than one piece of memory. */
static void
check_pages(void)
{
    rt_queue *q = open_queue((uint64_t)1 << 40);
    str error = {.in = mem_scratch()};
    void *y = NULL;
    uint32_t found = 0;
    program gs, *g = &gs;
    begin(g, 0);
    g->code.info.has_tape = true;
    mix(g);
    finish(g);
    rt_program *p = compile(&g->code, "kernel `hand`");
    if (!p || !ok(table->memory->allocate(q, ELEMENTS * 4, &y, &error), &error))
        return;
    ok(launch(q, p, y, &error), &error);
    ok(table->memory->read(q, &found, y, sizeof found, &error), &error);
    CHECK(found == interpret(g, 0));
    table->release(p);
    table->memory->release(device, y, ELEMENTS * 4);
    table->close_queue(q);
}

/* A launch on memory that is not the device's. */
static void
check_refused(void)
{
    rt_queue *q = open_queue(0);
    str error = {.in = mem_scratch()};
    program gs, *g = &gs;
    uint32_t host[RT_WARP];
    begin(g, 0);
    mix(g);
    finish(g);
    rt_program *p = compile(&g->code, "kernel `hand`");
    CHECK(launch(q, p, host, &error) == RG_DEVICE && strstr(text_of(&error), "kernel `hand`: plane 0 of argument 0"), "%s",
          text_of(&error));
    error.len = 0;
    CHECK(table->streams->set_stream(q, host, &error) == RG_INVALID);
    table->release(p);
    rt_queue *none = NULL;
    CHECK(table->open_queue(device, &(rt_queue_desc){.stream = host}, &none, &error) == RG_INVALID);
    rt_device *far = NULL;
    error.len = 0;
    CHECK(table->open(1000, &far, &error) == RG_NOT_FOUND && strstr(text_of(&error), "no number 1000"), "%s", text_of(&error));
    table->close_queue(q);
}

/* -- cancelling ---------------------------------------------------------------------------------------------------- */

static double
seconds(void)
{
    return clock_ms() / 1000;
}

static void *
cancel_soon(void *queue)
{
    struct timespec soon = {0, 100000000};
    nanosleep(&soon, NULL);
    table->cancel(queue);
    return NULL;
}

/* In a step, and between steps of a loop without an end. */
static void
check_cancel(bool in_step)
{
    rt_queue *q = open_queue(0);
    str error = {.in = mem_scratch()};
    pthread_t thread;
    void *y = NULL;
    program gs, *g = &gs;
    begin(g, 0);
    add_place(g, NULL, 3, NULL, 0);
    if (in_step) {
        RUN(HAND_WAIT, 0, 0, 0);
    } else {
        uint32_t first = MARK(SEGMENTS_LOOP, 0);
        RUN(HAND_SET, 1, 0, 0);
        uint32_t exit = MARK(SEGMENTS_EXIT_IF, 1);
        mix(g);
        uint32_t end = MARK(SEGMENTS_END, 0);
        g->code.info.steps.at[first].to = g->code.info.steps.at[exit].to = end;
        g->code.info.steps.at[end].to = first;
    }
    finish(g);
    rt_program *p = compile(&g->code, "kernel `hand`");
    if (!p || !ok(table->memory->allocate(q, ELEMENTS * 4, &y, &error), &error))
        return;
    table->cancel(q); /* nothing runs */
    ok(table->streams->sync(q, &error), &error);
    double since = seconds();
    pthread_create(&thread, NULL, cancel_soon, q);
    rg_status status = launch(q, p, y, &error);
    if (!status)
        status = table->streams->sync(q, &error);
    CHECK(status == RG_CANCELLED && strstr(text_of(&error), "hand.c:3: the launch was cancelled"), "%d %s", status, text_of(&error));
    CHECK(seconds() - since < 5);
    pthread_join(thread, NULL);
    error.len = 0;
    ok(table->streams->sync(q, &error), &error);
    table->release(p);
    table->memory->release(device, y, ELEMENTS * 4);
    table->close_queue(q);
}

int
main(int argc, char **argv)
{
    str error = {.in = mem_scratch()};
    table = rt_device_find(RG_STR("vulkan"));
    rg_status status = table->open(0, &device, &error);
    if (status) {
        printf("no driver of Vulkan is usable: %s\n", text_of(&error));
        return SKIPPED;
    }
    rt_device_facts facts = {0};
    CHECK(!table->look(0, &facts, &error) && facts.model[0] && facts.memory);
    check_memory();
    check_steps(argc > 1 ? (unsigned)atoi(argv[1]) : 40);
    check_order();
    check_faults();
    check_refused();
    check_pages();
    check_cancel(true);
    check_cancel(false);
    table->close(device);
    str_free(&said);
    return check_done();
}
