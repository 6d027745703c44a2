/* Several files as one program: what one uses and another one defines. SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_LINK_H
#define FRONT_C_LINK_H

#include "front/c/parse.h"

/* -- scan.c --------------------------------------------------------------------------------------- */
/* Whether the text seems to define a function, or a variable, of that name with external linkage. */
bool fc_text_defines(rg_str text, const char *name, bool function);
/* Whether it has the name as a word that is not a field's. */
bool fc_text_mentions(rg_str text, const char *name);

/* -- link.c --------------------------------------------------------------------------------------- */
typedef struct project project;
/* The files that belong to a source; NULL, with errors in diags, if one that was given cannot be read. The source and
 * its unit belong to the caller. */
project *fc_project_new(arena *a, rg_builder *b, diag_list *diags, const front_c_source *source, unit *main);
void fc_project_close(project *p); /* takes NULL */
/* After errors: notes for the headers that were not found, in all files that are concerned. */
void fc_project_note_missing(project *p);
/* Adds what the result depends on beside the source's text. */
void fc_project_look(project *p, seen_list *seen);
/* Makes the bodies known that the function reaches, in whatever file they stand. */
void fc_link(project *p, decl *fn);
/* The units that may write a variable, its own first; those that have a declaration of it that is its own. */
typedef struct mention {
    unit *unit;
    decl *variable; /* as that unit knows it */
} mention;
uint32_t fc_project_mentions(project *p, decl *variable, mention **out);
/* How often bodies that are reached call a function that has none. */
uint32_t fc_project_calls(const project *p, const char *name);
/* What to do about a function or variable without a definition; never NULL. */
const char *fc_project_remedy(project *p, const decl *d);

#endif
