/* One compilation: a kernel on its way through LLVM. SPDX-License-Identifier: Apache-2.0
 *
 * It has an LLVM context of its own, so compilations of several threads know nothing of each other.
 */
#include "codegen/llvm/unit.h"

#include <llvm-c/Analysis.h>


/* In ops. Up to the first all passes are worth their time; beyond the second the register
 * allocator's time grows too fast. */
enum { SHORT_FUNCTION = 1500, LONG_FUNCTION = 20000 };
enum { INLINE_ROOM = 2000 }; /* ops of math functions in place, in a kernel that gets all passes */

const ll_options unit_no_options;

static _Thread_local ll_times last_times;

ll_times *
unit_times(void)
{
    return &last_times;
}

ll_times
ll_last_times(void)
{
    return last_times;
}

rg_status
unit_report(diag_list *diags, const char *stage, str *error)
{
    diag_add(diags, DIAG_ERROR, 900, (diag_place){0}, "LLVM, %s: %s", stage,
             error->len ? error->ptr : "unknown error");
    str_free(error);
    return RG_COMPILE;
}

rg_status
unit_failed(unit *u, diag_list *diags)
{
    return unit_report(diags, u->stage, &u->error);
}

static bool
count_one_op(ir_op *op, void *user)
{
    (void)op;
    ++*(uint32_t *)user;
    return true;
}

machine_effort
unit_effort(const ir_fn *fn)
{
    uint32_t n = 0;
    ir_walk(fn->body, count_one_op, &n);
    return n <= SHORT_FUNCTION ? MACHINE_FULL : n <= LONG_FUNCTION ? MACHINE_SHORT : MACHINE_QUICK;
}

static void
release_unit(void *object)
{
    unit *u = object;
    LLVMDisposeBuilder(u->g.b);
    LLVMDisposeModule(u->g.module);
    LLVMContextDispose(u->g.context);
    arena_free(u->g.scratch);
    math_library_free(&u->math);
    ll_gpu_info_free(&u->gpu);
    machine_free(u->machine);
    u->machine = NULL;
}

/* Without a handler LLVM would print it, and end the process. */
static void
take_error(LLVMDiagnosticInfoRef info, void *user)
{
    unit *u = user;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || u->error.len)
        return;
    static const char nowhere[] = "<unknown>:0:0: ";
    char *text = LLVMGetDiagInfoDescription(info);
    str_addz(&u->error, strncmp(text, nowhere, sizeof nowhere - 1) ? text : text + sizeof nowhere - 1);
    LLVMDisposeMessage(text);
    u->refused = true;
}

void
unit_begin(unit *u, const ir_fn *fn, const ll_options *options, const char *symbol)
{
    memset(u, 0, sizeof *u);
    gen *g = &u->g;
    g->options = options ? options : &unit_no_options;
    g->gpu = &u->gpu;
    g->settings = settings_read();
    g->native_math = g->options->native_math || g->settings.native_math;
    g->symbol = symbol;
    g->ir = fn;
    g->target = fn->module->target;
    g->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(g->context, take_error, u);
    g->module = LLVMModuleCreateWithNameInContext(symbol, g->context);
    g->b = LLVMCreateBuilderInContext(g->context);
    mem_own(&u->owns, release_unit, u);
    g->scratch = arena_new();
    u->effort = unit_effort(fn);
    g->math = &u->math;
    g->inline_room = u->effort == MACHINE_FULL ? INLINE_ROOM : 0;
    u->stage = u->g.options->triple ? "the target" : "this machine";
}

void
unit_end(unit *u)
{
    mem_disown(&u->owns);
    release_unit(u);
}

/* what we made is well formed: a check of our own work, so only in builds that check */
static bool
well_formed(unit *u)
{
    bool bad = false;
#ifndef NDEBUG
    char *message = NULL;
    bad = LLVMVerifyModule(u->g.module, LLVMReturnStatusAction, &message);
    if (bad)
        str_addz(&u->error, message);
    LLVMDisposeMessage(message);
#endif
    return !bad;
}

bool
unit_generate(unit *u)
{
    double start = clock_ms();
    u->stage = "code as generated";
    char *triple = LLVMGetTargetMachineTriple(u->machine);
    LLVMSetTarget(u->g.module, triple);
    LLVMDisposeMessage(triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(u->machine);
    LLVMSetModuleDataLayout(u->g.module, layout);
    LLVMDisposeTargetData(layout);
    gen_kernel(&u->g);
    last_times.build = clock_ms() - start;
    return well_formed(u);
}

bool
unit_optimize(unit *u)
{
    double start = clock_ms();
    u->stage = "passes";
    bool ok = machine_optimize(u->machine, u->g.module, u->effort, u->g.target->warp, &u->error);
    last_times.passes = clock_ms() - start;
    return ok;
}

bool
unit_emit(unit *u, LLVMCodeGenFileType kind, LLVMMemoryBufferRef *out)
{
    double start = clock_ms();
    char *message = NULL;
    u->stage = "machine code";
    bool failed = LLVMTargetMachineEmitToMemoryBuffer(u->machine, u->g.module, kind, &message, out);
    if (failed) {
        str_addz(&u->error, message);
        LLVMDisposeMessage(message);
    }
    last_times.code = clock_ms() - start;
    if (!failed && u->refused) {
        LLVMDisposeMemoryBuffer(*out);
        *out = NULL;
    }
    return !failed && !u->refused;
}
