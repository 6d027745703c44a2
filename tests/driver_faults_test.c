/* Devices "cuda" and "amd" where the driver fails, at each of its calls in turn: nothing may stay behind, nothing be used that is
 * no more, and whoever asked is told. SPDX-License-Identifier: Apache-2.0
 *
 *   driver_faults_test DRIVER [all]   that of fake_driver.c; each call fails with every error, not with one of them;
 *                                     memory also with drivers that cannot do all */
#include "check.h"
#include "fake_driver.h"

#include "base/base.h"

#include "queue.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300000, OUT_OF_MEMORY = 2, OTHER = 1, ILLEGAL_ADDRESS = 700 };

static const char source[] =
    "kernel @walk(%n: i32, %steps: i32, %x: buf<f32,1>, %y: buf<f32,1>) {\n"
    "  %zero: i32 = const 0  %one: i32 = const 1\n"
    "  parallel (%i: i32) = (%zero) to (%n) {\n"
    "    %v: f32 = load %x[%i]\n"
    "    %r: f32 = loop (%t: i32 = %zero, %a: f32 = %v) {\n"
    "      %c: bool = ge %t, %steps  exit_if %c (%a)\n"
    "      %p: f32 = mul %a, %a  %t1: i32 = add %t, %one\n"
    "      yield %t1, %p\n"
    "    }\n"
    "    store %y[%i], %r  yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

static fake_driver *fake, usual;

typedef struct scene {
    rg_queue *rg;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *x, *y;
    rg_graph *graph;
    unsigned failed, silent; /* calls; those that said nothing */
    char first[300];         /* what the first one said */
    bool out_of_memory;      /* by its status */
} scene;

/* What cannot be done for lack of what failed before is not judged. */
static bool
try(scene *s, rg_status status)
{
    if (!status)
        return true;
    if (!s->failed++) {
        snprintf(s->first, sizeof s->first, "%s", rg_error_message());
        s->out_of_memory = status == RG_OUT_OF_MEMORY;
    }
    s->silent += !rg_error_message()[0];
    return false;
}

static void
open_scene(scene *s, void *stream)
{
    rg_queue_desc desc = RG_DESC(rg_queue_desc, .tape_budget = 8 << 20, .stream = stream);
    rg_array_desc like = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {N}, .adjoint = true);
    if (!try(s, queue_open(fake->device, &desc, &s->rg)) || !try(s, rg_module_from_ir(rg_str_of(source), NULL, &s->module)) ||
        !try(s, rg_module_get_kernel(s->module, RG_STR("walk"), &s->kernel)) || !try(s, rg_args_create(s->rg, s->kernel, &s->args)) ||
        !try(s, rg_array_create(s->rg, &like, &s->x)) || !try(s, rg_array_create(s->rg, &like, &s->y)))
        return;
    try(s, rg_args_set_int(s->args, RG_STR("n"), N));
    try(s, rg_args_set_int(s->args, RG_STR("steps"), 3));
    try(s, rg_args_set_array(s->args, RG_STR("x"), s->x));
    try(s, rg_args_set_array(s->args, RG_STR("y"), s->y));
}

static void
play(scene *s)
{
    static float host[N];
    void *data;
    bool good = s->args && s->x && s->y;
    good = good && try(s, rg_array_write(s->rg, s->x, RG_PRIMAL, host, sizeof host));
    good = good && try(s, rg_launch(s->rg, s->args, RG_FORWARD_VJP));
    good = good && try(s, rg_array_read(s->rg, s->x, RG_ADJOINT, host, sizeof host));
    if (good && try(s, rg_array_map(s->rg, s->x, RG_PRIMAL, true, &data)))
        rg_array_unmap(s->x, RG_PRIMAL);
    good = good && try(s, rg_array_require(s->rg, s->x, RG_TANGENT));
    good = good && try(s, rg_queue_sync(s->rg));
}

static void
play_graph(scene *s)
{
    if (!s->args || !s->x || !s->y || !try(s, rg_graph_begin(s->rg)))
        return;
    try(s, rg_array_fill(s->rg, s->y, RG_ADJOINT, 1));
    try(s, rg_launch(s->rg, s->args, RG_FORWARD_VJP));
    try(s, rg_array_copy(s->rg, s->x, RG_PRIMAL, s->x, RG_ADJOINT));
    if (try(s, rg_graph_end(s->rg, &s->graph))) {
        try(s, rg_graph_launch(s->graph));
        try(s, rg_launch(s->rg, s->args, RG_FORWARD_VJP));
        try(s, rg_graph_launch(s->graph));
    }
    try(s, rg_queue_sync(s->rg));
}

static void
close_scene(scene *s)
{
    rg_graph_destroy(s->graph);
    rg_array_destroy(s->x);
    rg_array_destroy(s->y);
    rg_args_destroy(s->args);
    rg_module_destroy(s->module);
    rg_queue_destroy(s->rg);
}

static void
check_clean(const char *when, long call)
{
    CHECK(fake->alive == 0 && fake->contexts == 0 && fake->unsafe == 0 && fake->taken == 0 && fake->pinned == 0,
          "%s, call %ld: %ld alive, %d contexts, %ld unsafe, %zu bytes, %zu pinned", when, call, fake->alive, fake->contexts,
          fake->unsafe, fake->taken, fake->pinned);
}

/* Call number `call` fails; whether there was one. */
static bool
run_scene(long call, int code, int ranges, int pools)
{
    char when[160];
    scene s = {0};
    *fake = usual;
    fake->ranges = ranges;
    fake->pools = pools;
    fake->fails_at = call;
    fake->fails_with = code;
    open_scene(&s, NULL);
    play(&s);
    play_graph(&s);
    bool reached = fake->calls >= call;
    close_scene(&s);
    snprintf(when, sizeof when, "error %d in %s, ranges %d, pools %d", code, fake->failed, ranges, pools);
    check_clean(when, call);
    CHECK(!s.silent, "%s, call %ld: %u errors without a text", when, call, s.silent);
    CHECK(call || !s.failed, "without a fault: %s", s.first);
    CHECK(code != ILLEGAL_ADDRESS || !reached || s.failed, "%s, call %ld: nobody was told", when, call);
    if (getenv("DRIVER_FAULTS_SHOW") && reached && call)
        printf("%s: %u: %s\n", when, s.failed, s.first);
    return reached;
}

/* A caller's stream that is no more, which a caller must not do: it is said, and memory is given back. */
static void
lose_stream(void *library, int pools)
{
    int (*create)(void **, unsigned), (*destroy)(void *);
    *(void **)&create = dlsym(library, fake->symbol("stream_create"));
    *(void **)&destroy = dlsym(library, fake->symbol("stream_destroy"));
    scene s = {0};
    void *stream = NULL;
    *fake = usual;
    fake->pools = pools;
    fake->enter();
    CHECK(create(&stream, 0) == 0, "stream");
    open_scene(&s, stream);
    play(&s);
    CHECK(!s.failed, "%s", s.first);
    destroy(stream);
    play(&s);
    CHECK(s.failed && strstr(s.first, "has to live as long as the queue"), "%s", s.first);
    play_graph(&s);
    close_scene(&s);
    fake->leave();
    check_clean("stream", pools);
}

/* The host's memory ends where a graph does: the queue goes on. */
static void
lose_graph(void)
{
    *fake = usual;
    scene s = {0};
    open_scene(&s, NULL);
    play(&s);
    for (long k = 1; k < 6; k++) {
        try(&s, rg_graph_begin(s.rg));
        try(&s, rg_launch(s.rg, s.args, RG_FORWARD_VJP));
        mem_fail_after(k);
        bool made = rg_graph_end(s.rg, &s.graph) == RG_OK;
        mem_fail_after(0);
        CHECK(made == (s.graph != NULL), "graph");
        rg_graph_destroy(s.graph);
        s.graph = NULL;
        play(&s);
    }
    CHECK(!s.failed, "%s", s.first);
    close_scene(&s);
    check_clean("graph", 0);
}

int
main(int argc, char **argv)
{
    static const int codes[] = {OUT_OF_MEMORY, OTHER, ILLEGAL_ADDRESS};
    void *library = argc >= 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
    fake = library ? dlsym(library, "fake") : NULL;
    if (!fake) {
        printf("usage: driver_faults_test DRIVER [all]\n");
        return 1;
    }
    setenv(fake->path, argv[1], 1);
    usual = *fake;
    lose_stream(library, 0);
    lose_stream(library, 1);
    lose_graph();
    for (int how = 0; how < (argc > 2 ? 3 : 1); how++) {
        bool reached = run_scene(0, 0, how != 1, how != 2);
        for (long call = 1; reached; call++)
            for (int k = 0; k < (how ? 1 : 3); k++)
                if (argc > 2 || call % 3 == k)
                    reached = run_scene(call, codes[k], how != 1, how != 2);
    }
    return check_done();
}
