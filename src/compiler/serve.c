/* The helper program of compile_process. SPDX-License-Identifier: Apache-2.0
 *
 * The process that is started opens the compiler, and if that works forks the helper, which nobody has to wait for. The helper
 * compiles nothing itself, so nothing ends it before its time: it forks a worker for each request, and tells how one ended
 * that gave no answer. It ends when nobody holds the other end of its control socket, and its workers with it. */
#include "base/base.h"
#include "cache/version.h"
#include "compiler/wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* A request whose worker has not ended. */
typedef struct job {
    pid_t worker;
    int fd, said; /* its socket; what it writes to its standard error */
} job;

static vec(job) jobs;
static int answers = -1; /* a worker's: the socket of its request */

/* -- a worker ------------------------------------------------------------------------------------------------------ */

/* Each second: it is at work. */
static void
say_alive(int number)
{
    int kept = errno;
    char kind = WIRE_ALIVE;
    send(answers, &kind, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    errno = kept;
}

static void
set_clock(int seconds)
{
    struct itimerval each = {.it_interval.tv_sec = seconds, .it_value.tv_sec = seconds};
    setitimer(ITIMER_REAL, &each, NULL);
}

static _Noreturn void
no_memory(void *user, size_t bytes)
{
    _exit(WIRE_NO_MEMORY);
}

#if RG_HAVE_LLVM
static rg_status
code_here(const ir_fn *fn, const ll_options *options, str *code, diag_list *diags)
{
    ll_jit *jit = NULL;
    rg_status status = ll_jit_create(&jit, diags);
    return status ? status : ll_make(jit, fn, options, code, diags); /* the process ends soon */
}

static rg_status
answer_code(wire_call call, bytes_reader *r, str *out, diag_list *diags)
{
    ll_options options;
    const ir_fn *const *fns;
    const char *const *names;
    uint32_t n;
    str code = {.in = mem_scratch()};
    if (!wire_get_fns(r, &fns, &names, &n, diags))
        return diags->errors ? RG_COMPILE : RG_DEVICE;
    wire_get_options(r, &options);
    if (!n || !bytes_done(r))
        return RG_DEVICE;
    ll_gpu_info *infos = arena_new_n(mem_scratch(), ll_gpu_info, n);
    rg_status status = call == WIRE_MAKE     ? code_here(fns[0], &options, &code, diags)
                       : call == WIRE_OBJECT ? ll_emit_object(fns, names, n, &options, &code, diags)
                       : call == WIRE_HSACO  ? ll_emit_hsaco_entries(fns, names, n, &options, &code, infos, diags)
                                             : ll_emit_ptx_entries(fns, names, n, &options, &code, infos, diags);
    if (status)
        return status;
    bytes_put(out, str_view(&code));
    for (uint32_t i = n; i > 0 && (call == WIRE_PTX || call == WIRE_HSACO); i--) /* the first one last: it has the places of all */
        ll_gpu_info_write(out, &infos[i - 1]);
    return RG_OK;
}

static rg_status
answer_target(bytes_reader *r, diag_list *diags)
{
    ll_options options;
    wire_get_options(r, &options);
    if (!bytes_done(r))
        return RG_DEVICE;
    return ll_has_target(&options, diags) ? RG_OK : RG_UNSUPPORTED;
}
#endif

#if RG_HAVE_CLANG
static rg_status
answer_source(wire_call call, bytes_reader *r, str *out, diag_list *diags)
{
    front_c_source source;
    front_c_names names;
    seen_list seen;
    bool unknown = false;
    wire_get_source(r, &source);
    if (!bytes_done(r))
        return RG_DEVICE;
    seen_begin(&seen);
    source.seen = source.seen ? &seen : NULL;
    source.unknown = &unknown;
    ir_module *m = call == WIRE_C ? front_c_compile(&source, diags) : NULL;
    bool ok = call == WIRE_C ? m != NULL : front_c_list(&source, &names, diags);
    if (call == WIRE_C)
        bytes_put_u32(out, unknown);
    if (!ok)
        return RG_COMPILE;
    wire_put_seen(out, &seen);
    if (call == WIRE_C)
        wire_put_module(out, m);
    else
        wire_put_names(out, &names);
    return RG_OK;
}
#endif

static rg_status
answer(bytes_reader *r, str *out, diag_list *diags)
{
    wire_call call = (wire_call)bytes_u32(r);
    wire_take_process(r);
#if RG_HAVE_LLVM
    if (call == WIRE_MAKE || call == WIRE_PTX || call == WIRE_HSACO || call == WIRE_OBJECT)
        return answer_code(call, r, out, diags);
    if (call == WIRE_TARGET)
        return answer_target(r, diags);
#endif
#if RG_HAVE_CLANG
    if (call == WIRE_C || call == WIRE_NAMES)
        return answer_source(call, r, out, diags);
#endif
    return RG_DEVICE;
}

static bool
read_request(str *text)
{
    char *packet = arena_raw(mem_scratch(), WIRE_ROOM + 1);
    for (;;) {
        ssize_t n = wire_receive(answers, packet, 0);
        if (n <= 0)
            return false;
        if (packet[0] == WIRE_WHOLE)
            return true;
        str_add(text, (rg_str){packet + 1, (size_t)n - 1});
    }
}

static _Noreturn void
work(void)
{
    mem_set_handler(no_memory, NULL);
    str text = {.in = mem_scratch()}, results = {.in = mem_scratch()}, out = {.in = mem_scratch()};
    diag_list diags = {.text.in = mem_scratch()};
    say_alive(0);
    set_clock(1);
    if (!read_request(&text))
        _exit(0);
    bytes_reader r = bytes_of(str_view(&text));
    rg_status status = answer(&r, &results, &diags);
    if (status == RG_DEVICE && !diags.errors)
        diag_add(&diags, DIAG_ERROR, 0, (diag_place){0}, "the compiler's process cannot read what it is asked for");
    bytes_put_u32(&out, status);
    wire_put_diags(&out, &diags);
    str_add(&out, str_view(&results));
    set_clock(0);
    _exit(!wire_send_whole(answers, str_view(&out), 0));
}

/* -- the helper ---------------------------------------------------------------------------------------------------- */

static void
give_job(size_t i)
{
    close(jobs.at[i].fd);
    close(jobs.at[i].said);
    jobs.at[i] = vec_pop(&jobs);
}

static void
say_died(const job *j, int status)
{
    char said[WIRE_SAID];
    off_t end = lseek(j->said, 0, SEEK_END);
    off_t from = end > WIRE_SAID ? end - WIRE_SAID : 0;
    ssize_t n = pread(j->said, said, sizeof said, from);
    str packet = {0};
    bytes_put_u32(&packet, (uint32_t)status);
    bytes_put(&packet, (rg_str){said, n > 0 ? (size_t)n : 0});
    wire_send(j->fd, WIRE_DIED, packet.ptr, packet.len, 1);
    str_free(&packet);
}

static void
reap_workers(void)
{
    int status;
    for (pid_t worker = waitpid(-1, &status, WNOHANG); worker > 0; worker = waitpid(-1, &status, WNOHANG))
        for (size_t i = 0; i < jobs.n; i++)
            if (jobs.at[i].worker == worker) {
                if (status)
                    say_died(&jobs.at[i], status);
                give_job(i);
                break;
            }
}

/* Only what a worker needs. */
static _Noreturn void
begin_work(const job *j, pid_t parent, const sigset_t *usual)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    for (size_t i = 0; i < jobs.n; i++) {
        close(jobs.at[i].fd);
        close(jobs.at[i].said);
    }
    answers = fcntl(j->fd, F_DUPFD_CLOEXEC, 3);
    dup2(j->said, STDERR_FILENO);
    dup2(STDOUT_FILENO, WIRE_CONTROL); /* /dev/null */
    signal(SIGCHLD, SIG_DFL);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = say_alive, .sa_flags = SA_RESTART}, NULL);
    sigprocmask(SIG_SETMASK, usual, NULL);
    close(j->fd);
    close(j->said);
    work();
}

static void
begin_job(int fd, const sigset_t *usual)
{
    job j = {.fd = fd, .said = memfd_create("said", MFD_CLOEXEC)};
    pid_t parent = getpid();
    vec_reserve(&jobs, jobs.n + 1);
    j.worker = j.said < 0 ? -1 : fork();
    if (j.worker == 0)
        begin_work(&j, parent, usual);
    if (j.worker > 0) {
        vec_push(&jobs, j);
        return;
    }
    if (j.said >= 0 && write(j.said, strerror(errno), strlen(strerror(errno))) > 0)
        say_died(&j, 1 << 8);
    close(fd);
    close(j.said);
}

/* A request's socket, or -1; *ended: there will be no more. */
static int
take_request(bool *ended)
{
    char kind, room[CMSG_SPACE(sizeof(int))];
    int fd = -1;
    struct iovec part = {&kind, 1};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    ssize_t n = recvmsg(WIRE_CONTROL, &packet, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    *ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&packet) : NULL;
    if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}

static void
wake(int number)
{
}

static void
serve(void)
{
    sigset_t child, usual;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &usual);
    signal(SIGCHLD, wake);
    for (bool ended = false; !ended;) {
        struct pollfd p = {.fd = WIRE_CONTROL, .events = POLLIN};
        int ready = ppoll(&p, 1, NULL, &usual);
        reap_workers();
        int fd = ready > 0 ? take_request(&ended) : -1;
        if (fd >= 0)
            begin_job(fd, &usual);
    }
    for (size_t i = 0; i < jobs.n; i++)
        kill(jobs.at[i].worker, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
}

/* -- the start ----------------------------------------------------------------------------------------------------- */

/* What the host's process has open is not held open here. */
static void
close_others(void)
{
    DIR *folder = opendir("/proc/self/fd");
    vec(int) open = {0};
    for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder))
        if (atoi(e->d_name) > STDERR_FILENO && atoi(e->d_name) != dirfd(folder))
            vec_push(&open, atoi(e->d_name));
    if (folder)
        closedir(folder);
    for (size_t i = 0; i < open.n; i++)
        close(open.at[i]);
    vec_free(&open);
}

static bool
say_hello(void)
{
    str hello = {0};
    bytes_put_u32(&hello, WIRE_MAGIC);
    bytes_put(&hello, rg_str_of(cache_version()));
    bytes_put_u32(&hello, (uint32_t)getpid());
    bool said = wire_send(WIRE_CONTROL, WIRE_HELLO, hello.ptr, hello.len, 0);
    str_free(&hello);
    return said;
}

/* LLVM starts here, once for all workers. */
static void
open_all(void)
{
    diag_list diags = {0};
    bool ok = compiler_opens(&diags);
#if RG_HAVE_LLVM
    ll_jit *jit = NULL;
    ok = ok && !ll_jit_create(&jit, &diags);
    ll_jit_destroy(jit);
#endif
    if (!ok) {
        fprintf(stderr, "%s", diags.text.ptr);
        exit(1);
    }
    diag_free(&diags);
}

int
main(int argc, char **argv)
{
    struct stat node;
    if (argc != 1 || fstat(WIRE_CONTROL, &node) || !S_ISSOCK(node.st_mode)) {
        fprintf(stderr, "%s is a part of libretrograd: the library starts it where compile_process is set\n", argv[0]);
        return 2;
    }
    close_others();
    setenv("LIBCLANG_DISABLE_CRASH_RECOVERY", "1", 1);
    open_all();
    pid_t forked = fork();
    if (forked)
        _exit(forked < 0);
    setsid();
    if (chdir("/") || dup2(STDOUT_FILENO, STDERR_FILENO) < 0 || !say_hello())
        return 1;
    serve();
    _exit(0);
}
