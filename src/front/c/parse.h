/* From text to tree: libclang is known only to parse.c, reach.c, database.c and import*.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_PARSE_H
#define FRONT_C_PARSE_H

#include "front/c/ast.h"
#include "front/c/front_c.h"

/* -- headers.c, headers_cxx.c, headers_spare.c: files that exist for the parser only ----------------------------------------------
 */
#define FRONT_HEADER_DIR "/retrograd/include"
#define FRONT_SPARE_DIR  "/retrograd/spare"
typedef struct front_header {
    const char *path, *name, *text;
    size_t len;
    bool alone; /* needs no header of the system */
} front_header;
extern const front_header front_headers[], front_cxx_headers[], front_spare_headers[];
extern const size_t front_header_count, front_cxx_header_count, front_spare_header_count;

/* -- scan.c: text that is not parsed ------------------------------------------------------------------ */
const char *fc_skip_blanks(const char *p, const char *end); /* and tabs */
/* To the line's end, which a backslash may put off. */
const char *fc_skip_line(const char *p, const char *end);
/* Behind the comment, string or character constant that begins at p; p: none does. */
const char *fc_skip_opaque(const char *p, const char *end);

/* -- pragma.c
 * --------------------------------------------------------------------------------------- */
typedef list(omp *) omp_list;
/* Replaces each OpenMP directive of `text` by a label of the same length (`__omp7:`), so that the
 * statement it governs becomes a labelled one wherever it stands, and blanks those without effect.
 * Directives are appended to `list`; a label's number is the position in it. Expressions in clauses
 * that only the preprocessor can resolve are appended to `tail` as enumerators `__omp_collapse7`.
 */
char *fc_pragma_rewrite(arena *a, const char *path, rg_str text, omp_list *list, const char **tail);
/* directive.c: what one directive says, from its words without comments and line ends; `number`: its position in the list.
 * false: it governs no statement and has no effect. */
bool fc_directive_read(arena *a, rg_str words, omp *d, const char **tail, size_t number);

/* -- parse.c
 * ------------------------------------------------------------------------------------------ */
typedef struct unit unit;
struct project; /* link.h */
unit *fc_unit_new(arena *a, rg_builder *b, diag_list *diags);
/* false, with an error in diags, if there is nothing to work on. What clang found wrong is kept for those whom it
 * concerns. */
bool fc_unit_parse(unit *u, const front_c_source *source);
void fc_unit_close(unit *u); /* takes NULL */
/* Functions defined in the main file with external linkage, in order. */
uint32_t fc_unit_kernels(unit *u, decl ***out);
/* Names of the static functions that the main file defines. */
uint32_t fc_unit_statics(unit *u, const char ***out);
/* A function by its name that has a body, of whatever file and linkage; NULL: none. */
decl *fc_unit_find(unit *u, const char *name);
/* Whether several functions of C++ have it. */
bool fc_unit_overloads(unit *u, const char *name);
/* What the file defines under a name that other files see, and its variable of such a name, defined or not; NULL: none. */
decl *fc_unit_definition(unit *u, const char *name, bool function);
decl *fc_unit_variable(unit *u, const char *name);
/* Whether the main file's text has the name as a word. */
bool fc_unit_mentions(const unit *u, const char *name);
/* Whether clang found nothing wrong in all that a function or variable reaches; reports it (reach.c). */
bool fc_unit_is_sound(unit *u, const decl *d);
void fc_unit_report_all(unit *u);
/* After errors: notes for the headers that were not found. */
void fc_unit_note_missing(unit *u);
/* Makes the body known if there is one, and those of all functions of the unit that it calls (import.c). */
void fc_unit_import_body(unit *u, decl *fn);
void fc_import_parameters(decl *fn); /* of a function with a body */
/* The types of the parameters that a declaration without a body has; -1: it says nothing of them. */
int64_t fc_declared_parameters(decl *fn, ctype ***out);
/* The bodies of all functions that the file and what it includes define; the functions, and the variables. */
void fc_unit_import_all(unit *u);
uint32_t fc_unit_functions(unit *u, decl ***out);
uint32_t fc_unit_globals(unit *u, decl ***out);

/* -- the parts of import
 * --------------------------------------------------------------------------- */
typedef enum front_error {
#define FRONT_ERROR(name, number, text, remedy) ERR_##name = number,
#include "front/c/errors.def"
#undef FRONT_ERROR
} front_error;

#endif
