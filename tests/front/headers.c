// The usual headers: the system's, or those that are built in; classes of floats give the C library's values.
// args: n=6 x[6]=1,-2,0,4e-320,6,7 y[6]=0 z[12]=0
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <iso646.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static jmp_buf back;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double
wall(void)
{
    struct timeval t;
    struct timespec s;
    if (gettimeofday(&t, NULL) || clock_gettime(CLOCK_MONOTONIC, &s))
        longjmp(back, errno);
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec + (double)time(NULL);
}

static int
say(FILE *out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vfprintf(out, format, list);
    va_end(list);
    pthread_mutex_lock(&lock);
    fprintf(stderr, "%" PRId64 " %s", (int64_t)n, strrchr(format, '%'));
    pthread_mutex_unlock(&lock);
    return isdigit(format[0]) && getpid() > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int
kind(double x)
{
    switch (fpclassify(x)) {
    case FP_NAN: return 1;
    case FP_INFINITE: return 2;
    case FP_ZERO: return 3;
    case FP_SUBNORMAL: return 4;
    default: return fpclassify(x) == FP_NORMAL ? 5 : 6;
    }
}

static noreturn void
stop(void)
{
    exit(say(stdout, "%f\n", wall()));
}

void
headers(int n, const double x[n], double y[n], double z[12])
{
    assert(n > 0 && n < INT_MAX);
    for (int i = 0; i < n; i++) {
        double v = i == 4 ? x[i] * INFINITY : i == 5 ? x[i] * NAN : x[i];
        y[i] = 10 * kind(v) + (isnan(v) ? 1 : 0) + (isfinite(v) ? 2 : 0) + (isnormal(v) ? 4 : 0) + (signbit(v) ? 8 : 0);
        z[i] = isinf(v) + 10 * isinf(-v) + (isgreater(v, 0) ? 100 : 0);
    }
    bool small = not(n > 100);
    z[6] = small ? M_PI : HUGE_VAL;
    z[7] = DBL_EPSILON * FLT_MAX + (double)(uint8_t)UINT8_MAX + (double)INT64_C(3) + (double)CHAR_BIT;
    z[8] = (double)offsetof(struct timespec, tv_nsec) + (double)sizeof(size_t) + (double)sizeof(int_least32_t);
    z[9] = (double)LONG_MAX + (double)SHRT_MIN + (double)alignof(double);
    z[10] = nan("") == nan("") ? 1 : abs(-n) + fmax(0.5, x[0]);
    z[11] = SIZE_MAX > 1 && RAND_MAX > 1 && BUFSIZ > 1 && EOF < 0 ? CLOCKS_PER_SEC : 0;
    if (n > 100)
        n = -1;
}

static inline int
as_main(void)
{
    if (setjmp(back) == 0 && signal(SIGINT, SIG_DFL) != SIG_ERR && setlocale(LC_ALL, ""))
        stop();
    struct rusage used;
    return getrusage(RUSAGE_SELF, &used) + isatty(STDIN_FILENO) + omp_get_max_threads() + rand();
}
