/* What parse.c and the import files share. SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_IMPORT_H
#define FRONT_C_IMPORT_H

#include "front/c/options.h"
#include <clang-c/Index.h>

typedef struct source_file {
    CXFile handle;
    const char *path;
    uint32_t number;  /* the builder's */
    const char *text; /* the user's, without label rewriting */
    size_t len;
    bool own; /* not the system's; known once it is asked */
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

typedef struct cursors {
    CXCursor *at;
    size_t n;
} cursors;
typedef struct files {
    CXFile *at;
    size_t n;
} files;

/* -- errors (reach.c) ----------------------------------------------------------------------------- */
typedef enum error_kind {
    ERROR_PLAIN,     /* concerns those who reach its declaration */
    ERROR_DIRECTIVE, /* of the preprocessor */
    ERROR_MISSING,   /* a header that is not found */
    ERROR_MENDED     /* clang knew what was meant */
} error_kind;

typedef struct c_error {
    const char *text;
    diag_place place;
    error_kind kind;
    uint32_t file; /* the builder's */
    unsigned offset;
    bool reported;
} c_error;

/* Of file scope; made once there are errors. */
typedef struct declaration {
    CXCursor cursor;
    uint64_t key; /* of its name; 0: none */
    uint32_t file;
    unsigned start, end; /* offsets in the file */
    bool faulty, reached;
} declaration;

struct unit {
    struct project *project; /* the files around (link.h); NULL: none */
    arena *arena;
    rg_builder *builder;
    diag_list *diags;
    CXIndex index;
    CXTranslationUnit tu;
    omp_list directives;
    list(source_file) files;
    list(original) originals; /* of files whose directives were rewritten */
    map decls, types, tentative; /* tentative: by a variable's first declaration, the one that counts */
    collected seen;
    unsigned depth; /* of the node being imported: stacks end somewhere */
    bool cxx;       /* it is C++ */
    decl *self;     /* `this` of the method that is being imported; NULL: it is none */
    const struct captures *captures; /* of the lambda whose body is being imported; NULL: it is none */
    bool refers;    /* the function that is being imported returns a reference */
    cursors top;    /* of file scope, in order; in C++ with what stands in namespaces */
    list(c_error) errors;
    declaration *declarations;
    size_t ndeclarations;
    map known; /* names of macros that some file defines; made once it is asked */
    fc_words words; /* what libclang was given */
    fc_words searched; /* folders of <...> that are not ours */
    size_t system_from; /* the first of them that is the system's */
    list(decl *) functions;
    bool concerned; /* something that is reached is, or should be, defined here */
    bool all_imported;
    list(decl *) defined, globals; /* all functions with a body, all variables, if all_imported */
    list(decl *) pending; /* functions that were called and whose bodies are not known yet */
};

enum { IMPORT_DEPTH = 2000 };
cursors fc_cursor_children(unit *u, CXCursor c);
cursors fc_cursor_descendants(unit *u, CXCursor c);
cursors fc_record_fields(unit *u, CXType record);
const char *fc_cursor_name(unit *u, CXCursor c);
rg_place fc_cursor_place(unit *u, CXCursor c);
source_file *fc_unit_file(unit *u, CXFile handle);
/* All files that were read, the main file first. */
files fc_unit_inclusions(unit *u);
/* The number that a file has in another unit; 0: none has it (link.c). */
uint32_t fc_project_file(const struct project *p, const source_file *f);
/* A definition of a variable, or what counts as one. */
bool fc_unit_tentative(unit *u, const char *name, CXCursor *out);
/* look.c: adds what the unit depends on, but its main file. on_disk: the database of compile commands counts. */
void fc_unit_look(unit *u, bool on_disk, seen_list *seen);
void fc_keep_errors(unit *u); /* what clang found wrong, for reach.c */

ctype *fc_import_type(unit *u, CXType type);
ctype *fc_adjust_array(unit *u, ctype *t); /* arrays become pointers to their elements */
decl *fc_import_decl(unit *u, CXCursor c); /* a variable, parameter or function */
node *fc_import_expr(unit *u, CXCursor c);
node *fc_import_stmt(unit *u, CXCursor c);
node *fc_import_initialiser(unit *u, CXCursor c);
node *fc_node_new(unit *u, node_kind kind, CXCursor c);
node *fc_node_typed(unit *u, node_kind kind, CXCursor c, ctype *type);
node *fc_node_bad(unit *u, CXCursor c, front_error error, const char *text);
/* import_cxx.c: what C++ has besides C. Of cursors that mean the same in C: NULL. */
node *fc_import_cxx_expr(unit *u, CXCursor c, enum CXCursorKind kind, const cursors *kids);
node *fc_import_cxx_call(unit *u, CXCursor c, CXCursor function, const cursors *kids);
node *fc_import_cxx_initialiser(unit *u, CXCursor init, CXCursor variable); /* NULL: it has no value */
/* An initialiser in braces, with what its type's fields say of those that are left out. */
node *fc_with_defaults(unit *u, CXCursor c, node *list);
bool fc_is_reference(CXType t);
/* Whether a parameter of this type may as well have the value that it refers to. */
bool fc_is_by_value(CXCursor function, CXType type);
node *fc_follow(unit *u, node *pointer, CXCursor c); /* what it points to */
node *fc_refer(unit *u, node *n, CXCursor c);        /* a pointer to it */
node *fc_as_value(unit *u, node *n, CXCursor c);     /* no place any more */
ctype *fc_reference_to(unit *u, ctype *elem);
/* receiver: NULL, or goes first; hidden: arguments of the call that are none of the function's */
void fc_import_arguments(unit *u, node *n, CXCursor c, CXCursor function, node *receiver, unsigned hidden);
/* import_construct.c */
node *fc_construct(unit *u, CXCursor c, CXCursor constructor); /* NULL: it has no value */
node *fc_import_constructor_body(unit *u, CXCursor constructor);
made_by fc_made_by(unit *u, CXType record);
/* import_lambda.c: what a variable is in the lambda whose body is being imported */
node *fc_import_lambda(unit *u, CXCursor c, const cursors *kids);
decl *fc_captured(const unit *u, decl *d);
bool fc_is_lambda(CXType t);
node *fc_bind(unit *u, CXCursor value, CXType to, bool by_value);
node *fc_literal(unit *u, node *value, ctype *type, CXCursor c); /* a variable without a name, of that value */
decl *fc_self(unit *u, CXCursor method);
bool fc_is_managed(unit *u, CXType record); /* has base classes, or copies, moves or destructors of its own */
bool fc_has_first(unit *u, CXCursor c, const cursors *kids); /* an if, switch or while with an initialiser or a declaration */
node *fc_import_range_for(unit *u, CXCursor c, const cursors *kids); /* import_range.c */
/* missing.c: what names stand for in maps, names of tags or others; the names in the text of all reached declarations,
 * and in that of the macros whose names these are. */
uint64_t fc_name_key(bool tag, const char *name, size_t n);
void fc_reached_words(unit *u, map *names);
/* Whether what is reached depends on a macro that only a header which was not found could define; reports it. */
bool fc_depends_on_missing(unit *u);

#endif
