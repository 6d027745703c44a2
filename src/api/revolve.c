/* See revolve.h. SPDX-License-Identifier: Apache-2.0 */
#include "api/revolve.h"

/* binomial(s + t, s): the steps that s states reverse when none is run more than t times. It stops growing far above any
 * length. */
static int64_t
steps_in_reach(uint64_t s, int64_t t)
{
    const int64_t far = (int64_t)1 << 40;
    int64_t r = 1;
    if (t < 0)
        return 0;
    for (int64_t i = 1; i <= t; i++) {
        if (s > (uint64_t)far || r > far / ((int64_t)s + i))
            return far;
        r = r * ((int64_t)s + i) / i;
    }
    return r;
}

static int64_t
repetitions(int64_t length, uint64_t s)
{
    int64_t t = 0;
    while (steps_in_reach(s, t) < length)
        t++;
    return t;
}

/* steps_in_reach(s, t) = steps_in_reach(s, t - 1) + steps_in_reach(s - 1, t): before the next state, and behind it. Of all
 * distances that cost the fewest steps the longest one. */
int64_t
revolve_ahead(int64_t length, uint64_t free)
{
    uint64_t s = free + 1;
    int64_t t = repetitions(length, s);
    int64_t ahead = steps_in_reach(s, t - 1);
    int64_t least_behind = steps_in_reach(s - 1, t - 1);
    if (ahead > length - least_behind)
        ahead = length - least_behind;
    return ahead < 1 ? 1 : ahead > length - 1 ? length - 1 : ahead;
}

int64_t
revolve_cost(int64_t length, uint64_t free)
{
    uint64_t s = free + 1;
    int64_t t = repetitions(length, s);
    return t * length - steps_in_reach(s + 1, t - 1);
}
