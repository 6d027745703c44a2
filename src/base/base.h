/* The ground under every stage: arena, growing arrays, strings, maps, diagnostics.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include "retrograd/types.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define countof(a) (sizeof(a) / sizeof((a)[0]))
/* Leaves the function with the call's status, unless that is RG_OK. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        rg_status try_ = (call);                                                                   \
        if (try_)                                                                                  \
            return try_;                                                                           \
    } while (0)

/* -- memory ---------------------------------------------------------------------------------------
 * Compiler stages do not check for NULL: an allocation that fails calls the thread's handler, which
 * api.c points at a longjmp to the API function that was entered. Without a handler the process
 * ends (tools and tests). Nothing allocated here may be held across a stage that can fail but by an
 * arena or by an owner that the API function frees. */
typedef void mem_failed(void *user, size_t bytes);
void mem_set_handler(mem_failed *fn, void *user); /* per thread; NULL: none */
bool mem_is_guarded(void);                        /* there is a handler */
void *mem_alloc(size_t bytes);                    /* never NULL */
void *mem_zalloc(size_t bytes);
void *mem_realloc(void *old, size_t bytes);
void mem_free(void *p);
/* Tests: the n-th allocation from now on this thread fails (0: never). */
void mem_fail_after(long n);

typedef struct arena arena;

/* What a stage holds while it allocates: a failure calls release(object) of every owner that was
 * added since the handler was set, innermost first, and then the handler. Owners live on the stack
 * and are given up in reverse order; giving up frees nothing. Releases do not allocate. */
typedef struct mem_owner {
    void (*release)(void *object);
    void *object;
    struct mem_owner *below;
} mem_owner;
void mem_own(mem_owner *owner, void (*release)(void *object), void *object);
void mem_disown(mem_owner *owner);
/* releases for mem_own: of an arena *, str *, map *; of a pointer from mem_alloc (or a vec's .at),
 * given its address; of a locked pthread_mutex_t * */
void mem_release_arena(void *a);
void mem_release_str(void *s);
void mem_release_map(void *m);
void mem_release_ptr(void *pointer);
void mem_release_mutex(void *lock);

typedef struct arena_mark {
    void *block;
    size_t used;
} arena_mark;
arena *arena_new(void);
void arena_free(arena *a);                 /* takes NULL */
void *arena_alloc(arena *a, size_t bytes); /* zeroed, aligned to 16 */
arena_mark arena_here(arena *a);
void arena_release(arena *a, arena_mark m); /* gives back all since the mark */
void *arena_raw(arena *a, size_t bytes);    /* not zeroed */
const char *arena_str(arena *a, rg_str s);  /* a zero-terminated copy */
#define arena_new_n(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))
#define arena_one(a, type)      ((type *)arena_alloc((a), sizeof(type)))

/* The thread's arena for all that ends with the call of the API that runs: setting or taking off the handler frees it.
 * Texts of errors, lists and copies live there and need no owner. Without a handler there is another one, which stays
 * (tests and tools). */
arena *mem_scratch(void);

/* -- growing arrays: vec(int) v = {0}; vec_push(&v, 3); v.at[0]; vec_free(&v) -----------------
 * Arrays, strings and maps whose `in` is an arena live there: {.in = c->scratch}. Nobody frees them then, and nobody has to
 * own them. */
#define vec(type)                                                                                  \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, cap;                                                                             \
        arena *in;                                                                                 \
    }
#define vec_reserve(v, count)                                                                      \
    ((v)->at = vec_grow_((v)->in, (v)->at, &(v)->cap, (size_t)(count), sizeof(*(v)->at)))
#define vec_push(v, value) (vec_reserve(v, (v)->n + 1), (v)->at[(v)->n++] = (value))
#define vec_pop(v)         ((v)->at[--(v)->n])
#define vec_last(v)        ((v)->at[(v)->n - 1])
#define vec_clear(v)       ((v)->n = 0)
#define vec_free(v)        (mem_free((v)->in ? NULL : (v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)
void *vec_grow_(arena *in, void *at, size_t *cap, size_t need, size_t size);

/* -- strings under construction; always zero-terminated once anything was added --------------- */
typedef struct str {
    char *ptr;
    size_t len, cap;
    arena *in;
} str;
void str_add(str *s, rg_str t);
void str_addz(str *s, const char *zero_terminated);
void str_addc(str *s, char c);
void str_addf(str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_addv(str *s, const char *format, va_list args);
void str_free(str *s);
static inline rg_str
str_view(const str *s)
{
    return (rg_str){s->ptr, s->len};
}
static inline bool
str_eq(rg_str a, rg_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}
static inline bool
str_ends(rg_str s, const char *end)
{
    size_t n = strlen(end);
    return s.len >= n && memcmp(s.ptr + s.len - n, end, n) == 0;
}

/* -- maps from 64-bit keys (ids, hashes, pointers) to pointers -------------------------------- */
typedef struct map {
    uint64_t *keys;
    void **values;
    size_t n, cap;
    arena *in;
} map;
void *map_get(const map *m, uint64_t key);       /* NULL: absent */
void map_set(map *m, uint64_t key, void *value); /* value NULL removes */
void map_free(map *m);
static inline uint64_t
map_ptr(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}
uint64_t hash_bytes(uint64_t seed, const void *data, size_t n);
static inline uint64_t
hash_u64(uint64_t seed, uint64_t v)
{
    return hash_bytes(seed, &v, 8);
}

/* -- diagnostics: file:line:col: error[E0312]: text, the line, a caret, the remedy ------------ */
typedef enum diag_level { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } diag_level;
typedef struct diag_place {
    const char *path;   /* NULL: no place */
    const char *source; /* the file's whole text or NULL */
    size_t source_len;
    uint32_t line, col, end_col;
} diag_place;
typedef struct diag_list {
    str text; /* all of it, ready to show */
    unsigned errors;
    unsigned limit; /* after so many errors the rest is dropped; 0: 20 */
    unsigned kinds; /* of errors: a bit for each hundred of their numbers */
} diag_list;
enum { DIAG_REFUSALS = 1 << 5 }; /* of differentiation */
/* number: 0: none; 1xx IR text (lex.h), 2xx verifier (verify.h), 3xx builder, 4xx front ends,
 * 5xx differentiation. `text` may contain newlines: lines after the first are printed as
 * `  = help: ...` below the caret. */
void diag_add(diag_list *d, diag_level level, unsigned number, diag_place at, const char *format,
              ...) __attribute__((format(printf, 5, 6)));
void diag_addv(diag_list *d, diag_level level, unsigned number, diag_place at, const char *format,
               va_list args);
void diag_join(diag_list *d, const diag_list *more); /* behind those that there are; `more` stays */
void diag_free(diag_list *d);

/* -- files ------------------------------------------------------------------------------------ */
/* RG_NOT_FOUND or RG_IO; the text is in mem_scratch() */
RG_MUST_CHECK rg_status file_read(const char *path, str *out);
RG_MUST_CHECK rg_status file_write(const char *path, const void *data,
                                   size_t n); /* whole or not at all */
/* The folder, with its /, of the library that this code is a part of, or of the program; nothing where neither is known. It is
 * right for a library that was found by a relative path, wherever the process is by now. */
void file_add_own_folder(str *path);

/* milliseconds since some time in the past; it never goes back */
double clock_ms(void);

/* IEEE binary16 in software, round to nearest even */
uint16_t half_of_float(float f);
float float_of_half(uint16_t h);

#endif
