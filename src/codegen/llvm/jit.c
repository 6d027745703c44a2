/* Machine code of this machine. SPDX-License-Identifier: Apache-2.0
 *
 * A compilation makes an object, which code.c brings to where it runs: LLVM knows nothing of it then. */
#include "codegen/llvm/unit.h"

#include <pthread.h>

enum { MACHINES_KEPT = 4 };

struct ll_jit {
    pthread_mutex_t lock;
    machine_ref machines[MACHINE_EFFORTS][MACHINES_KEPT]; /* idle ones */
    unsigned idle[MACHINE_EFFORTS];
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

static void
release_buffer(void *buffer)
{
    LLVMDisposeMemoryBuffer(buffer);
}

rg_status
ll_make(ll_jit *jit, const ir_fn *fn, const ll_options *options, str *bytes, diag_list *diags)
{
    unit u;
    mem_owner owns;
    LLVMMemoryBufferRef object = NULL;
    unit_begin(&u, fn, options, ll_entry_name);
    bool made = make_object(jit, &u, &object);
    if (made) {
        mem_own(&owns, release_buffer, object);
        ll_gpu_info_write(bytes, &u.gpu);
        bytes_put(bytes, (rg_str){LLVMGetBufferStart(object), LLVMGetBufferSize(object)});
        mem_disown(&owns);
        LLVMDisposeMemoryBuffer(object);
    }
    unit_end(&u);
    return made ? RG_OK : unit_failed(&u, diags);
}
