/* For tests of the public API: failures say the last message, and the device if the test names one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_API_CHECK_H
#define TESTS_API_CHECK_H

#include <retrograd/retrograd.h>

#include <string.h>

static const char *check_on = ""; /* the device */

#define CHECK_MORE() printf("%s%s(last message: %s)", check_on, *check_on ? " " : "", rg_error_message())
#include "check.h"

/* A call that works; one that gives the status and a message with the word. */
#define GOOD(call) check_call((call), RG_OK, NULL, #call, __FILE__, __LINE__)
#define FAILS(call, status, word) check_call((call), (status), (word), #call, __FILE__, __LINE__)

static inline void
check_call(rg_status found, rg_status wanted, const char *word, const char *call, const char *file, int line)
{
    if (!check_failed(found == wanted && (!word || strstr(rg_error_message(), word)), file, line, call))
        return;
    printf("%s%s%s: %s\n", check_on, *check_on ? ": " : "", rg_status_name(found), rg_error_message());
    if (word)
        printf("  expected %s with \"%s\"\n", rg_status_name(wanted), word);
}

#endif
