/* Children of fork(): drivers of GPUs do not work in them. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_FORKS_H
#define RT_FORKS_H

/* How many forks this process has behind it, counted from the first call on; a device keeps the number that it was opened with. */
unsigned rt_forks(void);
extern const char rt_fork_error[]; /* of a device that was opened with another number */

#endif
