/* Queues of one device on which deterministic code has to give the same bits. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WAYS_H
#define TESTS_WAYS_H

#include <retrograd/retrograd.h>

enum { WAYS_MOST = 8 };

/* How many there are of device `name`: numbers of threads of the CPU; of a GPU that is played, sizes, orders in which its warps
 * and lanes run, budgets for tapes; of cuda and amd, budgets. At least one. */
uint32_t ways_count(const char *name);
RG_MUST_CHECK rg_status ways_open(rg_device *device, const char *name, uint32_t way, rg_queue **queue);

#endif
