/* Which processor this is, for code that is made for it. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_LOAD_PROCESSOR_H
#define RT_LOAD_PROCESSOR_H

#include "base/base.h"

/* Adds all that says which instructions it has and which model it is: equal on machines that take each other's code.
 * false: it cannot be told. */
bool rt_processor_describe(str *out);

#endif
