/* The smallest test harness: CHECK counts and reports, a test ends with check_done().
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdbool.h>
#include <stdio.h>

static int check_failures, check_count;

/* What a failure without a text says of itself; api_check.h has more. */
#ifndef CHECK_MORE
#define CHECK_MORE() ((void)0)
#endif

/* Whether there is something to say. */
static inline bool
check_failed(bool ok, const char *file, int line, const char *text)
{
    check_count++;
    if (ok || check_failures++ >= 50)
        return false;
    printf("%s:%d: %s: ", file, line, text);
    return true;
}

/* CHECK(condition) or CHECK(condition, FORMAT, ...) */
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (check_failed((condition), __FILE__, __LINE__, #condition)) {                            \
            __VA_OPT__(printf(__VA_ARGS__);)                                                       \
            if (sizeof(#__VA_ARGS__) == 1)                                                         \
                CHECK_MORE();                                                                      \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

static inline int
check_done(void)
{
    printf("%d checks, %d failed\n", check_count, check_failures);
    return check_failures != 0;
}

#endif
