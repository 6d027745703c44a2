/* whole_run --seed FIRST COUNT | --fresh [--jobs N] [--quick | --lowered] [--device NAME] [--keep DIR] [--reduce]:
 * generated whole programs against dual numbers.  whole_run --print SEED: its source.  whole_run --oracle SEED: the one
 * in C++. SPDX-License-Identifier: Apache-2.0
 *
 * A program is a kernel of up to six tasks with serial code around them (whole.h). Its values, tangents and gradients
 * on the interpreter have to be those of the same text compiled by g++ with dual numbers for floats (dual.h); those of
 * the CPU with several numbers of lanes and of simt, or of the device named, have to be the interpreter's
 * (whole_judge.c). Programs in which a decision is close to a tie, or that make much of how they round, are skipped;
 * the oracle alone decides that. A refusal is counted, an internal error, a crash or an endless loop is a failure.
 *
 * --fresh: programs that no day before has seen, for as many seconds as RG_FRESH says; skipped where that is not set.
 * --quick: one width and one form or two for each program, others for the next. --lowered: only the interpreter, which
 * also runs what lowering makes: a few times as many programs in the same time. --keep: failing programs are written to
 * DIR; --reduce: made smaller before. --refusals: says what is refused; --never: a refusal with that number is a
 * failure. Programs are compiled for the oracle many at a time and run in child processes. */
#include "whole_judge.h"

#include "../devices.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GROUP = 40, SECONDS = 90, CANNOT_OPEN = 4, LATE = 5, NUMBERS = 600, SKIPPED = 77 };

typedef struct counts {
    atomic_ulong done, widened, kinds[VERDICTS], refused[MODE_COUNT][NUMBERS]; /* [0]: of a budget */
    atomic_bool stop;
} counts;

typedef struct setting {
    bench bench;
    const char *keep, *program;
    bool reduce, refusals;
    uint64_t first, count;
    time_t end; /* 0: never */
    unsigned jobs;
    counts *counts; /* shared by all processes */
} setting;

static const char *const mode_names[MODE_COUNT] = {"front end", "forward", "split", "combined", "jvp", "second"};

/* -- children -------------------------------------------------------------------------------------------------------
 */

static bool
transfer(int file, void *data, size_t left, bool out)
{
    for (char *at = data; left;) {
        ssize_t n = out ? write(file, at, left) : read(file, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        left -= (size_t)n;
    }
    return true;
}

typedef struct work {
    const char *library;
    const whole_program *programs;
    const bool *off;
    uint64_t count;
} work;

static bool
is_late(const setting *t)
{
    return t->end && time(NULL) >= t->end;
}

static void
child(const setting *t, const work *w, int to)
{
    bench own = t->bench;
    void *library = oracle_load(w->library);
    if (!bench_open(&own)) {
        fprintf(stderr, "whole_run: %s\n", rg_error_message());
        _exit(CANNOT_OPEN);
    }
    for (uint64_t k = 0; k < w->count; k++) {
        verdict v;
        if (is_late(t))
            _exit(LATE);
        alarm(SECONDS);
        judge(&own, library, &w->programs[k], w->off, &v);
        if (!transfer(to, &v, sizeof v, true))
            _exit(3);
    }
    _exit(0); /* with the contexts */
}

/* Runs programs in one child; returns how many have a verdict: up to one that crashed, itself included, or until the
 * time is up. */
static uint64_t
run_child(const setting *t, const work *w, verdict *verdicts)
{
    int ends[2], status = 0;
    uint64_t done = 0;
    fflush(NULL);
    if (pipe(ends))
        exit(2);
    pid_t pid = fork();
    if (pid < 0)
        exit(2);
    if (pid == 0) {
        close(ends[0]);
        child(t, w, ends[1]);
    }
    close(ends[1]);
    while (done < w->count && transfer(ends[0], &verdicts[done], sizeof *verdicts, false))
        done++;
    close(ends[0]);
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_OPEN)
        exit(2);
    if (WIFEXITED(status) && WEXITSTATUS(status) == LATE)
        return done;
    if (done < w->count) {
        const char *what =
            WIFSIGNALED(status) ? WTERMSIG(status) == SIGALRM ? "endless" : strsignal(WTERMSIG(status)) : "it ended";
        verdicts[done] = (verdict){.seed = w->programs[done].seed, .kind = FAILED};
        complain(&verdicts[done++].report, "crash: %s", what);
    }
    return done;
}

/* -- failures --------------------------------------------------------------------------------------------------------
 */

/* Failures are of one kind if their texts agree up to the second colon, or up to the error's number. */
static bool
same_kind(const char *a, const char *b)
{
    const char *na = strstr(a, "[E"), *nb = strstr(b, "[E");
    if (na || nb)
        return na && nb && strncmp(na, nb, 6) == 0;
    size_t n = strcspn(a, ":");
    n += a[n] ? 1 + strcspn(a + n + 1, ":") : 0;
    /* which array it is may change */
    const char *of = strstr(a, " of ");
    return strncmp(a, b, of && (size_t)(of - a) < n ? (size_t)(of - a) : n) == 0;
}

static bool
still_fails(const setting *t, const whole_program *p, const bool *off, const char *library, const char *was)
{
    str text = {0};
    verdict v = {0};
    work w = {library, p, off, 1};
    whole_print_oracle(p, off, p->seed, &text);
    bool compiled = oracle_compile(&text, library);
    str_free(&text);
    if (compiled)
        run_child(t, &w, &v);
    return compiled && v.kind == FAILED && same_kind(was, v.report.text);
}

/* Leaves out regions, outer ones first, as long as the program fails in the same way. */
static void
shrink(const setting *t, const whole_program *p, bool *off, const char *library, const char *was)
{
    FILE *quiet = freopen("/dev/null", "w", stderr); /* programs that no longer compile */
    for (unsigned round = 0, progress = 1; round < 3 && progress; round++) {
        progress = 0;
        for (unsigned k = 0; k < p->regions; k++) {
            str before = {0}, after = {0};
            if (off[k])
                continue;
            whole_print_c(p, off, &before);
            off[k] = true;
            whole_print_c(p, off, &after);
            bool differs = before.len != after.len;
            str_free(&before);
            str_free(&after);
            if (!differs) /* inside of what is left out */
                continue;
            off[k] = still_fails(t, p, off, library, was);
            progress |= off[k];
        }
    }
    (void)quiet;
}

static void
write_failure(const setting *t, const whole_program *p, const verdict *v)
{
    bool *off = calloc(p->regions + 1, sizeof *off);
    str text = {0}, path = {0}, library = {0};
    str_addf(&library, "/tmp/rg-whole-%ld-small.so", (long)getpid());
    if (t->reduce)
        shrink(t, p, off, library.ptr, v->report.text);
    str_addf(&text, "/* seed %llu: %s\n   %s --seed %llu 1%s%s%s */\n", (unsigned long long)v->seed, v->report.text,
             t->program, (unsigned long long)v->seed, t->bench.device ? " --device " : "",
             t->bench.device ? t->bench.device : "",
             t->bench.lowered ? " --lowered"
             : t->bench.quick ? " --quick"
                              : "");
    whole_print_c(p, off, &text);
    str_addf(&path, "%s/whole-%llu.c", t->keep, (unsigned long long)v->seed);
    if (file_write(path.ptr, text.ptr, text.len))
        printf("cannot write %s\n", path.ptr);
    unlink(library.ptr);
    free(off);
    str_free(&text);
    str_free(&path);
    str_free(&library);
}

static void
count_verdict(const setting *t, const whole_program *p, const verdict *v)
{
    counts *c = t->counts;
    c->done++;
    c->kinds[v->kind]++;
    c->widened += v->widened;
    for (mode m = 0; m < MODE_COUNT; m++)
        if (v->refused[m])
            c->refused[m][v->refused[m] > 0 && v->refused[m] < NUMBERS ? v->refused[m] : 0]++;
    for (mode m = 0; t->refusals && m < MODE_COUNT; m++)
        if (v->refused[m] && m != MODE_SPLIT)
            printf("refused seed %llu, %s: %s\n", (unsigned long long)v->seed, mode_names[m], v->why[m]);
    if (v->kind != FAILED)
        return;
    printf("FAIL seed %llu: %.300s\n", (unsigned long long)v->seed, v->report.text);
    fflush(stdout);
    if (t->keep)
        write_failure(t, p, v);
}

/* -- many programs ---------------------------------------------------------------------------------------------------
 */

static void
run_group(const setting *t, uint64_t first, uint64_t count)
{
    whole_program *programs = calloc(GROUP, sizeof *programs);
    verdict *verdicts = calloc(GROUP, sizeof *verdicts);
    str text = {0}, library = {0};
    str_addf(&library, "/tmp/rg-whole-%ld.so", (long)getpid());
    for (uint64_t k = 0; k < count; k++) {
        whole_make(&programs[k], first + k);
        whole_print_oracle(&programs[k], NULL, first + k, &text);
    }
    if (!oracle_compile(&text, library.ptr))
        printf("seeds %llu and on: the C++ compiler refuses them\n", (unsigned long long)first);
    uint64_t done = 0;
    while (done < count && !is_late(t)) {
        work w = {library.ptr, programs + done, NULL, count - done};
        done += run_child(t, &w, verdicts + done);
    }
    unlink(library.ptr);
    for (uint64_t k = 0; k < count; k++) {
        if (k < done)
            count_verdict(t, &programs[k], &verdicts[k]);
        whole_free(&programs[k]);
    }
    free(programs);
    free(verdicts);
    str_free(&text);
    str_free(&library);
}

/* Groups job, job + jobs, ... */
static void
run_job(const setting *t, unsigned job)
{
    for (uint64_t first = (uint64_t)job * GROUP; first < t->count; first += (uint64_t)t->jobs * GROUP) {
        if (is_late(t))
            break;
        run_group(t, t->first + first, t->count - first < GROUP ? t->count - first : GROUP);
    }
    exit(0);
}

static bool
run_jobs(const setting *t)
{
    bool good = true;
    for (unsigned job = 0; job < t->jobs; job++) {
        fflush(NULL);
        pid_t pid = fork();
        if (pid < 0)
            exit(2);
        if (pid == 0)
            run_job(t, job);
    }
    for (unsigned job = 0; job < t->jobs; job++) {
        int status;
        good = wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && good;
    }
    return good;
}

static void
print_counts(const counts *c)
{
    printf("skipped: %lu near a tie, %lu too large, %lu ill-conditioned; %lu only with double for narrower floats\n",
           c->kinds[NEAR_TIE], c->kinds[TOO_LARGE], c->kinds[ILL_CONDITIONED], c->widened);
    for (mode m = 0; m < MODE_COUNT; m++) {
        unsigned long all = 0;
        for (unsigned k = 0; k < NUMBERS; k++)
            all += c->refused[m][k];
        if (!all)
            continue;
        printf("refused, %s: %lu (%.1f %%):", mode_names[m], all,
               100.0 * (double)all / (double)(c->done ? c->done : 1));
        for (unsigned k = 0; k < NUMBERS; k++)
            if (c->refused[m][k] && k)
                printf(" %lu E%04u", c->refused[m][k], k);
            else if (c->refused[m][k])
                printf(" %lu budget", c->refused[m][k]);
        printf("\n");
    }
    printf("%lu passed, %lu failed\n", c->kinds[PASSED], c->kinds[FAILED]);
}

static int
print_source(uint64_t seed, bool oracle)
{
    whole_program p;
    str text = {0};
    whole_make(&p, seed);
    if (oracle)
        whole_print_oracle(&p, NULL, seed, &text);
    else
        whole_print_c(&p, NULL, &text);
    fputs(text.ptr, stdout);
    str_free(&text);
    whole_free(&p);
    return 0;
}

/* Seeds of today; false: none are wanted. */
static bool
take_fresh(setting *t)
{
    enum { A_DAY = 10000000 };
    const char *seconds = getenv("RG_FRESH");
    time_t now = time(NULL);
    struct tm day;
    if (!seconds || !gmtime_r(&now, &day))
        return false;
    t->first = (uint64_t)((day.tm_year + 1900) * 10000 + (day.tm_mon + 1) * 100 + day.tm_mday) * A_DAY;
    t->count = A_DAY;
    t->end = now + (time_t)strtoul(seconds, NULL, 10);
    return true;
}

int
main(int argc, char **argv)
{
    bool fresh = false;
    setting t = {.jobs = 1, .program = argv[0], .bench.device = devices_named(NULL)};
    bool usage = argc < 2;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--seed") == 0 && i + 2 < argc) {
            t.first = strtoull(argv[++i], NULL, 0);
            t.count = strtoull(argv[++i], NULL, 0);
        } else if (strcmp(argv[i], "--fresh") == 0) {
            fresh = true;
            if (!take_fresh(&t)) {
                printf("RG_FRESH is not set\n");
                return SKIPPED;
            }
        } else if (strcmp(argv[i], "--print") == 0 && more) {
            return print_source(strtoull(argv[i + 1], NULL, 0), false);
        } else if (strcmp(argv[i], "--oracle") == 0 && more) {
            return print_source(strtoull(argv[i + 1], NULL, 0), true);
        } else if (strcmp(argv[i], "--jobs") == 0 && more) {
            t.jobs = (unsigned)strtoul(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--seconds") == 0 && more) {
            t.end = time(NULL) + (time_t)strtoul(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--device") == 0 && more) {
            t.bench.device = argv[++i];
        } else if (strcmp(argv[i], "--never") == 0 && more) {
            const char *number = argv[++i];
            t.bench.never = atoi(number + (*number == 'E'));
        } else if (strcmp(argv[i], "--keep") == 0 && more) {
            t.keep = argv[++i];
        } else if (strcmp(argv[i], "--quick") == 0) {
            t.bench.quick = true;
        } else if (strcmp(argv[i], "--lowered") == 0) {
            t.bench.lowered = true;
        } else if (strcmp(argv[i], "--refusals") == 0) {
            t.refusals = true;
        } else if (strcmp(argv[i], "--reduce") == 0) {
            t.reduce = true;
        } else {
            usage = true;
        }
    }
    if (usage || !t.count || !t.jobs) {
        fprintf(stderr, "usage: whole_run --seed FIRST COUNT | --fresh [--jobs N] [--seconds S] [--quick | --lowered] "
                        "[--device NAME] [--refusals] [--never NUMBER] [--keep DIR [--reduce]]\n"
                        "       whole_run --print SEED | --oracle SEED\n");
        return 2;
    }
    setenv("OMP_WAIT_POLICY", "passive", 0);
    t.counts = mmap(NULL, sizeof *t.counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t.counts == MAP_FAILED)
        return 2;
    bool ran = run_jobs(&t);
    if (fresh)
        printf("fresh: %lu whole programs from seed %llu on: %lu failed\n", t.counts->done, (unsigned long long)t.first,
               t.counts->kinds[FAILED]);
    print_counts(t.counts);
    return !ran || t.counts->kinds[FAILED] > 0 || t.counts->done == 0;
}
