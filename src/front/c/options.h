/* What the parser is told: options of a C compiler, folders of headers. SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_OPTIONS_H
#define FRONT_C_OPTIONS_H

#include "base/settings.h"
#include "front/c/parse.h"

typedef list(const char *) fc_words;

/* -- compiler.c: the folders that the C compiler searches for <...>, without its own headers. CC names it, or cc, gcc,
 * clang is taken; asked once for the process, whose they are; an empty CC: none. */
size_t fc_system_folders(const char *const **folders);
/* Whether the same compiler would be asked now; true where none was asked. */
bool fc_system_folders_hold(const settings *now);

/* -- database.c: the command that compile_commands.json has for a file, as words without the compiler's name; relative
 * names of folders and files are made whole. Looked for in the file's folder and those above, each with its build/. */
void fc_database_words(arena *a, const char *path, fc_words *out);
/* All C files that a database lists which lists this one, by their real names. */
void fc_database_files(arena *a, const char *path, fc_words *out);

/* -- options.c */
bool fc_is_cxx(const front_c_source *source); /* by the file's name */
/* Of words as a C compiler takes them, those that decide what the text means; the others (-O2, -W, -lm, ...) are left
 * out. Each -I or -D comes out as one word. folder: what relative names are relative to; NULL: this process's. */
void fc_add_words(arena *a, const char *const *words, size_t n, const char *folder, fc_words *out);
/* All that libclang is given for a source with this text. searched: the folders of <...> that are not ours, in order;
 * from number system_from on they are the system's. */
void fc_parser_words(arena *a, const front_c_source *source, rg_str text, fc_words *out, fc_words *searched,
                     size_t *system_from);

#endif
