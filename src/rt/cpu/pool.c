/* The pool: helpers that look for open teams, first awake, then asleep. SPDX-License-Identifier: Apache-2.0
 *
 * A launch opens a team: it says how many helpers may join, and stands in the list of open teams until its own thread
 * finds nothing left to begin. Then nobody joins any more, and it waits for those who did.
 *
 * After fork() the child has no helpers, as threads are not copied: it forgets them, and makes its own when it needs them. */
#include "rt/cpu/pool.h"

#include "rt/fpenv.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A thread that found nothing to do looks on before it sleeps, as waking it takes longer than a small loop: at first without
 * pause, then only while nobody else wants its processor. */
enum { EAGER_NS = 50000, AWAKE_NS = 5000000, LOOKS = 64 };

typedef struct team {
    rt_pool_work *work;
    void *user;
    uint32_t wanted;     /* helpers that may still join */
    uint32_t joined;     /* helpers that have */
    atomic_uint working; /* of these, those that have not ended */
    bool waits;          /* the launch sleeps until `working` is 0 */
    struct team *next;
} team;

static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t opened; /* a team, or `ends` */
    pthread_cond_t ended;  /* the last helper of a team that waits */
    team *open;
    uint32_t asleep;      /* helpers that wait for `opened` */
    uint32_t count, most; /* helpers; processors but one */
    pthread_t *helpers;
    bool ends;
    uint32_t threads; /* rt_pool_default */
#ifdef __linux__
    cpu_set_t affinity; /* of the process's first thread */
    bool has_affinity;
#endif
    _Alignas(64) atomic_uint wanted; /* helpers, sum over open teams: alone on its line, as all who are awake look at it */
} pool = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .opened = PTHREAD_COND_INITIALIZER,
    .ended = PTHREAD_COND_INITIALIZER,
};
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* -- how many ------------------------------------------------------------------------------------------------- */
static uint32_t
processors(void)
{
#ifdef __linux__
    /* the calling thread may be bound to one processor: that is its own affair */
    pool.has_affinity = !sched_getaffinity(getpid(), sizeof pool.affinity, &pool.affinity);
    if (pool.has_affinity)
        return (uint32_t)CPU_COUNT(&pool.affinity);
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

/* The first number of a list as OpenMP's variables have it; 0: none. */
static uint32_t
number_in(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;
    if (n <= 0 || end == text || n > INT32_MAX)
        return 0;
    while (*end == ' ')
        end++;
    return *end == 0 || *end == ',' ? (uint32_t)n : 0;
}

static void
lock_pool(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void
unlock_pool(void)
{
    pthread_mutex_unlock(&pool.lock);
}

static void
forget_helpers(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.opened, NULL);
    pthread_cond_init(&pool.ended, NULL);
    pool.open = NULL; /* of threads that the child does not have */
    atomic_store(&pool.wanted, 0);
    pool.asleep = pool.count = 0;
}

static void
start(void)
{
    uint32_t n = processors(), wanted = number_in("OMP_NUM_THREADS"), limit = number_in("OMP_THREAD_LIMIT");
    pool.most = n - 1;
    pool.helpers = calloc(n, sizeof *pool.helpers);
    if (!pool.helpers)
        pool.most = 0;
    pool.threads = wanted ? wanted : n;
    if (limit && pool.threads > limit)
        pool.threads = limit;
    pthread_atfork(lock_pool, unlock_pool, forget_helpers);
}

uint32_t
rt_pool_default(void)
{
    pthread_once(&once, start);
    return pool.threads;
}

/* -- helpers ---------------------------------------------------------------------------------------------------- */
static inline void
pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t
nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool
is_wanted(const void *nothing)
{
    (void)nothing;
    return atomic_load_explicit(&pool.wanted, memory_order_relaxed) > 0;
}

static bool
is_alone(const void *t)
{
    return !atomic_load_explicit(&((const team *)t)->working, memory_order_acquire);
}

/* whether it came true while this thread was awake */
static bool
look_awhile(bool (*comes)(const void *), const void *of)
{
    int64_t since = nanoseconds();
    for (int64_t awake = 0; awake < AWAKE_NS; awake = nanoseconds() - since) {
        for (int i = 0; i < LOOKS; i++) {
            if (comes(of))
                return true;
            pause_briefly();
        }
        if (awake > EAGER_NS)
            sched_yield();
    }
    return false;
}

/* The pool is locked before and after. */
static void
help(team *t, uint32_t self)
{
    t->wanted--;
    atomic_fetch_sub_explicit(&pool.wanted, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&t->working, 1, memory_order_relaxed);
    uint32_t member = ++t->joined;
    unlock_pool();
    t->work(t->user, member, self);
    lock_pool();
    bool waits = t->waits; /* once nobody works, the team may be gone */
    if (atomic_fetch_sub_explicit(&t->working, 1, memory_order_release) == 1 && waits)
        pthread_cond_broadcast(&pool.ended);
}

static team *
find_team(void)
{
    team *t = pool.open;
    while (t && !t->wanted)
        t = t->next;
    return t;
}

static void *
run_helper(void *number)
{
    uint32_t self = (uint32_t)(uintptr_t)number;
    (void)rt_fpenv_enter();
    lock_pool();
    while (!pool.ends) {
        team *t = find_team();
        if (t) {
            help(t, self);
            continue;
        }
        unlock_pool();
        bool wanted = look_awhile(is_wanted, NULL);
        lock_pool();
        if (wanted || find_team() || pool.ends)
            continue;
        pool.asleep++;
        pthread_cond_wait(&pool.opened, &pool.lock);
        pool.asleep--;
    }
    unlock_pool();
    return NULL;
}

/* One more, if the system lets us; the pool is locked. */
static bool
add_helper(void)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes))
        return false;
#ifdef __linux__
    if (pool.has_affinity)
        pthread_attr_setaffinity_np(&attributes, sizeof pool.affinity, &pool.affinity);
#endif
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool made = !pthread_create(&pool.helpers[pool.count], &attributes, run_helper, (void *)(uintptr_t)(pool.count + 1));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    pool.count += made;
    return made;
}

/* The process ends, or the library is unloaded: no thread of ours may be in its code then. (Where another thread launches
 * while the process ends, helpers end with it.) */
static __attribute__((destructor)) void
end_helpers(void)
{
    lock_pool();
    uint32_t n = pool.open ? 0 : pool.count;
    pool.ends = true;
    pool.most = 0;
    pthread_cond_broadcast(&pool.opened);
    unlock_pool();
    for (uint32_t i = 0; i < n; i++)
        pthread_join(pool.helpers[i], NULL);
    if (n == pool.count) {
        free(pool.helpers);
        pool.helpers = NULL;
        pool.count = 0;
    }
}

/* -- teams -------------------------------------------------------------------------------------------------------- */
/* false: there is nobody to help */
static bool
open_team(team *t, uint32_t helpers)
{
    lock_pool();
    while (pool.count < helpers && pool.count < pool.most && add_helper()) {
    }
    t->wanted = helpers < pool.count ? helpers : pool.count;
    if (t->wanted) {
        t->next = pool.open;
        pool.open = t;
        atomic_fetch_add_explicit(&pool.wanted, t->wanted, memory_order_relaxed);
    }
    uint32_t wake = t->wanted < pool.asleep ? t->wanted : pool.asleep;
    for (uint32_t i = 0; i < wake && wake < pool.asleep; i++)
        pthread_cond_signal(&pool.opened);
    if (wake && wake == pool.asleep)
        pthread_cond_broadcast(&pool.opened);
    bool open = t->wanted;
    unlock_pool();
    return open;
}

static void
close_team(team *t)
{
    lock_pool();
    team **at = &pool.open;
    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
    atomic_fetch_sub_explicit(&pool.wanted, t->wanted, memory_order_relaxed);
    t->wanted = 0;
    unlock_pool();
    if (look_awhile(is_alone, t))
        return;
    lock_pool();
    t->waits = true;
    while (!is_alone(t))
        pthread_cond_wait(&pool.ended, &pool.lock);
    unlock_pool();
}

void
rt_pool_run(rt_pool_work *work, void *user, uint32_t most)
{
    pthread_once(&once, start);
    team t = {.work = work, .user = user};
    bool open = most > 1 && open_team(&t, most - 1);
    work(user, 0, 0);
    if (open)
        close_team(&t);
}
