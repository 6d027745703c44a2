/* Several directions in one launch against as many launches. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_DIRECTIONS_H
#define TESTS_DIRECTIONS_H

#include "checks.h"

/* Launches `one` three times in each derivative's form and `several` once with three directions, as
 * copies and side by side; `all` forms, or those that differ most, each in one of the two layouts. Every plane has to
 * agree as in check_planes. Both are left
 * as after such a launch, `in` with other seeds and tangents. */
bool check_directions(inputs *in, subject *one, subject *several, bool all, double tolerance,
                      report *r);

#endif
