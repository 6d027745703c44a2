/* Whether LLVM has the machine that somebody names. SPDX-License-Identifier: Apache-2.0
 *
 * LLVM only writes to stderr that it does not know a processor or a feature and goes on without, or ends the process where
 * what is left cannot run 64-bit code. So a child process compiles an empty function first, and what it says is read. */
#include "codegen/llvm/gen.h"

#include <llvm-c/TargetMachine.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 3 };

static bool
compile_nothing(machine_ref machine)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("nothing", context);
    char *triple = LLVMGetTargetMachineTriple(machine);
    LLVMSetTarget(module, triple);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, false);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(context, LLVMAddFunction(module, "nothing", type), ""));
    LLVMBuildRetVoid(b);
    LLVMMemoryBufferRef object;
    char *message;
    return !LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object);
}

static _Noreturn void
try_in_child(const ll_options *options, int to)
{
    machine_ref machine;
    str error = {0};
    dup2(to, 2);
    bool made = machine_create(options, MACHINE_QUICK, &machine, &error);
    if (!made)
        fprintf(stderr, "%s", error.ptr);
    else
        made = compile_nothing(machine);
    _exit(made ? 0 : CANNOT);
}

static void
read_pipe(int from, str *out)
{
    char chunk[4096];
    ssize_t n;
    while ((n = read(from, chunk, sizeof(chunk))) > 0)
        str_add(out, (rg_str){chunk, (size_t)n});
}

/* LLVM's first line, less what it does about it. */
static void
explain_refusal(const ll_options *options, const str *said, bool ended, str *error)
{
    const char *text = said->len ? said->ptr : "";
    int n = (int)strcspn(text, "\n");
    const char *fatal = strstr(text, "FATAL ERROR: ");
    if (fatal && fatal - text < n) {
        n -= (int)(fatal - text) + (int)strlen("FATAL ERROR: ");
        text = fatal + strlen("FATAL ERROR: ");
    }
    const char *ignoring = strstr(text, " (ignoring");
    if (ignoring && ignoring - text < n)
        n = (int)(ignoring - text);
    str_addf(error, "LLVM, for %s", options->triple ? options->triple : "this machine");
    if (options->cpu && strcmp(options->cpu, "generic") != 0)
        str_addf(error, ", processor %s", options->cpu);
    str_addf(error, ": %.*s", n, text);
    if (!n)
        str_addz(error, ended ? "it cannot compile for that" : "no code for this target");
}

bool
ll_has_target(const ll_options *options, str *error)
{
    int ends[2], status = 0;
    fflush(NULL);
    pid_t child = pipe(ends) ? -1 : fork();
    if (child < 0)
        return true; /* LLVM itself will say */
    if (!child)
        try_in_child(options, ends[1]);
    str said = {0};
    close(ends[1]);
    read_pipe(ends[0], &said);
    close(ends[0]);
    waitpid(child, &status, 0);
    bool ended = WIFSIGNALED(status);
    bool has = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !said.len;
    if (!has)
        explain_refusal(options, &said, ended, error);
    str_free(&said);
    return has;
}
