/* From text to tree: libclang is known only to parse.c and import*.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_PARSE_H
#define FRONT_C_PARSE_H

#include "front/c/ast.h"
#include "front/c/front_c.h"

/* -- headers.c: files that exist for the parser only ----------------------------------------------
 */
#define FRONT_HEADER_DIR "/retrograd/include"
typedef struct front_header {
    const char *path, *text;
    size_t len;
} front_header;
extern const front_header front_headers[];
extern const size_t front_header_count;

/* -- pragma.c
 * --------------------------------------------------------------------------------------- */
typedef list(omp *) omp_list;
/* Replaces each OpenMP directive of `text` by a label of the same length (`__omp7:`), so that the
 * statement it governs becomes a labelled one wherever it stands, and blanks those without effect.
 * Directives are appended to `list`; a label's number is the position in it. Expressions in clauses
 * that only the preprocessor can resolve are appended to `tail` as enumerators `__omp_collapse7`.
 */
char *fc_pragma_rewrite(arena *a, const char *path, rg_str text, omp_list *list, const char **tail);

/* -- parse.c
 * ------------------------------------------------------------------------------------------ */
typedef struct unit unit;
unit *fc_unit_new(arena *a, rg_builder *b, diag_list *diags);
/* false after errors, which are in diags. */
bool fc_unit_parse(unit *u, const front_c_source *source);
void fc_unit_close(unit *u); /* takes NULL */
/* Functions defined in the main file with external linkage, in order. */
uint32_t fc_unit_kernels(unit *u, decl ***out);
/* Makes the body known if there is one, and those of all functions that it calls (import.c). */
void fc_unit_import_body(unit *u, decl *fn);

/* -- the parts of import
 * --------------------------------------------------------------------------- */
typedef enum front_error {
#define FRONT_ERROR(name, number, text, remedy) ERR_##name = number,
#include "front/c/errors.def"
#undef FRONT_ERROR
} front_error;

#endif
