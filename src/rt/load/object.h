/* Relocatable objects brought into memory, ready to run. SPDX-License-Identifier: Apache-2.0
 *
 * The objects are those that LLVM makes of kernels, ELF for x86-64 or aarch64; they may come from a file, so that every
 * number in them is checked: an object that is damaged is refused. (A hash has to say whether its instructions are the
 * ones that were made.) Code is in memory of its own, first written, then made executable, never both. */
#ifndef RT_LOAD_OBJECT_H
#define RT_LOAD_OBJECT_H

#include "base/base.h"

typedef struct rt_object rt_object;

/* The address of what an object calls by this name; NULL: there is nothing of the kind. */
typedef void *rt_object_find(const char *name);

/* The function `entry` of an object and all that it needs. NULL: *error says why. The bytes are not needed any more. */
rt_object *rt_object_load(rg_str bytes, const char *entry, rt_object_find *find, str *error);
/* For tests: of an object for that machine (an ELF number), which is not run. */
rt_object *rt_object_load_for(uint16_t machine, rg_str bytes, const char *entry, rt_object_find *find, str *error);
void *rt_object_entry(const rt_object *object);
void rt_object_free(rt_object *object); /* takes NULL; none of its functions may be running */

#endif
