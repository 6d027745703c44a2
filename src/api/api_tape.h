/* What the files of tapes share. SPDX-License-Identifier: Apache-2.0
 *
 * Recorded operations are numbered from 0. An array on the tape has versions: what it held when it came to the tape, what each
 * recorded operation left in it, what others have written meanwhile. Time counts half steps, so that the states before and
 * behind an operation k differ: 2k and 2k + 1. A version stands from the time when it was made to that of the next one. */
#ifndef API_TAPE_H
#define API_TAPE_H

#include "api/api.h"

enum { TAPE_NOWHERE = UINT32_MAX };

typedef struct tape_version {
    int64_t made;      /* the time */
    int64_t last_use;  /* the last operation that begins with it; -1: none */
    int64_t last_need; /* the last one whose reverse reads it; -1: none */
    void *saved;       /* a copy; NULL: none */
    bool outside;      /* no operation can make it again */
    bool lost;         /* it was overwritten by others before it was saved */
    bool severed;      /* others wrote it over what an operation had left or read, so adjoints do not lead on */
} tape_version;

typedef struct tape_array {
    rg_array *array; /* holds a reference */
    vec(tape_version) versions;
    uint64_t seen;   /* array->version when the last one was made */
    uint64_t sum;    /* of its contents then, where they are compared */
    uint64_t moves;  /* array->moves when it came to the tape */
    int64_t used_before, needed_before; /* of the last version, what the operation that is being recorded found */
    uint32_t here;   /* the version that is in memory; TAPE_NOWHERE: none */
    bool overlaps;   /* in memory with another array of the tape */
    bool carries;    /* it depends on what has an adjoint, without having one */
    bool derives;    /* it had an adjoint when something was recorded with it */
} tape_array;

/* What an operation does with an array. */
typedef struct tape_touch {
    uint32_t array;
    bool reads, writes;
    bool uses;  /* it begins with the array's contents: it reads, or leaves part of them as they are */
    bool needs; /* its reverse reads them */
} tape_touch;

typedef struct tape_touches {
    tape_touch *at;
    uint32_t n;
} tape_touches;

/* A kernel with a choice of arrays, for all of its launches. */
typedef struct tape_site {
    struct tape_site *next;  /* of the same hash */
    rg_args *args;
    uint8_t *planes;         /* by parameter: RG_ADJOINT if it had one */
    uint32_t scalars;        /* parameters whose bits a launch has of its own */
    bool differentiable;
    rg_form form;            /* of the reverse: RG_VJP, or RG_FORWARD_VJP where that is refused */
    tape_touches touches;
} tape_site;

typedef enum tape_what { TAPE_LAUNCH, TAPE_FILL, TAPE_WRITE, TAPE_COPY, TAPE_CALL, TAPE_STOP } tape_what;

typedef struct tape_op {
    tape_what what;
    tape_touches touches;
    union {
        struct {
            tape_site *site;
            uint64_t *bits; /* of its scalars */
        };
        uint64_t element; /* FILL */
        rg_tape_call_desc *call;
    };
} tape_op;

struct rg_tape {
    api_handle handle;
    rg_queue *queue; /* holds a reference */
    bool recording, paused, validate;
    bool busy; /* it runs operations: the caller's functions must leave it alone */
    uint64_t budget; /* 0: none */
    int64_t stride;  /* 0: what reverses need is saved. Else states before operations whose number it divides are kept */
    uint64_t bytes, peak;
    uint64_t recomputed, reversed; /* reversed: by the reverse that runs */
    uint64_t recomputed_before;    /* that one */
    bool (*progress)(void *user, uint64_t reversed, uint64_t operations, uint64_t recomputed);
    void *user;
    arena *memory;
    vec(tape_op) ops;
    vec(tape_array) arrays;
    map index;       /* rg_array -> its place in arrays, + 1 */
    map sites;       /* hash -> tape_site */
    vec(tape_site *) all_sites;
    uint32_t lent;   /* arrays that may overlap with others */
    rg_args *movers[RG_DTYPE_COUNT]; /* of the kernel that reverses a copy */
};

/* "launch 3 (kernel `step`)" */
const char *tape_op_shown(const rg_tape *t, int64_t op, char *buffer, size_t n);
#define TAPE_OP_NAME(t, op) tape_op_shown((t), (op), (char[160]){0}, 160)

/* -- versions and what is kept of them (api_tape_states.c) ------------------------------------------------ */

tape_version *tape_last(tape_array *a);
uint32_t tape_version_at(const tape_array *a, int64_t time);
/* Whether the contents can be had without running anything, whatever else is done: saved, or what the tape ended with. */
bool tape_stands(const tape_array *a, uint32_t version);
/* Finds out whether others have written the array since the last operation; then it has a new version. */
rg_status tape_notice(rg_tape *t, uint32_t array);
/* Saves what the operation, the next one, will overwrite and what may be wanted later. RG_BUDGET: it does not fit. */
rg_status tape_save_overwritten(rg_tape *t, const tape_touches *touches);
/* A new version behind the operation, which is on the tape. */
void tape_made(rg_tape *t, uint32_t array, bool outside);
/* In a guard of their own. save: what is in memory. bring: to memory, where it then is. */
rg_status tape_save(rg_tape *t, uint32_t array);
rg_status tape_bring(rg_tape *t, uint32_t array, uint32_t version);
void tape_drop(rg_tape *t, uint32_t array, uint32_t version);
/* Bytes that saving the last versions of all written arrays will still take. */
uint64_t tape_reserve(const rg_tape *t);
size_t tape_array_bytes(const tape_array *a);
/* RG_INVALID: it shares memory with another array of the tape, and one of them is written. */
rg_status tape_check_alone(rg_tape *t, tape_array *a);
/* The checksums of arrays that cannot be watched. */
rg_status tape_sum(rg_tape *t, uint32_t array);

/* -- doing operations (api_tape_reverse.c) ----------------------------------------------------------------- */

/* The arguments of a launch as they stood. */
rg_args *tape_op_args(const tape_op *op);

#endif
