/* Whether LLVM has the machine that somebody names. SPDX-License-Identifier: Apache-2.0
 *
 * LLVM only writes to stderr that it does not know a processor or a feature and goes on without, or ends the process where
 * what is left cannot run 64-bit code. So a child process compiles an empty function first, and what it says is read. Where other
 * threads compile meanwhile it may wait for a lock that nobody there gives back: after some seconds it is ended, and the
 * target taken for one that LLVM has. */
#include "codegen/llvm/gen.h"

#include <errno.h>
#include <fcntl.h>
#include <llvm-c/TargetMachine.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 3, SECONDS = 20, SAID = 1024 };

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

/* An allocation that fails must not go on in the copy of who asked. */
static void
end_child(void *unused)
{
    _exit(CANNOT);
}

static _Noreturn void
try_in_child(const ll_options *options, int to)
{
    machine_ref machine;
    str error = {0};
    sigset_t none;
    mem_owner ends;
    mem_own(&ends, end_child, NULL);
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(SECONDS);
    dup2(to, 2);
    bool made = machine_create(options, MACHINE_QUICK, &machine, &error);
    if (!made)
        dprintf(2, "%s", error.ptr);
    else
        made = compile_nothing(machine);
    _exit(made ? 0 : CANNOT);
}

/* The beginning of what comes, and all of it is taken. */
static void
read_pipe(int from, char *said, size_t room)
{
    char chunk[SAID];
    size_t used = 0;
    for (;;) {
        ssize_t n = read(from, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        size_t fits = room - 1 - used < (size_t)n ? room - 1 - used : (size_t)n;
        memcpy(said + used, chunk, fits);
        used += fits;
    }
    said[used] = 0;
}

/* LLVM's first line, less what it does about it. */
static void
explain_refusal(const ll_options *options, const char *text, bool ended, diag_list *diags)
{
    int n = (int)strcspn(text, "\n");
    const char *fatal = strstr(text, "FATAL ERROR: ");
    if (fatal && fatal - text < n) {
        n -= (int)(fatal - text) + (int)strlen("FATAL ERROR: ");
        text = fatal + strlen("FATAL ERROR: ");
    }
    const char *ignoring = strstr(text, " (ignoring");
    if (ignoring && ignoring - text < n)
        n = (int)(ignoring - text);
    bool named = options->cpu && strcmp(options->cpu, "generic") != 0;
    if (!n) {
        text = ended ? "it cannot compile for that" : "no code for this target";
        n = (int)strlen(text);
    }
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "LLVM, for %s%s%s: %.*s", options->triple ? options->triple : "this machine",
             named ? ", processor " : "", named ? options->cpu : "", n, text);
}

bool
ll_has_target(const ll_options *options, diag_list *diags)
{
    char said[SAID];
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC))
        return true; /* LLVM itself will say */
    pid_t child = fork();
    if (!child)
        try_in_child(options, ends[1]);
    close(ends[1]);
    read_pipe(ends[0], said, sizeof said);
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    bool ended = WIFSIGNALED(status);
    if (ended && WTERMSIG(status) == SIGALRM)
        return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !said[0])
        return true;
    explain_refusal(options, said, ended, diags);
    return false;
}
