/* What a kernel does with the fields of structs. SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_CENSUS_H
#define FRONT_C_CENSUS_H

#include "front/c/gen.h"

typedef struct census census;

/* Of a tree and all functions that it reaches. */
census *fc_census(arena *a, const node *tree);
bool fc_is_mentioned(const census *c, const record *r, uint32_t number);
bool fc_is_written(const census *c, const record *r, uint32_t number);
bool fc_is_addressed(const census *c, const record *r, uint32_t number);
/* Whether elements of arrays of pointers to this type are assigned, and other than by filling the array. */
bool fc_are_assigned(const census *c, const ctype *elem);
bool fc_are_exchanged(const census *c, const ctype *elem);
/* Whether a pointer to this type is moved or subscripted; false: it leads to one struct. */
bool fc_used_as_array(const census *c, const ctype *t);
/* Whether a pointer field of this struct, or of one inside, is mentioned. */
bool fc_mentions_pointers(const census *c, const ctype *t);

#endif
