/* A harness without libFuzzer: each file, and mutants of it. SPDX-License-Identifier: Apache-2.0
 *
 *   fuzz_NAME [--mutants N] [--seed S] [--intact 1] FILE|FOLDER...
 *
 * --intact: each file has to be taken for what it is (fuzz_taken), but those whose names begin with "damaged".
 * An input that takes more than LIMIT seconds of processor time, or ends the process, is written to fuzz_NAME.input. */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { LIMIT = 20, MOST = 1 << 16, STACK = 1 << 16 };

static struct {
    char keep[256];
    const uint8_t *data; /* the input that runs */
    size_t size;
    unsigned mutants, seed, intact;
    long count, refused;
} driver;

/* on a stack of its own: what overflowed may be the usual one */
static void
keep_input(int signal)
{
    const char *says = signal == SIGPROF ? "an input took too long: see " : "an input ended the process: see ";
    int file = open(driver.keep, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    bool written = file >= 0 && write(file, driver.data, driver.size) == (ssize_t)driver.size &&
                   write(STDERR_FILENO, says, strlen(says)) > 0 &&
                   write(STDERR_FILENO, driver.keep, strlen(driver.keep)) > 0 && write(STDERR_FILENO, "\n", 1) == 1;
    (void)written;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(SIGABRT, &usual, NULL);
    abort();
}

static void
catch_signals(const char *program)
{
    static char stack[STACK];
    const char *name = strrchr(program, '/');
    snprintf(driver.keep, sizeof(driver.keep), "%s.input", name ? name + 1 : program);
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
    struct sigaction keep = {.sa_handler = keep_input, .sa_flags = SA_ONSTACK};
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};
    for (size_t i = 0; i < countof(signals); i++)
        sigaction(signals[i], &keep, NULL);
}

static void
run_input(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + !size); /* so that sanitizers see a byte read behind it */
    if (!copy)
        abort();
    memcpy(copy, data, size);
    driver.data = copy;
    driver.size = size;
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = LIMIT}, NULL);
    LLVMFuzzerTestOneInput(copy, size);
    setitimer(ITIMER_PROF, &(struct itimerval){{0}, {0}}, NULL);
    driver.count++;
    free(copy);
}

static void
replay_file(const char *path)
{
    static uint8_t original[MOST], mutant[MOST];
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    size_t n = fread(original, 1, MOST, f), size;
    fclose(f);
    run_input(original, n);
    const char *name = strrchr(path, '/');
    if (driver.intact && !fuzz_taken && strncmp(name ? name + 1 : path, "damaged", 7) != 0) {
        fprintf(stderr, "%s is refused\n", path);
        driver.refused++;
    }
    for (unsigned i = 0; i < driver.mutants; i++) {
        memcpy(mutant, original, n);
        size = n;
        for (unsigned k = 0; k <= i % 4; k++)
            size = fuzz_mutate(mutant, size, MOST, driver.seed++);
        run_input(mutant, size);
    }
}

static int
shown(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static void
replay(const char *path)
{
    struct stat is;
    struct dirent **entries;
    if (stat(path, &is) || !S_ISDIR(is.st_mode)) {
        replay_file(path);
        return;
    }
    int n = scandir(path, &entries, shown, alphasort);
    for (int i = 0; i < n; i++) {
        char file[1024];
        snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
        replay(file);
        free(entries[i]);
    }
    free(entries);
}

int
main(int argc, char **argv)
{
    catch_signals(argv[0]);
    LLVMFuzzerInitialize(&argc, &argv);
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
        *(strcmp(argv[i], "--seed") == 0     ? &driver.seed
          : strcmp(argv[i], "--intact") == 0 ? &driver.intact
                                             : &driver.mutants) = (unsigned)strtoul(argv[i + 1], NULL, 10);
    for (; i < argc; i++)
        replay(argv[i]);
    fprintf(stderr, "%ld inputs\n", driver.count);
    return driver.count == 0 || driver.refused > 0;
}
