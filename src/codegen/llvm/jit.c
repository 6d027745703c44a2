/* Machine code in memory. SPDX-License-Identifier: Apache-2.0
 *
 * A compilation makes an object file in memory, which rt/load brings to where it runs: LLVM knows nothing of it then. */
#include "codegen/llvm/unit.h"

#include "rt/load/object.h"
#include "rt/load/symbols.h"

#include <pthread.h>

enum { MACHINES_KEPT = 4 };
static const char entry_name[] = "rg_kernel";

struct ll_jit {
    pthread_mutex_t lock;
    machine_ref machines[MACHINE_EFFORTS][MACHINES_KEPT]; /* idle ones */
    unsigned idle[MACHINE_EFFORTS];
};

struct ll_code {
    rt_object *object;
    ll_gpu_info gpu;
};

/* -- machines, which take time to make --------------------------------------------------------- */

static machine_ref
take_machine(ll_jit *jit, machine_effort effort, str *error)
{
    machine_ref machine = NULL;
    pthread_mutex_lock(&jit->lock);
    if (jit->idle[effort])
        machine = jit->machines[effort][--jit->idle[effort]];
    pthread_mutex_unlock(&jit->lock);
    if (!machine)
        machine_create(&unit_no_options, effort, &machine, error);
    return machine;
}

static void
give_machine(ll_jit *jit, machine_effort effort, machine_ref machine)
{
    pthread_mutex_lock(&jit->lock);
    bool keep = jit->idle[effort] < MACHINES_KEPT;
    if (keep)
        jit->machines[effort][jit->idle[effort]++] = machine;
    pthread_mutex_unlock(&jit->lock);
    if (!keep)
        machine_free(machine);
}

rg_status
ll_jit_create(ll_jit **out, diag_list *diags)
{
    *out = NULL;
    str error = {0};
    machine_ref machine = NULL;
    ll_jit *jit = mem_zalloc(sizeof *jit);
    if (!machine_create(&unit_no_options, MACHINE_FULL, &machine, &error)) {
        mem_free(jit);
        return unit_report(diags, "this machine", &error);
    }
    pthread_mutex_init(&jit->lock, NULL);
    give_machine(jit, MACHINE_FULL, machine);
    *out = jit;
    return RG_OK;
}

void
ll_jit_destroy(ll_jit *jit)
{
    if (!jit)
        return;
    for (int effort = 0; effort < MACHINE_EFFORTS; effort++)
        while (jit->idle[effort])
            machine_free(jit->machines[effort][--jit->idle[effort]]);
    pthread_mutex_destroy(&jit->lock);
    mem_free(jit);
}

/* -- compilations ------------------------------------------------------------------------------ */

static void
release_buffer(void *buffer)
{
    LLVMDisposeMemoryBuffer(buffer);
}

/* takes the object over */
static bool
load_object(LLVMMemoryBufferRef object, ll_code *code, str *error)
{
    mem_owner owns_code, owns_object;
    mem_own(&owns_code, mem_free, code);
    mem_own(&owns_object, release_buffer, object);
    rg_str bytes = {LLVMGetBufferStart(object), LLVMGetBufferSize(object)};
    code->object = rt_object_load(bytes, entry_name, rt_symbol_find, error);
    mem_disown(&owns_object);
    mem_disown(&owns_code);
    LLVMDisposeMemoryBuffer(object);
    return code->object != NULL;
}

/* Makes the object with a machine of the jit's. */
static bool
make_object(ll_jit *jit, unit *u, LLVMMemoryBufferRef *object)
{
    u->machine = take_machine(jit, u->effort, &u->error);
    bool made =
        u->machine && unit_generate(u) && unit_optimize(u) && unit_emit(u, LLVMObjectFile, object);
    if (u->machine)
        give_machine(jit, u->effort, u->machine);
    u->machine = NULL;
    return made;
}

rg_status
ll_compile(ll_jit *jit, const ir_fn *fn, const ll_options *options, ll_code **out, diag_list *diags)
{
    *out = NULL;
    ll_code *code = mem_zalloc(sizeof *code);
    mem_owner owns;
    mem_own(&owns, mem_free, code);
    unit u;
    LLVMMemoryBufferRef object = NULL;
    unit_begin(&u, fn, options, entry_name);
    bool made = make_object(jit, &u, &object);
    code->gpu = u.gpu;
    u.gpu = (ll_gpu_info){0};
    unit_end(&u);
    mem_disown(&owns);
    if (made) {
        u.stage = "loading";
        double start = unit_clock();
        made = load_object(object, code, &u.error);
        unit_times()->link = unit_clock() - start;
    }
    if (!made) {
        ll_code_free(code);
        return unit_failed(&u, diags);
    }
    *out = code;
    return RG_OK;
}

ll_entry *
ll_code_entry(const ll_code *code)
{
    void *address = rt_object_entry(code->object);
    ll_entry *entry;
    memcpy(&entry, &address, sizeof entry);
    return entry;
}

const ll_gpu_info *
ll_code_gpu(const ll_code *code)
{
    return &code->gpu;
}

void
ll_code_free(ll_code *code)
{
    if (!code)
        return;
    rt_object_free(code->object);
    ll_gpu_info_free(&code->gpu);
    mem_free(code);
}
