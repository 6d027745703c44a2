/* Machine code in memory. SPDX-License-Identifier: Apache-2.0
 *
 * A compilation makes an object file in memory on its own; only the linker (ORC) is shared. Each
 * piece of code is a resource of the linker that goes away with its ll_code. Kernels are linked
 * under numbered names that no library has. */
#include "codegen/llvm/unit.h"

#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <pthread.h>

enum { MACHINES_KEPT = 4 };

struct ll_jit {
    LLVMOrcLLJITRef orc;
    pthread_mutex_t lock;
    unsigned next_name;
    machine_ref machines[MACHINE_EFFORTS][MACHINES_KEPT]; /* idle ones */
    unsigned idle[MACHINE_EFFORTS];
};

struct ll_code {
    ll_jit *jit;
    LLVMOrcResourceTrackerRef tracker;
    ll_entry *entry;
    ll_gpu_info gpu;
};

/* -- the linker -------------------------------------------------------------------------------- */

static void
take_error(LLVMErrorRef failed, str *error)
{
    char *message = LLVMGetErrorMessage(failed);
    str_addz(error, message);
    LLVMDisposeErrorMessage(message);
}

static void
keep_quiet(void *user, LLVMErrorRef failed)
{
    (void)user;
    LLVMConsumeError(failed);
}

/* the math library and the runtime, by address */
static LLVMErrorRef
define_symbols(LLVMOrcLLJITRef orc)
{
    size_t n;
    const ll_symbol *symbols = ll_symbols(&n);
    LLVMOrcCSymbolMapPair *pairs = mem_zalloc(n * sizeof *pairs);
    for (size_t i = 0; i < n; i++) {
        pairs[i].Name = LLVMOrcLLJITMangleAndIntern(orc, symbols[i].name);
        pairs[i].Sym.Address = symbols[i].address;
        pairs[i].Sym.Flags.GenericFlags =
            LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
    }
    LLVMErrorRef failed =
        LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(orc), LLVMOrcAbsoluteSymbols(pairs, n));
    mem_free(pairs);
    return failed;
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
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
        builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
    LLVMErrorRef failed = LLVMOrcCreateLLJIT(&jit->orc, builder);
    if (!failed) {
        LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit->orc),
                                                keep_quiet, NULL);
        failed = define_symbols(jit->orc);
    }
    if (failed) {
        take_error(failed, &error);
        ll_jit_destroy(jit);
        return unit_report(diags, "the linker", &error);
    }
    *out = jit;
    return RG_OK;
}

void
ll_jit_destroy(ll_jit *jit)
{
    if (!jit)
        return;
    if (jit->orc)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->orc));
    for (int effort = 0; effort < MACHINE_EFFORTS; effort++)
        while (jit->idle[effort])
            machine_free(jit->machines[effort][--jit->idle[effort]]);
    pthread_mutex_destroy(&jit->lock);
    mem_free(jit);
}

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

/* takes the object over */
static bool
link_object(ll_jit *jit, LLVMMemoryBufferRef object, const char *symbol, ll_code *code, str *error)
{
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit->orc);
    code->tracker = LLVMOrcJITDylibCreateResourceTracker(library);
    LLVMOrcExecutorAddress address = 0;
    LLVMErrorRef failed = LLVMOrcLLJITAddObjectFileWithRT(jit->orc, code->tracker, object);
    if (!failed)
        failed = LLVMOrcLLJITLookup(jit->orc, &address, symbol);
    if (failed)
        take_error(failed, error);
    code->entry = (ll_entry *)(uintptr_t)address;
    return !failed;
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
    char symbol[32];
    pthread_mutex_lock(&jit->lock);
    snprintf(symbol, sizeof symbol, "rg_kernel_%u", jit->next_name++);
    pthread_mutex_unlock(&jit->lock);
    ll_code *code = mem_zalloc(sizeof *code);
    code->jit = jit;
    mem_owner owns;
    mem_own(&owns, mem_free, code);
    unit u;
    LLVMMemoryBufferRef object = NULL;
    unit_begin(&u, fn, options, symbol);
    bool made = make_object(jit, &u, &object);
    code->gpu = u.gpu;
    u.gpu = (ll_gpu_info){0};
    unit_end(&u);
    mem_disown(&owns);
    if (made) {
        u.stage = "linking";
        double start = unit_clock();
        made = link_object(jit, object, symbol, code, &u.error);
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
    return code->entry;
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
    if (code->tracker) {
        LLVMConsumeError(LLVMOrcResourceTrackerRemove(code->tracker));
        LLVMOrcReleaseResourceTracker(code->tracker);
        /* else the names of all code there ever was would stay */
        LLVMOrcSymbolStringPoolClearDeadEntries(LLVMOrcExecutionSessionGetSymbolStringPool(
            LLVMOrcLLJITGetExecutionSession(code->jit->orc)));
    }
    ll_gpu_info_free(&code->gpu);
    mem_free(code);
}
