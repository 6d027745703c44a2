/* A request to the helper: its answer, or how it ended. SPDX-License-Identifier: Apache-2.0 */
#include "compiler/helper.h"

#include "compiler/wire.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* -- how it ended -------------------------------------------------------------------------------------------------- */

static void
add_end(str *out, int status)
{
    if (WIFSIGNALED(status))
        str_addf(out, "was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        str_addf(out, "ended with exit code %d", WEXITSTATUS(status));
}

static bool
tells_of_memory(const str *said)
{
    static const char *const words[] = {"out of memory", "bad_alloc", "Cannot allocate memory", "Resource temporarily unavailable",
                                        "failed to map", "cannot map", "cannot allocate", "cannot create shared object"};
    for (size_t i = 0; i < countof(words) && said->len; i++)
        if (strstr(said->ptr, words[i]))
            return true;
    return false;
}

static bool
has_limit(void)
{
    struct rlimit memory;
    return !getrlimit(RLIMIT_AS, &memory) && memory.rlim_cur != RLIM_INFINITY;
}

/* What LLVM and others wrote, in one line. */
static void
add_said(str *out, const str *said)
{
    size_t n = said->len;
    while (n && said->ptr[n - 1] == '\n')
        n--;
    if (n)
        str_addz(out, ": ");
    for (size_t i = 0; i < n; i++)
        str_addc(out, (unsigned char)said->ptr[i] < ' ' ? ' ' : said->ptr[i]);
}

static rg_status
tell(const char *label, const char *what, const str *said, bool memory, const char *remedy, diag_list *diags)
{
    str text = {.in = mem_scratch()};
    str_addf(&text, "%s: %s", label, what);
    add_said(&text, said);
    if (memory)
        remedy = "its memory ran out: raise the limit of processes (RLIMIT_AS, ulimit -v), or free some; then the call may be made again";
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s\n%s", text.ptr, remedy);
    return memory ? RG_OUT_OF_MEMORY : RG_DEVICE;
}

static bool
is_of_memory(int error)
{
    return error == ENOMEM || error == ENOBUFS;
}

/* What to do about an error of this process. */
static const char *
remedy_of(int error, const char *otherwise)
{
    bool files = error == EMFILE || error == ENFILE || error == ETOOMANYREFS;
    return files ? "close files, or raise the limit of them (RLIMIT_NOFILE, ulimit -n); then the call may be made again"
                 : otherwise;
}

/* Where memory has a limit, that is what a signal at the start tells of. */
static rg_status
not_started(const char *label, const helper_failure *f, diag_list *diags)
{
    str what = {.in = mem_scratch()};
    bool ended = !f->error && !f->why && f->status >= 0;
    bool memory = is_of_memory(f->error) || f->error == EAGAIN || tells_of_memory(&f->said) ||
                  (ended && WIFSIGNALED(f->status) && has_limit());
    str_addf(&what, "the compiler's process cannot be started: %s: ", f->path);
    if (ended)
        add_end(&what, f->status);
    else
        str_addz(&what, f->error ? strerror(f->error) : f->why ? f->why : "it says nothing that is understood");
    return tell(label, what.ptr, &f->said, memory,
                remedy_of(f->error, "compile_process needs the program that comes with this library, of its version; "
                                    "RG_COMPILE_PROCESS may name it"),
                diags);
}

/* The helper is as it was. */
static rg_status
not_asked(const char *label, int error, diag_list *diags)
{
    str what = {.in = mem_scratch()}, nothing = {.in = mem_scratch()};
    str_addf(&what, "the compiler's process cannot be asked: %s", strerror(error));
    return tell(label, what.ptr, &nothing, is_of_memory(error),
                remedy_of(error, "this process is at fault, not the compiler's; the call may be made again"), diags);
}

/* A fault is one of memory where it says so, or where memory has a limit and it says nothing. */
static rg_status
worker_died(const char *label, rg_str packet, diag_list *diags)
{
    bytes_reader r = bytes_of((rg_str){packet.ptr + 1, packet.len - 1});
    int status = (int)bytes_u32(&r);
    rg_str text = bytes_str(&r);
    str said = {.in = mem_scratch()}, what = {.in = mem_scratch()};
    str_add(&said, text);
    str_addz(&what, "the compiler's process ");
    add_end(&what, status);
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    bool memory = (WIFEXITED(status) && WEXITSTATUS(status) == WIRE_NO_MEMORY) || tells_of_memory(&said) ||
                  (WIFSIGNALED(status) && !killed && !said.len && has_limit());
    return tell(label, what.ptr, &said, memory,
                killed ? "someone, or the kernel where memory ran out, has killed it; the next compilation starts another"
                       : "that is a fault of LLVM or libclang: another version of them, or a kernel written otherwise, may do",
                diags);
}

static rg_status
helper_ended(const char *label, const char *what, diag_list *diags)
{
    str nothing = {.in = mem_scratch()};
    return tell(label, what, &nothing, false, "the next compilation starts another", diags);
}

static rg_status
not_open(const char *label, const helper_failure *f, diag_list *diags)
{
    if (f->path)
        return not_started(label, f, diags);
    if (f->error == EPIPE)
        return helper_ended(label, "the compiler's process ended as soon as it had begun", diags);
    return not_asked(label, f->error, diags);
}

/* -- requests ------------------------------------------------------------------------------------------------------ */

static bool
other_end_is_at_fault(int error)
{
    return error == EPIPE || error == ECONNRESET || error == ETIMEDOUT;
}

/* *begun: a worker has it. */
static rg_status
talk(const helper_request *r, rg_str text, const char *label, str *answer, bool *begun, diag_list *diags)
{
    char *packet = arena_raw(mem_scratch(), WIRE_ROOM + 1);
    bool sent = wire_send_whole(r->fd, text, helper_patience);
    if (!sent && !other_end_is_at_fault(errno))
        return not_asked(label, errno, diags);
    for (;;) {
        ssize_t n = wire_receive(r->fd, packet, sent ? helper_patience : 1); /* why it does not take it */
        if (n < 0 && !other_end_is_at_fault(errno))
            return not_asked(label, errno, diags);
        if (n < 0) {
            helper_end_if(r->process);
            return helper_ended(label, "the compiler's process was silent, as if it were stopped, and has been ended", diags);
        }
        if (n == 0)
            return helper_ended(label, "the compiler's process ended while it worked", diags);
        rg_str bytes = {packet, (size_t)n};
        *begun = true;
        if (packet[0] == WIRE_PIECE)
            str_add(answer, (rg_str){packet + 1, bytes.len - 1});
        else if (packet[0] == WIRE_WHOLE)
            return RG_OK;
        else if (packet[0] == WIRE_DIED)
            return worker_died(label, bytes, diags);
        else if (packet[0] != WIRE_ALIVE)
            return helper_ended(label, "what the compiler's process answers cannot be read", diags);
    }
}

static rg_status
ask_once(rg_str text, const char *label, str *answer, bool *begun, diag_list *diags)
{
    helper_request r;
    helper_failure f;
    mem_owner owns;
    answer->len = 0;
    *begun = !helper_open(&r, &f); /* another try would not start one either */
    if (*begun)
        return not_open(label, &f, diags);
    mem_own(&owns, helper_close, &r);
    rg_status status = talk(&r, text, label, answer, begun, diags);
    mem_disown(&owns);
    helper_close(&r);
    return status;
}

/* Nobody has begun with what a helper leaves that ended, or was stopped, between requests. */
rg_status
helper_ask(rg_str text, const char *label, str *answer, diag_list *diags)
{
    diag_list first = {.text.in = mem_scratch()};
    bool begun = false;
    rg_status status = ask_once(text, label, answer, &begun, &first);
    if (status && !begun)
        return ask_once(text, label, answer, &begun, diags);
    diag_join(diags, &first);
    return status;
}
