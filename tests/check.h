/* The smallest test harness: CHECK counts and reports, a test ends with check_done().
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>

static int check_failures, check_count;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        check_count++;                                                                             \
        if (!(condition)) {                                                                        \
            if (check_failures++ < 50) {                                                           \
                printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);                             \
                printf(__VA_ARGS__);                                                               \
                printf("\n");                                                                      \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static inline int
check_done(void)
{
    printf("%d checks, %d failed\n", check_count, check_failures);
    return check_failures != 0;
}

#endif
