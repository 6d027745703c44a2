/* Children of fork(). SPDX-License-Identifier: Apache-2.0 */
#include "device/forks.h"

#include <pthread.h>

const char rt_fork_error[] =
    "this process is a fork of the one that opened the GPU, whose driver does not work in forks: start it with exec (Python's "
    "multiprocessing: \"spawn\"), or open the GPU in the child alone";

static unsigned forks;

static void
count_fork(void)
{
    forks++;
}

static void
watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned
rt_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    return forks;
}
