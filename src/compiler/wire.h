/* What a process and its helper (process.h) say to each other. SPDX-License-Identifier: Apache-2.0
 *
 *   host                                 helper
 *   starts it                      ->
 *                                  <-    WIRE_HELLO: WIRE_MAGIC, its version, its process id
 *   WIRE_ASK with a socket         ->    forks a worker for what comes in that socket
 *
 *   in the socket of a request:          worker
 *                                  <-    WIRE_ALIVE, each second until it has an answer
 *   WIRE_PIECE ..., WIRE_WHOLE     ->
 *                                  <-    WIRE_PIECE ..., WIRE_WHOLE: the answer
 *                                  <-    WIRE_DIED, by the helper, where the worker ended without one
 *
 * Sockets keep packets apart; a packet is one of these letters and at most WIRE_ROOM bytes. Both ends are of one build, which
 * WIRE_HELLO shows. */
#ifndef COMPILER_WIRE_H
#define COMPILER_WIRE_H

#include "compiler/compiler.h"
#include "base/bytes.h"

#include <sys/types.h>

enum { WIRE_HELLO = 'h', WIRE_ASK = 'r', WIRE_ALIVE = 'a', WIRE_PIECE = 'p', WIRE_WHOLE = 'w', WIRE_DIED = 'd' };
enum {
    WIRE_ROOM = 1 << 15,
    WIRE_MAGIC = 0x52474350,
    WIRE_CONTROL = 0,    /* the helper's descriptor of it */
    WIRE_NO_MEMORY = 12, /* how a worker exits where an allocation of ours failed */
    WIRE_SAID = 2000     /* bytes of what it wrote last to its standard error */
};

/* -- packets ------------------------------------------------------------------------------------------------------- */

/* They wait as long as need be, or, patience > 0, for so many seconds in which this process runs and nothing moves. errno tells
 * why one fails: ETIMEDOUT, EPIPE where nobody is at the other end, or an error of this process. */
bool wire_send(int fd, char kind, const void *data, size_t n, unsigned patience);
bool wire_send_whole(int fd, rg_str bytes, unsigned patience);
/* A packet's bytes; 0: the other end is closed; < 0: it fails. */
ssize_t wire_receive(int fd, char packet[WIRE_ROOM + 1], unsigned patience);

/* -- requests ------------------------------------------------------------------------------------------------------ */

typedef enum wire_call { WIRE_MAKE, WIRE_PTX, WIRE_HSACO, WIRE_OBJECT, WIRE_TARGET, WIRE_C, WIRE_NAMES } wire_call;

/* What a compilation depends on in the process that asks: its environment, folder, and limit of memory. */
void wire_put_process(str *out);
void wire_take_process(bytes_reader *r); /* becomes that of this process */

/* Everything read is in mem_scratch(), but modules, which nobody frees: who reads them ends soon. */
#if RG_HAVE_LLVM
/* Kernels at IR_STAGE_SLOTS, of one machine, and the names that their code gets. */
void wire_put_fns(str *out, const ir_fn *const *fns, const char *const *names, uint32_t n);
bool wire_get_fns(bytes_reader *r, const ir_fn *const **fns, const char *const **names, uint32_t *n, diag_list *diags);
/* fn NULL: they say nothing of arrays. */
void wire_put_options(str *out, const ir_fn *fn, const ll_options *o);
void wire_get_options(bytes_reader *r, ll_options *o);
#endif
#if RG_HAVE_CLANG
void wire_put_source(str *out, const front_c_source *s);
void wire_get_source(bytes_reader *r, front_c_source *s);
void wire_put_seen(str *out, const seen_list *seen);
bool wire_get_seen(bytes_reader *r, seen_list *seen);
void wire_put_names(str *out, const front_c_names *names);
void wire_get_names(bytes_reader *r, front_c_names *names);
#endif

/* -- answers ------------------------------------------------------------------------------------------------------- */

void wire_put_diags(str *out, const diag_list *diags);
void wire_get_diags(bytes_reader *r, diag_list *diags); /* behind those that there are */
/* With the texts of its files. */
void wire_put_module(str *out, const ir_module *m);
ir_module *wire_get_module(bytes_reader *r, const char *path, diag_list *diags); /* NULL: it is damaged; the caller frees it */

#endif
