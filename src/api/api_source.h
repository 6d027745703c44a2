/* The C front end behind the cache. SPDX-License-Identifier: Apache-2.0 */
#ifndef API_SOURCE_H
#define API_SOURCE_H

#include "base/settings.h"
#include "front/c/front_c.h"
#include "front/seen.h"

/* `asked` is api_settings of the module. */
/* What a kernel's IR is kept under: its text, options and files, and which compiler there is now. An entry is kept under the key
 * that was looked for before the compiler was asked. Empty: nothing is kept. Here and below `text` of the source is set. */
str api_source_key(const settings *asked, const front_c_source *source);
/* What was kept of a kernel: its IR as text, its outline. false: nothing. */
bool api_source_find(const settings *asked, const front_c_source *source, rg_str key, rg_str *text, rg_str *outline);
/* front_c_compile, in this process or another; *seen: what is to be kept with it. RG_COMPILE and others: diags say why. */
rg_status api_source_compile(const settings *asked, const front_c_source *source, seen_list *seen, ir_module **out, diag_list *diags);
void api_source_keep(const settings *asked, rg_str key, const seen_list *seen, rg_str text, rg_str outline);
/* The IR of which `text` was kept. */
ir_module *api_source_parse(const settings *asked, const front_c_source *source, rg_str text, diag_list *diags);
/* front_c_list, or what it gave before. */
rg_status api_source_list(const settings *asked, const front_c_source *source, front_c_names *names, diag_list *diags);

#endif
