/* Where the system's headers are: the C compiler is asked, once for the process. A compiler that is not there, fails or
 * hangs leaves nothing found. The process around us keeps its signals, files and children.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/options.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { WAIT_MS = 5000, MOST_OUTPUT = 1 << 16, MOST_FOLDERS = 32, MOST_WORDS = 16, MOST_VARIABLES = 4096 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *folders[MOST_FOLDERS];
static size_t folder_count;
static char *compiler_then, *programs_then; /* CC and PATH when it was asked; NULL: not set */
static atomic_bool was_asked;

/* -- the child ------------------------------------------------------------------------------------ */

/* What comes until the other end closes; false: it took too long, or is too much. The text ends with a zero. */
static bool
read_all(int fd, char *text, size_t size, double end)
{
    for (size_t used = 0; used < size - 1;) {
        double left = end - clock_ms();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, left > 0 ? (int)left : 0);
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t n = ready > 0 ? read(fd, text + used, size - 1 - used) : -1;
        if (n < 0 && ready > 0 && errno == EINTR)
            continue;
        text[used += n > 0 ? (size_t)n : 0] = 0;
        if (n <= 0)
            return n == 0;
    }
    return false;
}

/* Whether the child ends by itself until then. One that is gone already, reaped by others, has ended. */
static bool
ends_by(pid_t child, double end)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    pid_t ended;
    while ((ended = waitpid(child, NULL, WNOHANG)) == 0 && clock_ms() < end)
        nanosleep(&pause, NULL);
    return ended != 0;
}

/* The environment, but messages in English. */
static char **
plain_environment(void)
{
    static char english[] = "LC_ALL=C";
    size_t n = 0, used = 0;
    while (environ && environ[n] && n < MOST_VARIABLES)
        n++;
    char **out = malloc((n + 2) * sizeof(*out));
    if (!out)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0)
            out[used++] = environ[i];
    out[used++] = english;
    out[used] = NULL;
    return out;
}

/* The child has a group of its own, so that what a compiler starts ends with it. */
static bool
start(pid_t *child, char **words, char **variables, int output)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&files))
        return false;
    if (posix_spawnattr_init(&how)) {
        posix_spawn_file_actions_destroy(&files);
        return false;
    }
    /* first: where the process has closed its own, the pipe has one of these numbers */
    int failed = posix_spawn_file_actions_adddup2(&files, output, 2);
    failed |= posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    failed |= posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
#if defined __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 34)
    failed |= posix_spawn_file_actions_addclosefrom_np(&files, 3);
#endif
#endif
    failed |= posix_spawnattr_setsigmask(&how, &none);
    failed |= posix_spawnattr_setsigdefault(&how, &all);
    failed |= posix_spawnattr_setpgroup(&how, 0);
    failed |= posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    failed = failed ? failed : posix_spawnp(child, words[0], &files, &how, words, variables);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return !failed;
}

/* What the command writes to stderr. A process that ignores SIGCHLD, or reaps all its children, has reaped ours. */
static bool
run(char **words, char *text, size_t size)
{
    int ends[2];
    pid_t child;
    char **variables = plain_environment();
    if (!variables || pipe2(ends, O_CLOEXEC)) {
        free(variables);
        return false;
    }
    bool ok = start(&child, words, variables, ends[1]);
    close(ends[1]);
    free(variables);
    if (ok) {
        double end = clock_ms() + WAIT_MS;
        ok = read_all(ends[0], text, size, end);
        if (!ok || !ends_by(child, end)) {
            kill(-child, SIGKILL);
            while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
                ;
        }
    }
    close(ends[0]);
    return ok;
}

/* -- what it says --------------------------------------------------------------------------------- */

static bool
has_file(const char *folder, const char *name)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    return n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0;
}

/* A compiler's own headers suit only itself; libclang has its own. They come without a C library. */
static bool
is_of_the_compiler(const char *folder)
{
    return has_file(folder, "stdarg.h") && !has_file(folder, "stdio.h");
}

/* The lines, each with a blank before it, between the two that gcc and clang write. */
static void
take_folders(char *text)
{
    char *at = strstr(text, "#include <...> search starts here:"), *end = at ? strstr(at, "End of search list") : NULL;
    char *rest = NULL;
    if (!end || !(at = strchr(at, '\n')))
        return;
    *end = 0;
    for (char *line = strtok_r(at, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (*line != ' ' || strstr(line, "(framework directory)") || is_of_the_compiler(line + 1))
            continue;
        if (folder_count < MOST_FOLDERS && (folders[folder_count] = strdup(line + 1)))
            folder_count++;
    }
}

/* Words of `command` separated by blanks, then the question. */
static bool
ask(const char *command)
{
    static char question[5][12] = {"-E", "-v", "-x", "c", "/dev/null"};
    char *words[MOST_WORDS + countof(question) + 1], *rest = NULL;
    size_t n = 0;
    char *copy = strdup(command), *text = malloc(MOST_OUTPUT);
    for (char *w = copy ? strtok_r(copy, " \t", &rest) : NULL; w && n < MOST_WORDS; w = strtok_r(NULL, " \t", &rest))
        words[n++] = w;
    bool ok = n > 0 && text;
    for (size_t i = 0; i < countof(question); i++)
        words[n++] = question[i];
    words[n] = NULL;
    if (ok && run(words, text, MOST_OUTPUT))
        take_folders(text);
    free(text);
    free(copy);
    return folder_count > 0;
}

static char *
copy_of(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void
ask_one(void)
{
    static const char *const usual[] = {"cc", "gcc", "clang"};
    settings now = settings_read();
    compiler_then = copy_of(now.compiler);
    programs_then = copy_of(now.programs);
    if (now.compiler)
        ask(now.compiler);
    for (size_t i = 0; i < countof(usual) && !now.compiler && !ask(usual[i]); i++)
        ;
    atomic_store(&was_asked, true);
}

static bool
is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool
fc_system_folders_hold(const settings *now)
{
    return !atomic_load(&was_asked) || (is_same_text(compiler_then, now->compiler) && is_same_text(programs_then, now->programs));
}

size_t
fc_system_folders(const char *const **out)
{
    pthread_once(&once, ask_one);
    *out = folders;
    return folder_count;
}
