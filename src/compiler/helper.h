/* The helper of compile_process, and requests to it. SPDX-License-Identifier: Apache-2.0
 *
 * A request is a socket whose other end the helper has given to a worker; wire.h says what is said in it. All functions: any
 * thread. */
#ifndef COMPILER_HELPER_H
#define COMPILER_HELPER_H

#include "base/base.h"

#include <sys/types.h>

/* Sends a request and gets the answer, which is in mem_scratch() (ask.c). */
RG_MUST_CHECK rg_status helper_ask(rg_str request, const char *label, str *answer, diag_list *diags);

/* A request under way. The list is for fork(): the child has copies of the descriptors. */
typedef struct helper_request {
    int fd;
    pid_t process; /* the helper that has it */
    struct helper_request *next;
} helper_request;

/* Why no request is open. */
typedef struct helper_failure {
    int error;        /* of this process: an errno; EPIPE: the helper ended as soon as it had begun; 0: none */
    const char *path; /* of the program that could not be started; NULL: it runs, and takes nothing */
    int status;       /* how that ended (waitpid); < 0: it is not known, or tells nothing */
    const char *why;  /* what else is wrong with it, or NULL */
    str said;
} helper_failure;

/* Starts the helper where there is none. false: `f` says why. *r stays where it is until it is closed. */
bool helper_open(helper_request *r, helper_failure *f);
void helper_close(void *request); /* for mem_own, too */
/* Ends the helper, if there is one; the next request starts another. */
void helper_end(void);
void helper_end_if(pid_t process); /* if it is this one, and no later one */
/* For tests: its process; 0: there is none. */
pid_t helper_process(void);
extern unsigned helper_patience; /* seconds of silence after which it is taken for stopped */

#endif
