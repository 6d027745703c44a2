/* What parse.c and the import files share. SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_IMPORT_H
#define FRONT_C_IMPORT_H

#include "front/c/parse.h"
#include <clang-c/Index.h>

typedef struct source_file {
    CXFile handle;
    uint32_t number;  /* the builder's */
    const char *text; /* the user's, without label rewriting */
    size_t len;
} source_file;

typedef struct original {
    const char *path, *text;
    size_t len;
} original;

/* What a visitor of libclang's saw. Such a visitor must not allocate from the arena: a failure
 * would jump over libclang's frames. */
typedef struct collected {
    CXCursor *at;
    size_t n, cap;
    bool failed;
} collected;

struct unit {
    arena *arena;
    rg_builder *builder;
    diag_list *diags;
    CXIndex index;
    CXTranslationUnit tu;
    omp_list directives;
    list(source_file) files;
    list(original) originals; /* of files whose directives were rewritten */
    map decls, types;
    collected seen;
    unsigned depth; /* of the node being imported: stacks end somewhere */
    list(decl *) functions;
    list(decl *) pending; /* functions that were called and whose bodies are not known yet */
};

typedef struct cursors {
    CXCursor *at;
    size_t n;
} cursors;
enum { IMPORT_DEPTH = 2000 };
cursors fc_cursor_children(unit *u, CXCursor c);
cursors fc_record_fields(unit *u, CXType record);
const char *fc_cursor_name(unit *u, CXCursor c);
rg_place fc_cursor_place(unit *u, CXCursor c);
source_file *fc_unit_file(unit *u, CXFile handle);

ctype *fc_import_type(unit *u, CXType type);
ctype *fc_adjust_array(unit *u, ctype *t); /* arrays become pointers to their elements */
decl *fc_import_decl(unit *u, CXCursor c); /* a variable, parameter or function */
node *fc_import_expr(unit *u, CXCursor c);
node *fc_import_stmt(unit *u, CXCursor c);
node *fc_import_initialiser(unit *u, CXCursor c);
node *fc_node_new(unit *u, node_kind kind, CXCursor c);
node *fc_node_bad(unit *u, CXCursor c, front_error error, const char *text);

#endif
