/* The helper of a process: its start, its end, and what hands it requests. SPDX-License-Identifier: Apache-2.0
 *
 * The program that is started opens the compiler, forks the helper, and ends: it is this process's child for so long only.
 * So nobody who waits for his children meets the helper, and no signal tells of its end.
 *
 * The one descriptor that is kept is the host's as well, who may close it, or all that he finds: a number is used only
 * while it names the socket that we made. */
#include "compiler/helper.h"

#include "base/settings.h"
#include "cache/version.h"
#include "compiler/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static struct {
    pthread_mutex_t lock; /* of all */
    int control;          /* -1: there is no helper */
    dev_t device;         /* of that socket */
    ino_t node;
    pid_t process, owner; /* its number, and ours */
    helper_request *requests;
} helper = {.lock = PTHREAD_MUTEX_INITIALIZER, .control = -1};

enum { NAPS = 100 }; /* in a second */

unsigned helper_patience = 60;

static const char file_name[] = "retrograd-compiler.0";

/* -- its end ------------------------------------------------------------------------------------------------------- */

static bool
is_ours(void)
{
    struct stat now;
    if (helper.control < 0 || helper.owner != getpid() || fstat(helper.control, &now))
        return false;
    return now.st_dev == helper.device && now.st_ino == helper.node;
}

/* false: it has not ended. Somebody else may have reaped it. */
static bool
reap_child(pid_t child, int how, int *status)
{
    pid_t ended;
    while ((ended = waitpid(child, status, how)) < 0 && errno == EINTR)
        ;
    return ended != 0;
}

/* A process that adopts orphans adopts the helper. Others have no child of this number. */
static bool
reap_orphan(pid_t process, int how)
{
    int adopts = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &adopts);
    return process <= 0 || (!adopts && getpid() != 1) || reap_child(process, how, NULL);
}

/* The caller holds the lock. The helper ends where the socket does, if it is not stopped; while it holds its end, nobody else has
 * its number. */
static void
end_now(void)
{
    struct pollfd p = {.fd = helper.control};
    bool ours = is_ours(), alive = ours && poll(&p, 1, 0) >= 0 && !(p.revents & (POLLHUP | POLLERR));
    if (ours)
        shutdown(helper.control, SHUT_RDWR);
    if (alive)
        kill(helper.process, SIGCONT);
    if (helper.control >= 0)
        reap_orphan(helper.process, alive ? 0 : WNOHANG);
    if (ours)
        close(helper.control);
    helper.control = -1;
    helper.process = 0;
}

void
helper_end(void)
{
    pthread_mutex_lock(&helper.lock);
    end_now();
    pthread_mutex_unlock(&helper.lock);
}

void
helper_end_if(pid_t process)
{
    pthread_mutex_lock(&helper.lock);
    if (helper.process == process)
        end_now();
    pthread_mutex_unlock(&helper.lock);
}

/* With the library, or the process; while a thread starts one the process is at its end, where sockets are closed anyway. */
__attribute__((destructor)) static void
leave(void)
{
    if (pthread_mutex_trylock(&helper.lock))
        return;
    end_now();
    pthread_mutex_unlock(&helper.lock);
}

pid_t
helper_process(void)
{
    pthread_mutex_lock(&helper.lock);
    pid_t process = helper.process;
    pthread_mutex_unlock(&helper.lock);
    return process;
}

/* -- fork ---------------------------------------------------------------------------------------------------------- */

static void
lock_helper(void)
{
    pthread_mutex_lock(&helper.lock);
}

static void
unlock_helper(void)
{
    pthread_mutex_unlock(&helper.lock);
}

/* The child gives back its copies of what belongs to its parent. */
static void
forget_helper(void)
{
    helper.owner = getpid();
    if (is_ours())
        close(helper.control);
    for (helper_request *r = helper.requests; r; r = r->next)
        close(r->fd);
    helper.control = -1;
    helper.process = 0;
    helper.requests = NULL;
    pthread_mutex_unlock(&helper.lock);
}

static void
keep_helper(void)
{
    pthread_atfork(lock_helper, unlock_helper, forget_helper);
}

/* -- sockets ------------------------------------------------------------------------------------------------------- */

/* The first end stays here: not at a number that the host takes for its standard streams. */
static bool
open_pair(int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return false;
    int above = fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
    int code = errno;
    close(ends[0]);
    if (above < 0)
        close(ends[1]);
    ends[0] = above;
    errno = code;
    return above >= 0;
}

static void
nap(void)
{
    struct timespec left = {.tv_nsec = 1000000000 / NAPS};
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

/* -- its start ----------------------------------------------------------------------------------------------------- */

static bool
is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

/* Of RG_COMPILE_PROCESS; beside this library; where libraries are installed. */
static const char *
find_helper(void)
{
    settings asked = settings_read();
    str path = {.in = mem_scratch()}, installed = {.in = mem_scratch()};
    if (asked.helper && strchr(asked.helper, '/') && !asked.privileged)
        return asked.helper;
    file_add_own_folder(&path);
    str_addz(&path, file_name);
    if (is_program(path.ptr))
        return path.ptr;
    str_addf(&installed, "%s/%s", RG_LIBDIR, file_name);
    return is_program(installed.ptr) ? installed.ptr : path.ptr;
}

/* The number of an error. What it says before it has its own place goes into the control socket. */
static int
spawn(const char *path, int control, pid_t *child)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    char *words[] = {(char *)(uintptr_t)path, NULL};
    sigemptyset(&none);
    sigfillset(&all);
    int failed = posix_spawn_file_actions_init(&files);
    if (failed)
        return failed;
    failed = posix_spawnattr_init(&how);
    if (failed) {
        posix_spawn_file_actions_destroy(&files);
        return failed;
    }
    int steps[] = {
        posix_spawn_file_actions_adddup2(&files, control, 2),
        posix_spawn_file_actions_adddup2(&files, 2, WIRE_CONTROL),
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0),
        posix_spawnattr_setsigmask(&how, &none),
        posix_spawnattr_setsigdefault(&how, &all),
        posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF),
    };
    for (size_t i = 0; i < countof(steps) && !failed; i++)
        failed = steps[i];
    failed = failed ? failed : posix_spawn(child, path, &files, &how, words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* false: it is no greeting, but a text of whoever runs there. */
static bool
read_hello(rg_str packet, pid_t *process, bool *same)
{
    bytes_reader r = bytes_of((rg_str){packet.ptr + 1, packet.len - 1});
    bool hello = packet.ptr[0] == WIRE_HELLO && bytes_u32(&r) == WIRE_MAGIC;
    rg_str version = bytes_str(&r);
    pid_t from = (pid_t)bytes_u32(&r);
    *process = hello && bytes_done(&r) ? from : 0;
    *same = *process && str_eq(version, rg_str_of(cache_version()));
    return hello;
}

/* A child that has greeted is about to end; another one gets a second for it. *status < 0: it is not known. */
static void
end_starter(pid_t child, bool greeted, int *status)
{
    bool ended = reap_child(child, greeted ? 0 : WNOHANG, status);
    for (int i = 0; i < NAPS && !ended; i++) {
        nap();
        ended = reap_child(child, WNOHANG, status);
    }
    if (ended)
        return;
    kill(child, SIGKILL);
    reap_child(child, 0, status);
    *status = -1;
}

/* What the child says until it greets, or ends, or has said too much. */
static bool
await_hello(int control, helper_failure *f, pid_t *process)
{
    char *packet = arena_raw(mem_scratch(), WIRE_ROOM + 1);
    while (f->said.len < WIRE_SAID) {
        bool same;
        ssize_t n = wire_receive(control, packet, helper_patience);
        f->error = n < 0 && errno != ETIMEDOUT ? errno : 0;
        if (n <= 0)
            return false;
        if (read_hello((rg_str){packet, (size_t)n}, process, &same)) {
            f->why = same ? NULL : "it is of another version";
            return same;
        }
        str_add(&f->said, (rg_str){packet, (size_t)n < WIRE_SAID ? (size_t)n : WIRE_SAID});
    }
    return false;
}

typedef struct newcomer {
    int control;
    pid_t child;
} newcomer;

static void
drop_newcomer(void *object)
{
    newcomer *n = object;
    close(n->control);
    kill(n->child, SIGKILL);
    reap_child(n->child, 0, NULL);
}

static bool
greet(int control, pid_t child, helper_failure *f, pid_t *process)
{
    newcomer held = {control, child};
    mem_owner owns;
    mem_own(&owns, drop_newcomer, &held);
    bool ok = await_hello(control, f, process);
    mem_disown(&owns);
    end_starter(child, ok && *process != child, &f->status);
    return ok;
}

/* It has nobody to work for, and a second to end. */
static void
refuse(int control, pid_t process)
{
    close(control);
    for (int i = 0; i < NAPS && !reap_orphan(process, WNOHANG); i++)
        nap();
}

/* The caller holds the lock. false: `f` tells why. */
static bool
start(const char *path, helper_failure *f)
{
    int ends[2];
    pid_t child, process = 0;
    struct stat node;
    f->path = path;
    f->status = -1;
    f->error = open_pair(ends) ? 0 : errno;
    if (f->error)
        return false;
    f->error = spawn(path, ends[1], &child);
    close(ends[1]);
    if (f->error) {
        close(ends[0]);
        return false;
    }
    bool ok = greet(ends[0], child, f, &process);
    if (ok && fstat(ends[0], &node)) {
        f->error = errno;
        ok = false;
    }
    if (!ok) {
        refuse(ends[0], process);
        return false;
    }
    helper.control = ends[0];
    helper.device = node.st_dev;
    helper.node = node.st_ino;
    helper.process = process;
    helper.owner = getpid();
    f->path = NULL;
    return true;
}

/* -- requests ------------------------------------------------------------------------------------------------------ */

/* Gives the helper one end of a new socket. EPIPE: there is no helper. EAGAIN: it has not taken the requests before. ETOOMANYREFS:
 * this user's processes have given each other too many that nobody has taken. Other errors are this process's. */
static int
give_socket(int end)
{
    char kind = WIRE_ASK, room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&kind, 1};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&packet);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &end, sizeof end);
    ssize_t n;
    while ((n = sendmsg(helper.control, &packet, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0 && errno == EINTR)
        ;
    if (n > 0)
        return 0;
    return errno == ECONNRESET || errno == ENOTCONN ? EPIPE : errno;
}

/* The caller holds the lock. 0, or give_socket's errors. */
static int
open_request(helper_request *r)
{
    int ends[2];
    if (!is_ours())
        return EPIPE;
    if (!open_pair(ends))
        return errno;
    int error = give_socket(ends[1]);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return error;
    }
    *r = (helper_request){ends[0], helper.process, helper.requests};
    helper.requests = r;
    return 0;
}

/* A helper that ended is replaced, and so is one that was waited for (`late`). false: f->error tells whether to wait for it. */
static bool
try_request(helper_request *r, bool late, const char *path, helper_failure *f)
{
    mem_owner owns;
    pthread_mutex_lock(&helper.lock);
    mem_own(&owns, mem_release_mutex, &helper.lock);
    f->error = open_request(r);
    if (f->error == EPIPE || (f->error == EAGAIN && late)) {
        end_now();
        if (start(path, f))
            f->error = open_request(r);
    }
    mem_disown(&owns);
    pthread_mutex_unlock(&helper.lock);
    return !f->error && !f->path;
}

static bool
helper_is_busy(const helper_failure *f)
{
    return !f->path && (f->error == EAGAIN || f->error == ETOOMANYREFS);
}

/* Nothing is locked while it waits for a helper that is busy. */
bool
helper_open(helper_request *r, helper_failure *f)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *path = find_helper();
    *f = (helper_failure){.said.in = mem_scratch()};
    pthread_once(&once, keep_helper);
    bool open = try_request(r, false, path, f);
    for (unsigned naps = helper_patience * NAPS; naps && helper_is_busy(f); naps--) {
        nap();
        open = try_request(r, naps == 1, path, f);
    }
    return open;
}

void
helper_close(void *object)
{
    helper_request *r = object;
    pthread_mutex_lock(&helper.lock);
    helper_request **at = &helper.requests;
    while (*at && *at != r)
        at = &(*at)->next;
    if (*at)
        *at = r->next;
    pthread_mutex_unlock(&helper.lock);
    close(r->fd);
}
