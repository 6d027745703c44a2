/* Runs in which a call of the driver fails: what whoever asked is told. SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULTS_H
#define FAULTS_H

#include "device/device.h"

#include <stdio.h>

typedef struct scene {
    unsigned failed, silent; /* calls; those that said nothing */
    rg_status first;
    char text[300];
} scene;

/* notes a failure; false: it is one. `error` is empty then. */
static inline bool
done(scene *s, rg_status status, str *error)
{
    if (status && !s->failed++) {
        s->first = status;
        snprintf(s->text, sizeof s->text, "%s", error->ptr ? error->ptr : "");
    }
    s->silent += status && !error->len;
    error->len = 0;
    return !status;
}

/* rt_program_desc.code of code made by hand: user is its bytes, an rg_str */
static inline rg_status
give_code(void *user, unsigned wanted, str *code, bool *kept, diag_list *diags)
{
    (void)wanted, (void)diags;
    *kept = false;
    str_add(code, *(const rg_str *)user);
    return RG_OK;
}

#endif
