/* The devices that a test runs on. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_DEVICES_H
#define TESTS_DEVICES_H

#include <retrograd/retrograd.h>

#include <stdbool.h>

/* The device that RG_TEST_DEVICE names alone, else all that need no GPU: those of this build and those of remote.h.
 * Ends with NULL. */
const char *const *devices_to_test(void);
/* As rg_context_create, which does not know those of remote.h. */
RG_MUST_CHECK rg_status devices_open(const rg_context_desc *desc, rg_context **context);
/* Whether arrays are in the host's memory; whether launches have ended when they return. */
bool devices_share_memory(const rg_context *context);
bool devices_wait(const rg_context *context);
/* An array that holds a copy of `data` (dense), or on devices that share the host's memory `data` itself. */
RG_MUST_CHECK rg_status devices_array(rg_context *context, const rg_array_desc *desc, rg_array **array);

/* Where the array's elements are for kernels. */
void *devices_address(const rg_array *array);
/* The device named by RG_TEST_DEVICE, or `usual`. */
const char *devices_named(const char *usual);

#endif
