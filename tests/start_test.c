/* Threads of a fresh process compile C at once, each with a queue of its own. SPDX-License-Identifier: Apache-2.0
 *
 *   start_test [PROCESSES [THREADS]]     20 and 8, if not given
 *
 * What LLVM and libclang do once for the process is in play in the first compilation only, so each try is a process. One
 * that has not ended after a minute hangs. The C compiler is asked for its headers then, too: that leaves no child and no
 * file, also where the process ignores its children. */
#include "check.h"

#include "queue.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64, SECONDS = 60 };

static const char source[] = "#include <stdio.h>\n"
                             "void twice(double x[1])\n{\n    x[0] = x[0] * 2;\n}\n";

static pthread_barrier_t all_here;

static const char *
compile_and_launch(rg_queue *rg)
{
    rg_module *module = NULL;
    rg_kernel *kernel = NULL;
    rg_args *args = NULL;
    rg_array *x = NULL;
    double value = 21;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {1});
    bool ok = !rg_module_from_c(RG_STR(source), NULL, &module) &&
              !rg_module_get_kernel(module, RG_STR("twice"), &kernel) && !rg_args_create(rg, kernel, &args) &&
              !rg_array_create(rg, &desc, &x) && !rg_array_write(rg, x, RG_PRIMAL, &value, sizeof value) &&
              !rg_args_set_array(args, RG_STR("x"), x) && !rg_launch(rg, args, RG_FORWARD) &&
              !rg_array_read(rg, x, RG_PRIMAL, &value, sizeof value);
    rg_args_destroy(args);
    rg_array_destroy(x);
    rg_module_destroy(module);
    return !ok ? rg_error_message() : value == 42 ? NULL : "a wrong result";
}

static void *
thread(void *failed)
{
    rg_queue *rg;
    rg_status status = queue_open(NULL, &RG_DESC(rg_queue_desc, .num_threads = 1), &rg);
    pthread_barrier_wait(&all_here);
    const char *problem = status ? rg_error_message() : compile_and_launch(rg);
    if (problem)
        fprintf(stderr, "%s\n", problem);
    *(bool *)failed = problem != NULL;
    rg_queue_destroy(rg);
    return NULL;
}

static int
first_free_file(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

/* the fresh process */
static int
attempt(unsigned threads)
{
    pthread_t all[MOST_THREADS];
    bool failed[MOST_THREADS];
    int bad = 0;
    alarm(SECONDS);
    if (getpid() % 2)
        signal(SIGCHLD, SIG_IGN);
    int files = first_free_file();
    pthread_barrier_init(&all_here, NULL, threads);
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&all[i], NULL, thread, &failed[i]))
            return 2;
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(all[i], NULL);
        bad |= failed[i];
    }
    if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD) {
        fprintf(stderr, "a child is left\n");
        bad = 1;
    }
    if (first_free_file() != files) {
        fprintf(stderr, "a file is left open\n");
        bad = 1;
    }
    return bad;
}

static int
run_attempt(const char *self, const char *threads)
{
    pid_t child = fork();
    if (child == 0) {
        execl(self, self, "--attempt", threads, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

int
main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--attempt") == 0)
        return attempt((unsigned)atoi(argv[2]));
    int processes = argc > 1 ? atoi(argv[1]) : 20, hung = 0, failed = 0;
    const char *threads = argc > 2 ? argv[2] : "8";
    if (processes < 1 || atoi(threads) < 1 || atoi(threads) > MOST_THREADS)
        return 2;
    time_t begin = time(NULL);
    for (int i = 0; i < processes; i++) {
        int status = run_attempt(argv[0], threads);
        bool over = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        hung += over;
        failed += status != 0 && !over;
        if (hung + failed > 2)
            break;
    }
    printf("%d processes of %s threads: %d hung, %d failed, %ld s\n", processes, threads, hung, failed,
           (long)(time(NULL) - begin));
    CHECK(hung == 0, "%d hang", hung);
    CHECK(failed == 0, "%d failed", failed);
    return check_done();
}
